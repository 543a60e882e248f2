#pragma once
// Private to the library: the modes of pad that repeat elements, and their gradient.

#include "catenary/array/manipulation.h"

namespace catenary::detail {

/// Returns whether this mode fills borders with elements of the array (edge, reflect, symmetric, wrap).
bool pad_repeats(PadMode mode);

/// Computes the gradient of x, of shape `shape`, from the gradient gy of pad(x, width), for a mode that repeats
/// elements and is not odd: each element of x gets the sum over its copies.
Array pad_back(const Array& gy, const Shape& shape, const PerSide<std::int64_t>& width, PadMode mode);

}  // namespace catenary::detail
