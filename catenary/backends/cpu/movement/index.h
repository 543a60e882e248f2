#pragma once
// Indexing with arrays of indices and masks: take, gather, scatter, nonzero. An index in [-n, 0) counts from the end.
// An index outside [-n, n) throws IndexError, which names index, axis and size, before anything is written. If several
// indices name one element, they take effect in order.

#include <vector>

#include "catenary/backends/cpu/view.h"
#include "catenary/core/export.h"
#include "catenary/device/primitives.h"

namespace catenary::cpu {

/// `numpy.take`: dst[o, i] = src[o, indices[i]] for C-contiguous src (outer, n, inner) and dst (outer, count, inner).
/// `axis` is the axis number for messages. Throws IndexError if n is 0 and dst is not empty.
CT_API void take(void* dst, const void* src, Dtype dtype, const std::int64_t* indices, std::int64_t outer,
                 std::int64_t n, std::int64_t count, std::int64_t inner, IndexMode mode = IndexMode::raise,
                 int axis = 0);

/// One axis of an array, and the index array that selects from it.
struct IndexedAxis {
  const std::int64_t* indices = nullptr;  ///< the index at (0, 0, …)
  Strides strides;                        ///< strides of the index array broadcast to AdvancedIndex::shape, in elements
  std::int64_t size = 0;                  ///< size of the axis in the array
  std::int64_t stride = 0;                ///< stride of the axis in the array, in elements
  int axis = 0;                           ///< axis number, for messages
};

/// NumPy's advanced indexing with the indexed axes first: element (i…, j…) of array[index_0, index_1, …] is at offset
/// sum_d index_d[i…] * stride_d + j… * inner_strides from the array's first element.
struct AdvancedIndex {
  Shape shape;  ///< broadcast shape of the index arrays
  std::vector<IndexedAxis> axes;
  Shape inner_shape;  ///< sizes of the axes without an index array
  Strides inner_strides;
};

/// dst = array[index]. dst has shape + inner_shape, any strides, the array's dtype, and does not overlap it. `array`
/// points to the array's element (0, 0, …).
CT_API void gather(const StridedView& dst, const void* array, const AdvancedIndex& index);

/// array[index] = values, or += and so on (`numpy.add.at`, CuPy's `scatter_add`, `scatter_max`). values has shape +
/// inner_shape, any strides (0 broadcasts), the array's dtype, and does not overlap it. 16-bit floats are combined in
/// float32 and rounded each time. For bool, add is `or`. max and min propagate NaN.
CT_API void scatter(void* array, const AdvancedIndex& index, const StridedView& values, ScatterMode mode);

/// Returns the number of nonzero elements (`numpy.count_nonzero`, where NaN counts as nonzero).
CT_API std::int64_t count_nonzero(const StridedView& view);

/// `numpy.nonzero`: writes the indices of nonzero elements in C order to contiguous indices (ndim, count), where count
/// is count_nonzero(view).
CT_API void nonzero(std::int64_t* indices, std::int64_t count, const StridedView& view);

/// `numpy.take_along_axis`: dst[o, i, j] = src[o, indices[o, i, j], j] for C-contiguous src (outer, n, inner), dst and
/// indices (outer, count, inner).
CT_API void take_along_axis(void* dst, const void* src, Dtype dtype, const std::int64_t* indices, std::int64_t outer,
                            std::int64_t n, std::int64_t count, std::int64_t inner, int axis = 0);

}  // namespace catenary::cpu
