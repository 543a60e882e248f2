#pragma once
// Private to the CPU backend: the work of one thread, called by convolution.cpp and implemented in
// convolution_kernel.simd.cpp.

#include <cstdint>
#include <type_traits>

#include "catenary/backends/cpu/gemm/gemm_kernel.h"
#include "catenary/core/cpu_features.h"

namespace catenary::cpu {

/// One axis of a convolution. Missing axes have size 1.
struct ConvolutionAxis {
  std::int64_t extent = 1, count = 1, taps = 1, stride = 1;
  std::int64_t pad = 0;                 ///< may be negative
  std::int64_t dilate = 1;              ///< may be anything
  std::int64_t x_step = 0, y_step = 0;  ///< distance in elements between pixels, and between windows
};

/// One group: y = x * w (+ y) (+ bias), then relu. Windows are numbered over images and axes, the last axis fastest.
/// Either channels are contiguous (channels_last: x_channel and y_channel are 1) or the pixels of x's last axis are.
template <class T>
struct ConvolutionArgs {
  bool channels_last;
  std::int64_t images, inputs, outputs;
  ConvolutionAxis axes[3];
  const T* x;
  std::int64_t x_image, x_channel;
  T* y;
  float* wide_y;  ///< null, or the destination of unrounded results instead of y (forward on matrix units only)
  std::int64_t y_image, y_channel;
  const T* bias;
  bool accumulate, relu;

  [[gnu::always_inline]] std::int64_t taps() const { return axes[0].taps * axes[1].taps * axes[2].taps; }
  [[gnu::always_inline]] std::int64_t windows() const { return axes[0].count * axes[1].count * axes[2].count; }
};

/// The accumulator type for elements of T.
template <class T>
using SumOf = std::conditional_t<std::is_same_v<T, double>, double, float>;

/// One thread's part of a product: rows [i0, i1) and columns [j0, j1) of a sum over [p0, p1).
struct ProductPart {
  std::int64_t i0, i1, j0, j1, p0, p1;
};

template <class T>
struct ConvolutionLevel {
  GemmTiling tiling;
  /// A packed filter's depth, inputs × taps, is padded with zeros to a multiple of this.
  std::int64_t depth_step;
  /// Returns the elements of scratch memory (aligned to 64 bytes) for the functions below.
  std::int64_t (*scratch)(std::int64_t cache);
  /// Packs panel `panel` of a channels_last filter, whose inputs are contiguous and outputs w_output apart, into
  /// [panels][taps × inputs][nr] or the layout of a matrix unit. `taps` are the offsets of the taps.
  void (*pack_filter)(const ConvolutionArgs<T>&, const T* w, std::int64_t w_output, const std::int64_t* taps,
                      std::int64_t panel, T* packed);
  /// For channels_last, rows are windows, columns are channels, and `w` is packed. Otherwise rows are channels, columns
  /// are windows, and row i of the filter, [inputs][taps], is at w + i * w_row.
  void (*forward)(const ConvolutionArgs<T>&, const T* w, std::int64_t w_row, const ProductPart&, std::int64_t cache,
                  T* scratch);
  /// w (+)= sum over the windows [p0, p1) of the products of y and x. Pixels and channels of y must be contiguous. For
  /// channels_last, rows are outputs and columns are taps × inputs; otherwise rows are inputs × taps and columns are
  /// outputs. Writes row i at w + i * w_row.
  void (*to_filter)(const ConvolutionArgs<T>&, SumOf<T>* w, std::int64_t w_row, const ProductPart&, std::int64_t cache,
                    T* scratch);
};

/// Kernels without packed panels.
template <class T>
struct DirectLevel {
  /// Number of channels that forward_last and to_filter_last compute at once.
  std::int64_t chunk;
  /// Elements of scratch memory for each of these two.
  std::int64_t (*scratch_last)(const ConvolutionArgs<T>&, std::int64_t cache);
  /// Depthwise with contiguous channels: one input and one output for each group, and the groups are the `channels`.
  /// Computes `chunk` channels from c of one image; w is [taps][channels].
  void (*forward_last)(const ConvolutionArgs<T>&, std::int64_t channels, const T* w, std::int64_t image, std::int64_t c,
                       std::int64_t cache, T* scratch);
  /// Computes one image's contribution to the filter, [taps][channels], for `chunk` channels from c.
  void (*to_filter_last)(const ConvolutionArgs<T>&, std::int64_t channels, std::int64_t image, std::int64_t c, T* sums,
                         std::int64_t cache, T* scratch);
  /// For contiguous pixels: elements of scratch memory of the functions below. Used only if they are few compared with
  /// the cache.
  std::int64_t (*scratch)(const ConvolutionArgs<T>&, std::int64_t cache);
  /// Computes outputs [begin, end) of one image. Row i of the filter, [inputs][taps], is at w + i * w_row.
  void (*forward_first)(const ConvolutionArgs<T>&, const T* w, std::int64_t w_row, std::int64_t image,
                        std::int64_t begin, std::int64_t end, std::int64_t cache, T* scratch);
  /// Computes one image's contribution to the filter, [taps], of one input and one output.
  void (*to_filter_first)(const ConvolutionArgs<T>&, std::int64_t image, T* sums, std::int64_t cache, T* scratch);
};

CT_SIMD_DECLARE(extern const ConvolutionLevel<float> convolution_float;
                extern const ConvolutionLevel<double> convolution_double; extern const DirectLevel<float> direct_float;
                extern const DirectLevel<double> direct_double;)

#if defined(__x86_64__) && !defined(CT_SIMD_NO_V4)
namespace simd_v4 {
// For AMX, channels_last only.
extern const ConvolutionLevel<bfloat16> convolution_bfloat16_amx;
}  // namespace simd_v4
#endif

}  // namespace catenary::cpu
