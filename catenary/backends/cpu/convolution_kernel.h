#pragma once
// Private to the CPU backend: what convolution.cpp asks of convolution_kernel.simd.cpp, one thread's work each.

#include <cstdint>
#include <type_traits>

#include "catenary/backends/cpu/gemm_kernel.h"
#include "catenary/core/cpu_features.h"

namespace catenary::cpu {

/// One axis that windows slide over; an axis that a convolution lacks has extents of 1.
struct ConvolutionAxis {
  std::int64_t extent = 1, count = 1, taps = 1, stride = 1;
  std::int64_t pad = 0;                 ///< may be negative
  std::int64_t dilate = 1;              ///< may be anything
  std::int64_t x_step = 0, y_step = 0;  ///< elements of memory from one pixel to the next, from one window to the next
};

/// One group: y = x * w (+ y) (+ bias), then relu. Windows are counted over images and axes, the last axis first.
/// Either channels lie side by side (channels_last: x_channel and y_channel are 1), or the pixels of the last axis of x
/// do.
template <class T>
struct ConvolutionArgs {
  bool channels_last;
  std::int64_t images, inputs, outputs;
  ConvolutionAxis axes[3];
  const T* x;
  std::int64_t x_image, x_channel;
  T* y;
  float* wide_y;  ///< null, or where results go in place of y, which are not rounded: forward on matrix units alone
  std::int64_t y_image, y_channel;
  const T* bias;
  bool accumulate, relu;

  [[gnu::always_inline]] std::int64_t taps() const { return axes[0].taps * axes[1].taps * axes[2].taps; }
  [[gnu::always_inline]] std::int64_t windows() const { return axes[0].count * axes[1].count * axes[2].count; }
};

/// What elements of T are summed in.
template <class T>
using SumOf = std::conditional_t<std::is_same_v<T, double>, double, float>;

/// The part of a product that a thread computes: rows [i0, i1) and columns [j0, j1) of a sum over [p0, p1).
struct ProductPart {
  std::int64_t i0, i1, j0, j1, p0, p1;
};

template <class T>
struct ConvolutionLevel {
  GemmTiling tiling;
  /// A packed filter's depth, inputs × taps, is filled with zeros up to a multiple of this.
  std::int64_t depth_step;
  /// Elements of scratch memory (aligned to 64 bytes) for one of the following.
  std::int64_t (*scratch)(std::int64_t cache);
  /// Panel `panel` of a filter for channels_last, whose inputs lie side by side and outputs w_output apart, becomes
  /// [panels][taps × inputs][nr], or what a matrix unit takes; `taps` holds where each of them lies.
  void (*pack_filter)(const ConvolutionArgs<T>&, const T* w, std::int64_t w_output, const std::int64_t* taps,
                      std::int64_t panel, T* packed);
  /// channels_last: rows are windows, columns are channels, `w` is packed. Else rows are channels and columns windows,
  /// and row i of the filter, [inputs][taps], lies at w + i * w_row.
  void (*forward)(const ConvolutionArgs<T>&, const T* w, std::int64_t w_row, const ProductPart&, std::int64_t cache,
                  T* scratch);
  /// w (+)= the sum over the windows [p0, p1) of y's and x's products; pixels and channels of y have no gaps.
  /// channels_last: rows are outputs, columns are taps × inputs. Else rows are inputs × taps, columns are outputs.
  /// Row i is written at w + i * w_row.
  void (*to_filter)(const ConvolutionArgs<T>&, SumOf<T>* w, std::int64_t w_row, const ProductPart&, std::int64_t cache,
                    T* scratch);
};

/// What needs no panels.
template <class T>
struct DirectLevel {
  /// How many channels the two that follow compute at once.
  std::int64_t chunk;
  /// Elements of scratch memory for each of them.
  std::int64_t (*scratch_last)(const ConvolutionArgs<T>&, std::int64_t cache);
  /// Channels side by side and a filter for each (one input and one output for each of the groups, which are the
  /// `channels` here): the `chunk` channels from c of one image, w is [taps][channels].
  void (*forward_last)(const ConvolutionArgs<T>&, std::int64_t channels, const T* w, std::int64_t image, std::int64_t c,
                       std::int64_t cache, T* scratch);
  /// One image's share of the filter, [taps][channels], for the `chunk` channels from c.
  void (*to_filter_last)(const ConvolutionArgs<T>&, std::int64_t channels, std::int64_t image, std::int64_t c, T* sums,
                         std::int64_t cache, T* scratch);
  /// Pixels side by side: elements of scratch memory of the following. They are little beside the cache, or else this
  /// is not the way.
  std::int64_t (*scratch)(const ConvolutionArgs<T>&, std::int64_t cache);
  /// Outputs [begin, end) of one image; row i of the filter, [inputs][taps], lies at w + i * w_row.
  void (*forward_first)(const ConvolutionArgs<T>&, const T* w, std::int64_t w_row, std::int64_t image,
                        std::int64_t begin, std::int64_t end, std::int64_t cache, T* scratch);
  /// One image's share of the filter, [taps], of one input and one output.
  void (*to_filter_first)(const ConvolutionArgs<T>&, std::int64_t image, T* sums, std::int64_t cache, T* scratch);
};

CT_SIMD_DECLARE(extern const ConvolutionLevel<float> convolution_float;
                extern const ConvolutionLevel<double> convolution_double; extern const DirectLevel<float> direct_float;
                extern const DirectLevel<double> direct_double;)

#if defined(__x86_64__) && !defined(CT_SIMD_NO_V4)
namespace simd_v4 {
// On AMX's tiles, for channels_last alone.
extern const ConvolutionLevel<bfloat16> convolution_bfloat16_amx;
}  // namespace simd_v4
#endif

}  // namespace catenary::cpu
