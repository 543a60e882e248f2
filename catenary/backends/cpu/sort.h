#pragma once
// Sorting and searching. The order is NumPy's: ascending, -0.0 equal to 0.0, every NaN equal to the others and last.

#include <span>

#include "catenary/backends/cpu/view.h"
#include "catenary/core/export.h"
#include "catenary/device/primitives.h"

namespace catenary::cpu {

/// Sorts each of `rows` rows of n contiguous elements, stably (`numpy.sort(kind="stable")`). dst may be src.
CT_API void sort(void* dst, const void* src, Dtype dtype, std::int64_t rows, std::int64_t n);

/// The permutation that sorts each row stably: `numpy.argsort(kind="stable")`. indices: (rows, n).
CT_API void argsort(std::int64_t* indices, const void* src, Dtype dtype, std::int64_t rows, std::int64_t n);

/// primitives::Select of `rows` rows of n > 0 contiguous elements; out: (rows, m).
CT_API void select(Selection what, bool descending, void* out, std::int64_t m, const void* src, Dtype dtype,
                   std::int64_t rows, std::int64_t n, std::span<const std::int64_t> kth);

/// `numpy.searchsorted`: for each of the m values, where to insert it into the n sorted elements; before (left) or
/// after (right) equal ones. Both have `dtype`.
CT_API void searchsorted(std::int64_t* indices, const void* sorted, std::int64_t n, const void* values, std::int64_t m,
                         Dtype dtype, bool right);

}  // namespace catenary::cpu
