#pragma once
// Indexing with arrays of indices and masks: take, gather, scatter, nonzero.
// An index in [-n, 0) counts from the end; one outside [-n, n) throws IndexError (index, axis and extent named) before
// anything has been written. Where several indices name one element, they act in the order in which they stand.

#include <vector>

#include "catenary/backends/cpu/view.h"
#include "catenary/core/export.h"
#include "catenary/device/primitives.h"

namespace catenary::cpu {

/// `numpy.take`: src (outer, n, inner) and dst (outer, count, inner) are C-ordered: dst[o, i] = src[o, indices[i]].
/// `axis` is what an error message calls the axis. Throws IndexError where n is 0 and dst is not empty.
CT_API void take(void* dst, const void* src, Dtype dtype, const std::int64_t* indices, std::int64_t outer,
                 std::int64_t n, std::int64_t count, std::int64_t inner, IndexMode mode = IndexMode::raise,
                 int axis = 0);

/// One axis of an array, and the index array that picks from it.
struct IndexedAxis {
  const std::int64_t* indices = nullptr;  ///< the index at (0, 0, …)
  Strides strides;                        ///< of the index array broadcast to AdvancedIndex::shape, in elements
  std::int64_t size = 0;                  ///< extent of the axis in the array
  std::int64_t stride = 0;                ///< of the axis in the array, in elements
  int axis = 0;                           ///< its number, for the error message
};

/// NumPy's advanced indexing with the indexed axes first: element (i…, j…) of array[index_0, index_1, …] lies
/// sum_d index_d[i…] * stride_d + j… * inner_strides elements from the array's first.
struct AdvancedIndex {
  Shape shape;  ///< that the index arrays broadcast to
  std::vector<IndexedAxis> axes;
  Shape inner_shape;  ///< the axes that no index array picks from
  Strides inner_strides;
};

/// dst = array[index]. dst: shape + inner_shape, any strides, the array's dtype, not overlapping it. `array` points to
/// the array's element (0, 0, …).
CT_API void gather(const StridedView& dst, const void* array, const AdvancedIndex& index);

/// array[index] = values, or += and so on (`numpy.add.at`, CuPy's `scatter_add`, `scatter_max`). values: shape +
/// inner_shape, any strides (0 broadcasts), the array's dtype, not overlapping it. 16-bit floats are combined in
/// float32 and rounded each time; bool adds by or; max and min hand on NaN.
CT_API void scatter(void* array, const AdvancedIndex& index, const StridedView& values, ScatterMode mode);

/// How many elements are not zero (`numpy.count_nonzero`; NaN is not zero).
CT_API std::int64_t count_nonzero(const StridedView& view);

/// `numpy.nonzero`: where the elements that are not zero are, in C order. indices: (ndim, count), contiguous, where
/// count is what count_nonzero gives.
CT_API void nonzero(std::int64_t* indices, std::int64_t count, const StridedView& view);

/// `numpy.take_along_axis`: dst[o, i, j] = src[o, indices[o, i, j], j]; src (outer, n, inner), dst and indices
/// (outer, count, inner), all C-ordered.
CT_API void take_along_axis(void* dst, const void* src, Dtype dtype, const std::int64_t* indices, std::int64_t outer,
                            std::int64_t n, std::int64_t count, std::int64_t inner, int axis = 0);

}  // namespace catenary::cpu
