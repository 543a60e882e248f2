#pragma once
// A convolution in the form of cuDNN and MIOpen.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "catenary/device/primitives.h"

namespace catenary::gpu {

/// Two or three axes, sizes that follow from the windows, all in 32 bits. All arrays are C-contiguous, or all have
/// their channels last.
struct ConvolutionSpec {
  using Numbers = std::vector<int>;

  ConvolutionPass pass = ConvolutionPass::forward;
  Dtype dtype = Dtype::float32;
  int groups = 1;
  bool channels_last = false;
  Numbers x, w, y;  ///< shapes: (N, C, sizes), (K, C / groups, taps), (N, K, counts)
  Numbers pad, stride, dilate;
  View x_view, w_view, y_view;
  const View* bias = nullptr;
  bool accumulate = false;

  const View& result() const {
    return pass == ConvolutionPass::forward ? y_view : pass == ConvolutionPass::to_data ? x_view : w_view;
  }
  /// Returns the strides in elements of an array with this shape and order.
  Numbers strides(const Numbers& shape) const;
  /// Returns everything that a library's choice depends on, as numbers.
  std::vector<std::int64_t> key() const;
};

/// Converts a convolution to this form. Returns nothing if there is nothing to compute, and for features that the
/// libraries lack: other strides, windows beyond the end, relu, accumulation together with a bias.
std::optional<ConvolutionSpec> as_spec(const primitives::Convolution& convolution);

/// Describes the convolution, for messages.
std::string describe(const ConvolutionSpec& spec);

}  // namespace catenary::gpu
