#pragma once
// What a data-movement kernel of the CPU sees of an array. Kernels work on raw pointers and shapes: Array, devices and
// memory pools may not come in here.

#include "catenary/core/dtype.h"
#include "catenary/core/shape.h"

namespace catenary::cpu {

/// Elements in memory: the first one, their type, and how to walk. It owns nothing.
struct StridedView {
  void* data = nullptr;  ///< the element at index (0, 0, …)
  Dtype dtype = Dtype::float32;
  Shape shape;
  Strides strides;  ///< in elements; 0 (broadcast) and negative ones are fine
};

/// The view of a C-ordered array.
inline StridedView contiguous_view(void* data, Dtype dtype, const Shape& shape) {
  return {data, dtype, shape, contiguous_strides(shape)};
}
/// The same for memory that is only read.
inline StridedView contiguous_view(const void* data, Dtype dtype, const Shape& shape) {
  return contiguous_view(const_cast<void*>(data), dtype, shape);
}

/// Whether elements of these strides lie side by side in C order.
inline bool is_contiguous(const Shape& shape, const Strides& strides) {
  std::int64_t expected = 1;
  for (int i = shape.size() - 1; i >= 0; --i) {
    if (shape[i] != 1 && strides[i] != expected) return false;
    expected *= shape[i];
  }
  return true;
}

}  // namespace catenary::cpu
