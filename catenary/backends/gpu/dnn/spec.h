#pragma once
// A convolution as cuDNN and MIOpen describe it.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "catenary/device/primitives.h"

namespace catenary::gpu {

/// Two or three axes, extents that follow from the windows, all in 32 bits; the arrays lie in C order or, all of them,
/// with their channels last.
struct ConvolutionSpec {
  using Numbers = std::vector<int>;

  ConvolutionPass pass = ConvolutionPass::forward;
  Dtype dtype = Dtype::float32;
  int groups = 1;
  bool channels_last = false;
  Numbers x, w, y;  ///< shapes: N, C, extents; K, C / groups, taps; N, K, counts
  Numbers pad, stride, dilate;
  View x_view, w_view, y_view;
  const View* bias = nullptr;
  bool accumulate = false;

  const View& result() const {
    return pass == ConvolutionPass::forward ? y_view : pass == ConvolutionPass::to_data ? x_view : w_view;
  }
  /// In elements, of a shape in this order.
  Numbers strides(const Numbers& shape) const;
  /// All that a library's choice depends on, as numbers.
  std::vector<std::int64_t> key() const;
};

/// A convolution in that form; nothing where there is nothing to compute, and for what the libraries do not know: other
/// strides, windows beyond the end, relu, a sum that gets a bias too.
std::optional<ConvolutionSpec> as_spec(const primitives::Convolution& convolution);

/// For messages.
std::string describe(const ConvolutionSpec& spec);

}  // namespace catenary::gpu
