#pragma once
// Private to onnx/: the windows of convolutions and poolings.

#include "catenary/core/per_axis.h"
#include "catenary/onnx/operators.h"

namespace catenary::onnx {

/// The windows of a convolution or pooling. Each list has an entry for each spatial axis.
struct Windows {
  Integers kernel, strides, dilations, before, after;  ///< before and after are the padding
};

/// Returns a list attribute with an entry for each of `n` spatial axes, ones by default. Throws ValueError.
Integers or_ones(const Call& c, const char* name, std::size_t n);
/// Reads strides, dilations and padding. `shape` is the input's. Throws ValueError.
Windows windows_of(const Call& c, const Shape& shape, const Integers& kernel);
/// Pads the spatial axes of x by `value`.
Variable padded(const Variable& x, const Integers& before, const Integers& after, double value);
/// Pads x if the two sides of an axis differ, and then takes the padding out of `w`.
Variable padded(const Variable& x, Windows& w, double value);
/// Returns a list as options of functions::convolution_nd and others.
PerAxis per_axis(const Integers& entries);
/// Returns the spatial axes of a shape.
Integers spatial(const Shape& shape);

}  // namespace catenary::onnx
