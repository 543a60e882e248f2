#pragma once
// The order of axes in memory: NumPy's order K.

#include <span>

#include "catenary/core/shape.h"

namespace catenary {

/// Returns strides without gaps for a new array with the axis order of `strides`. (NumPy's order K of one array)
CT_API Strides strides_like(const Shape& shape, const Strides& strides);
/// Returns the axes of arrays in a common order of iteration, outermost first: by falling strides, or in C order if the
/// arrays disagree. Strides of 0 are ignored. (NumPy's order K of several arrays)
CT_API Axes memory_order(int ndim, std::span<const Strides* const> arrays);
/// Returns strides without gaps for a new array with its axes in this order, outermost first.
CT_API Strides strides_in_order(const Shape& shape, const Axes& order);
/// Returns the entries of `dims` in another order.
CT_API Dims permuted(const Dims& dims, const Axes& order);
/// Returns whether the order is 0, 1, 2, …
CT_API bool is_c_order(const Axes& order);

}  // namespace catenary
