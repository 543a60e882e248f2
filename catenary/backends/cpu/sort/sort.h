#pragma once
// Sorting and searching in NumPy's order: ascending, -0.0 equal to 0.0, all NaNs equal and last.

#include <span>

#include "catenary/backends/cpu/view.h"
#include "catenary/core/export.h"
#include "catenary/device/primitives.h"

namespace catenary::cpu {

/// Sorts each of `rows` rows of n contiguous elements stably (`numpy.sort(kind="stable")`). dst may be src.
CT_API void sort(void* dst, const void* src, Dtype dtype, std::int64_t rows, std::int64_t n);

/// Writes the permutation that sorts each row stably: `numpy.argsort(kind="stable")`. indices: (rows, n).
CT_API void argsort(std::int64_t* indices, const void* src, Dtype dtype, std::int64_t rows, std::int64_t n);

/// Computes primitives::Select for `rows` rows of n > 0 contiguous elements. out: (rows, m).
CT_API void select(Selection what, bool descending, void* out, std::int64_t m, const void* src, Dtype dtype,
                   std::int64_t rows, std::int64_t n, std::span<const std::int64_t> kth);

/// `numpy.searchsorted`: for each of the m values, writes the position for insertion into the n sorted elements, before
/// (left) or after (right) equal elements. Both have `dtype`.
CT_API void searchsorted(std::int64_t* indices, const void* sorted, std::int64_t n, const void* values, std::int64_t m,
                         Dtype dtype, bool right);

}  // namespace catenary::cpu
