#pragma once
// Private to the library: the gradient of pad.

#include "catenary/array/manipulation.h"

namespace catenary::detail {

/// The gradient of x, of shape `shape`, where pad(x, width) in a mode that repeats elements (edge, reflect, symmetric
/// or wrap, not odd) has the gradient gy: each element of x gets the sum of those that are copies of it.
Array pad_back(const Array& gy, const Shape& shape, const PerSide<std::int64_t>& width, PadMode mode);

}  // namespace catenary::detail
