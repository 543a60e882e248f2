#pragma once
// Private to the library: which modes of pad repeat elements, and their gradient.

#include "catenary/array/manipulation.h"

namespace catenary::detail {

/// Does this mode fill borders with elements of the array (edge, reflect, symmetric, wrap)?
bool pad_repeats(PadMode mode);

/// The gradient of x, of shape `shape`, where pad(x, width) in a mode that repeats elements (and is not odd) has the
/// gradient gy: each element of x gets the sum of those that are copies of it.
Array pad_back(const Array& gy, const Shape& shape, const PerSide<std::int64_t>& width, PadMode mode);

}  // namespace catenary::detail
