#pragma once
// Private to the library: the body of an array, which Array handles point to.

#include <atomic>
#include <utility>

#include "catenary/array/array.h"
#include "catenary/core/memory_order.h"
#include "catenary/device/backend.h"

namespace catenary {

class OpenProgram;

/// The shape, strides and memory of an array, or a value that an open program has yet to compute. A pending body has no
/// storage, and its array will have no gaps.
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
  // True if the holder is about to drop this array (a Python temporary): a reduction then leaves it pending and does
  // not store it. If the flag is wrong, the elements are merely computed a second time.
  std::atomic<bool> leaving{false};
};

/// Returns the array's elements for a backend to read, after running pending operations on them.
CT_API View readable(const Array& a);
/// Returns the array's elements for a backend to write, after running also the operations that must read their old
/// values.
CT_API View writable(const Array& a);
/// Marks the array's memory as known outside the library. Pending operations on it run now; later operations that read
/// or write it run at once.
CT_API void export_memory(const Array& a);
/// Returns strides for a new array with the memory order of `a`.
inline Strides strides_like(const Array& a) {
  return a.is_contiguous() ? contiguous_strides(a.shape()) : strides_like(a.shape(), a.strides());
}
/// Returns a new array of another shape, with as many axes and the memory order of `like`.
inline Array empty_beside(const Array& like, const Shape& shape, Dtype dtype) {
  const Array fresh = Array::empty(shape, dtype, like.device());
  return like.is_contiguous() ? fresh : fresh.as_strided(shape, strides_like(shape, like.strides()));
}
/// Returns a view of a C-ordered array: `a`, or a copy that `keep` holds.
inline View readable_contiguous(const Array& a, Array& keep) {
  keep = a.contiguous();
  return readable(keep);
}

}  // namespace catenary
