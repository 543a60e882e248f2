#pragma once
// The order in which the axes of arrays lie in memory: NumPy's order K.

#include <span>

#include "catenary/core/shape.h"

namespace catenary {

/// Strides of an array without gaps, the axes of which lie in memory as those of `strides` do. (NumPy's order K of one
/// array)
CT_API Strides strides_like(const Shape& shape, const Strides& strides);
/// The axes of arrays that are walked together, outermost first, as they lie in memory: by falling strides, and as C
/// order has them where the arrays disagree. A stride of 0 says nothing. (NumPy's order K of several arrays)
CT_API Axes memory_order(int ndim, std::span<const Strides* const> arrays);
/// Strides of an array without gaps, the axes of which lie in memory in this order, outermost first.
CT_API Strides strides_in_order(const Shape& shape, const Axes& order);
/// The entries of `dims` in another order.
CT_API Dims permuted(const Dims& dims, const Axes& order);
/// Is it 0, 1, 2, …?
CT_API bool is_c_order(const Axes& order);

}  // namespace catenary
