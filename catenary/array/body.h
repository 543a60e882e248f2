#pragma once
// Private to the library: what an Array handle points to.

#include <atomic>
#include <utility>

#include "catenary/array/array.h"
#include "catenary/core/memory_order.h"
#include "catenary/device/backend.h"

namespace catenary {

class OpenProgram;

/// Geometry and memory of an array, or a value that an open program has yet to compute (then storage is null and the
/// array will have no gaps).
class ArrayBody : public ArrayHead {
 public:
  ArrayBody(Dtype dtype, const Shape& shape, const Strides& strides, const Device& device)
      : dtype(dtype), shape(shape), strides(strides), device(device) {}
  ArrayBody(Dtype dtype, const Shape& shape, const Strides& strides, std::int64_t offset, Ref<Storage> storage)
      : dtype(dtype),
        shape(shape),
        strides(strides),
        offset(offset),
        device(storage->device()),
        storage(std::move(storage)) {}

  const Dtype dtype;
  const Shape shape;
  Strides strides;
  std::int64_t offset = 0;  // in elements
  const Device device;
  Ref<Storage> storage;
  std::atomic<OpenProgram*> pending{nullptr};
  std::int16_t value = -1;  // node of the pending program
  // Whoever holds it is about to let go of it (a temporary of Python's): a reduction leaves it pending and does not
  // store it. Where that is wrong, its elements are computed once more.
  std::atomic<bool> leaving{false};
};

/// The array's elements for a backend to read: runs what is pending on them first.
CT_API View readable(const Array& a);
/// The array's elements for a backend to write: runs also what still has to read their old values.
CT_API View writable(const Array& a);
/// The array's memory is known outside the library from now on: what is pending on it runs now, and what will read or
/// write it runs at once.
CT_API void export_memory(const Array& a);
/// Strides of a new array that lies in memory as `a` does.
inline Strides strides_like(const Array& a) {
  return a.is_contiguous() ? contiguous_strides(a.shape()) : strides_like(a.shape(), a.strides());
}
/// A new array, of another shape with as many axes, that lies in memory as `like` does.
inline Array empty_beside(const Array& like, const Shape& shape, Dtype dtype) {
  const Array fresh = Array::empty(shape, dtype, like.device());
  return like.is_contiguous() ? fresh : fresh.as_strided(shape, strides_like(shape, like.strides()));
}
/// A matrix as a stack of one, as primitives::Matmul takes it.
inline View stack_of_one(View matrix) {
  matrix.shape.insert(0, 1);
  matrix.strides.insert(0, 0);
  return matrix;
}
/// A view of a C-ordered array: itself, or a copy that `keep` holds.
inline View readable_contiguous(const Array& a, Array& keep) {
  keep = a.contiguous();
  return readable(keep);
}

}  // namespace catenary
