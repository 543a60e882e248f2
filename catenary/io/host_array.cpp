#include "catenary/io/host_array.h"

#include <cstring>

#include "catenary/core/format.h"
#include "catenary/core/os/memory.h"

namespace catenary::io {

HostArray HostArray::empty(Dtype dtype, const Shape& shape) {
  const auto size = static_cast<std::size_t>(checked_size(shape, "HostArray::empty"));
  HostArray a;
  a.dtype = dtype;
  a.shape = shape;
  const std::size_t bytes = size * itemsize(dtype);
  a.data = std::shared_ptr<std::byte[]>(static_cast<std::byte*>(os::allocate(bytes)),
                                        [bytes](std::byte* memory) { os::deallocate(memory, bytes); });
  return a;
}

void HostArray::check_dtype(Dtype wanted) const {
  if (wanted != dtype) fail<DtypeError>("HostArray: elements are {}, asked for as {}", dtype, wanted);
}

void HostArray::copy_from(const void* values, std::size_t count) {
  if (count != static_cast<std::size_t>(size()))
    fail<ShapeError>("HostArray::from: {} values for shape {}", count, shape);
  if (count > 0) std::memcpy(data.get(), values, nbytes());
}

}  // namespace catenary::io
