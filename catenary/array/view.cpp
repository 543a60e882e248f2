#include "catenary/array/view.h"

#include "catenary/array/body.h"
#include "catenary/array/lazy.h"
#include "catenary/core/format.h"

namespace catenary {

Array view(const Array& a, Dtype dtype) {
  lazy::settle(a.body());
  const ArrayBody& body = a.body();
  const auto from = static_cast<std::int64_t>(itemsize(body.dtype)), to = static_cast<std::int64_t>(itemsize(dtype));
  Shape shape = body.shape;
  Strides strides = body.strides;
  std::int64_t offset = body.offset;
  if (from != to) {
    const int last = shape.size() - 1;
    if (last < 0 || (strides[last] != 1 && shape[last] != 1))
      fail<ShapeError>("view: {} of shape {} cannot be seen as {}, as the last axis does not lie without gaps",
                       body.dtype, body.shape, dtype);
    const auto bytes = [&](std::int64_t elements) {
      if (elements * from % to != 0)
        fail<ShapeError>("view: {} of shape {} cannot be seen as {}: {} bytes are no multiple of {}", body.dtype,
                         body.shape, dtype, elements * from, to);
      return elements * from / to;
    };
    offset = bytes(offset);
    shape[last] = bytes(shape[last]);
    strides[last] = 1;
    for (int i = 0; i < last; ++i) strides[i] = bytes(strides[i]);
  }
  return Array(Ref<ArrayHead>(new ArrayBody(dtype, shape, strides, offset, body.storage)));
}

}  // namespace catenary
