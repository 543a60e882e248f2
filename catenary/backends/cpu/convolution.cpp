// Convolutions on the CPU as products of matrices: an image's windows are the columns of one, a filter's elements the
// rows of the other.

#include <algorithm>
#include <array>
#include <cstring>
#include <vector>

#include "catenary/backends/cpu/copy.h"
#include "catenary/backends/cpu/gemm.h"
#include "catenary/backends/cpu/primitives.h"
#include "catenary/core/parallel.h"

namespace catenary::cpu {
namespace {

using std::int64_t;

// One axis of a window; axes that a convolution lacks have extents of 1.
struct Axis {
  int64_t extent = 1, count = 1, taps = 1, stride = 1, pad = 0, dilate = 1;
  /// Where the tap of a window reads; outside of [0, extent) there are zeros.
  int64_t at(int64_t window, int64_t tap) const { return window * stride - pad + tap * dilate; }
};

struct Geometry {
  explicit Geometry(const Convolution& p)
      : images(p.x.shape[0]), groups(p.groups), inputs(p.w.shape[1]), outputs(p.y.shape[1] / p.groups) {
    const int n = p.window.axes();
    for (int i = 0; i < n; ++i) {
      axes[static_cast<std::size_t>(3 - n + i)] = {p.x.shape[2 + i],   p.y.shape[2 + i], p.window.size[i],
                                                   p.window.stride[i], p.window.pad[i],  p.window.dilate[i]};
    }
    for (const Axis& axis : axes) pixels *= axis.extent, windows *= axis.count, taps *= axis.taps;
  }
  int64_t images, groups, inputs, outputs;  // channels of one group
  int64_t pixels = 1, windows = 1, taps = 1;
  std::array<Axis, 3> axes;
};

// Calls f(pixel, element) for each element of the matrix [inputs, taps, windows] that is not in a pad.
template <class F>
void each_element(const Geometry& g, const F& f) {
  const auto& [a, b, c] = g.axes;
  int64_t element = 0;
  for (int64_t channel = 0; channel < g.inputs; ++channel) {
    for (int64_t i = 0; i < a.taps; ++i)
      for (int64_t j = 0; j < b.taps; ++j)
        for (int64_t k = 0; k < c.taps; ++k)
          for (int64_t p = 0; p < a.count; ++p)
            for (int64_t q = 0; q < b.count; ++q)
              for (int64_t r = 0; r < c.count; ++r, ++element) {
                const int64_t d = a.at(p, i), h = b.at(q, j), w = c.at(r, k);
                if (d >= 0 && d < a.extent && h >= 0 && h < b.extent && w >= 0 && w < c.extent)
                  f(((channel * a.extent + d) * b.extent + h) * c.extent + w, element);
              }
  }
}

// All arrays are C-ordered; the result holds what is added to.
template <class T>
void convolve(ConvolutionPass pass, const Geometry& g, T* x, T* w, T* y) {
  const Dtype dtype = sizeof(T) == 4 ? Dtype::float32 : Dtype::float64;
  const int64_t depth = g.inputs * g.taps;
  std::vector<T> columns(static_cast<std::size_t>(depth * g.windows));
  const GemmEpilogue add{.accumulate = true};
  for (int64_t i = 0; i < g.images * g.groups; ++i) {
    T* const xi = x + i * g.inputs * g.pixels;
    T* const yi = y + i * g.outputs * g.windows;
    T* const wi = w + i % g.groups * g.outputs * depth;
    if (pass == ConvolutionPass::to_data) {
      gemm(dtype, depth, g.windows, g.outputs, wi, 1, depth, yi, g.windows, 1, columns.data(), g.windows, 1);
      each_element(g, [&](int64_t pixel, int64_t element) { xi[pixel] += columns[static_cast<std::size_t>(element)]; });
      continue;
    }
    std::fill(columns.begin(), columns.end(), T(0));
    each_element(g, [&](int64_t pixel, int64_t element) { columns[static_cast<std::size_t>(element)] = xi[pixel]; });
    if (pass == ConvolutionPass::forward) {
      gemm(dtype, g.outputs, g.windows, depth, wi, depth, 1, columns.data(), g.windows, 1, yi, g.windows, 1, add);
    } else {
      gemm(dtype, g.outputs, depth, g.windows, yi, g.windows, 1, columns.data(), 1, g.windows, wi, depth, 1, add);
    }
  }
}

template <class T>
void convolve(const Convolution& p) {
  const Dtype dtype = sizeof(T) == 4 ? Dtype::float32 : Dtype::float64;
  const Geometry g(p);
  const View& result = p.result();
  const auto contiguous = [&](const View& v) {
    std::vector<T> values(static_cast<std::size_t>(v.size()));
    if (&v != &result || p.accumulate) strided_copy(contiguous_view(values.data(), dtype, v.shape), strided(v));
    return values;
  };
  std::vector<T> x = contiguous(p.x), w = contiguous(p.w), y = contiguous(p.y);
  convolve(p.pass, g, x.data(), w.data(), y.data());
  std::vector<T>& out = p.pass == ConvolutionPass::forward ? y : p.pass == ConvolutionPass::to_data ? x : w;
  if (p.bias) {
    const std::vector<T> bias = contiguous(*p.bias);
    const std::size_t inner =
        p.pass == ConvolutionPass::forward ? static_cast<std::size_t>(g.windows) : static_cast<std::size_t>(g.pixels);
    for (std::size_t i = 0; i < out.size(); ++i) out[i] += bias[i / inner % bias.size()];
  }
  if (p.relu)
    for (T& value : out) value = value < 0 ? T(0) : value;
  strided_copy(strided(result), contiguous_view(out.data(), dtype, result.shape));
}

}  // namespace

template <>
void compute(const Convolution& p) {
  if (p.result().size() == 0) return;
  p.x.dtype == Dtype::float64 ? convolve<double>(p) : convolve<float>(p);
}

}  // namespace catenary::cpu
