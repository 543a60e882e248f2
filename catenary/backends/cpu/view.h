#pragma once
// Arrays as the CPU's data-movement kernels see them: raw pointers and shapes. May not include Array, devices or memory
// pools.

#include "catenary/core/dtype.h"
#include "catenary/core/shape.h"

namespace catenary::cpu {

/// Elements in memory: the first element, the dtype, shape and strides. Does not own the memory.
struct StridedView {
  void* data = nullptr;  ///< the element at index (0, 0, …)
  Dtype dtype = Dtype::float32;
  Shape shape;
  Strides strides;  ///< in elements, may be 0 (broadcast) or negative
};

/// Returns the view of a C-contiguous array.
inline StridedView contiguous_view(void* data, Dtype dtype, const Shape& shape) {
  return {data, dtype, shape, contiguous_strides(shape)};
}
/// Returns the view of read-only memory.
inline StridedView contiguous_view(const void* data, Dtype dtype, const Shape& shape) {
  return contiguous_view(const_cast<void*>(data), dtype, shape);
}

/// Returns whether elements with these strides are C-contiguous.
inline bool is_contiguous(const Shape& shape, const Strides& strides) {
  std::int64_t expected = 1;
  for (int i = shape.size() - 1; i >= 0; --i) {
    if (shape[i] != 1 && strides[i] != expected) return false;
    expected *= shape[i];
  }
  return true;
}

}  // namespace catenary::cpu
