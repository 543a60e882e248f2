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

/// A row of keys for lexsort.
struct SortKey {
  const void* data;
  Dtype dtype;
};
/// `numpy.lexsort`: the stable order by the last key, ties by the one before it, and so on. indices: (n,).
/// Throws ValueError without keys.
CT_API void lexsort(std::int64_t* indices, std::span<const SortKey> keys, std::int64_t n);

/// `numpy.searchsorted`: for each of the m values, where to insert it into the n sorted elements; before (left) or
/// after (right) equal ones. Both have `dtype`. With `sorter` (an argsort of `sorted`), sorted[sorter[i]] is what
/// ascends; an entry outside [0, n) throws IndexError.
CT_API void searchsorted(std::int64_t* indices, const void* sorted, std::int64_t n, const void* values, std::int64_t m,
                         Dtype dtype, bool right, const std::int64_t* sorter = nullptr);

/// `numpy.unique` of n elements (NaNs count as one value): returns how many different values there are and writes that
/// many to each of `values`, `first` (index of the first occurrence) and `counts`, and n to `inverse`. Each output has
/// room for n entries or is null.
CT_API std::int64_t unique(const void* src, Dtype dtype, std::int64_t n, void* values, std::int64_t* first = nullptr,
                           std::int64_t* inverse = nullptr, std::int64_t* counts = nullptr);

}  // namespace catenary::cpu
