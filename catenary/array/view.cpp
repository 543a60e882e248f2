#include "catenary/array/view.h"

#include "catenary/array/axes.h"
#include "catenary/array/body.h"
#include "catenary/array/creation.h"
#include "catenary/array/elementwise_core.h"
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
    if (last < 0 || (strides[last] != 1 && shape[last] != 1 && a.size() > 0))
      fail<ShapeError>("view: {} of shape {} cannot be viewed as {}: the last axis is not contiguous; copy() it",
                       body.dtype, body.shape, dtype);
    const auto bytes = [&](std::int64_t elements) {
      if (elements * from % to != 0)
        fail<ShapeError>("view: {} of shape {} cannot be viewed as {}: {} bytes are not a multiple of {}", body.dtype,
                         body.shape, dtype, elements * from, to);
      return elements * from / to;
    };
    offset = bytes(offset);
    shape[last] = bytes(shape[last]);
    if (a.size() == 0)
      strides = contiguous_strides(shape);
    else
      for (int i = 0; i <= last; ++i) strides[i] = i == last ? 1 : bytes(strides[i]);
  }
  return Array(Ref<ArrayHead>(new ArrayBody(dtype, shape, strides, offset, body.storage)));
}

namespace {

Array parts(const Array& a, std::int64_t which) {
  lazy::settle(a.body());
  const ArrayBody& body = a.body();
  Strides strides = body.strides;
  for (std::int64_t& step : strides) step *= 2;
  return Array(Ref<ArrayHead>(
      new ArrayBody(part_dtype(body.dtype), body.shape, strides, body.offset * 2 + which, body.storage)));
}

}  // namespace

Array real(const Array& a) { return is_complex(a.dtype()) ? parts(a, 0) : a; }
Array imag(const Array& a) {
  return is_complex(a.dtype()) ? parts(a, 1) : detail::filled(a.shape(), 0, a.dtype(), a.device());
}
Array angle(const Array& a) {
  if (a.dtype() == Dtype::bool_) throw DtypeError("angle: not defined for bool");
  return arctan2(imag(a), real(a));
}
Array complex(const Array& re, const Array& im) {
  const Dtype part = promote(re.dtype(), im.dtype());
  if (is_complex(part))
    fail<DtypeError>("complex: real parts are needed, {} and {} were given", re.dtype(), im.dtype());
  detail::check_same_device(re, im, "complex");
  const Array result =
      Array::empty(broadcast_shapes(re.shape(), im.shape(), "complex"), promote(part, Dtype::complex64), re.device());
  copyto(real(result), re);
  copyto(imag(result), im);
  return result;
}

namespace {

/// Returns a view of the bytes along an additional last axis.
Array bytes_of(const Array& a) {
  const auto size = static_cast<std::int64_t>(a.itemsize());
  lazy::settle(a.body());
  Shape shape = a.shape();
  Strides strides = a.strides();
  for (std::int64_t& step : strides) step *= size;
  shape.push_back(size);
  strides.push_back(1);
  const ArrayBody& body = a.body();
  return Array(Ref<ArrayHead>(new ArrayBody(Dtype::uint8, shape, strides, body.offset * size, body.storage)));
}

}  // namespace

Strides strides_of(const Shape& shape, Order order) {
  if (order != Order::F) return contiguous_strides(shape);
  Axes last_to_first;
  for (int axis = shape.size() - 1; axis >= 0; --axis) last_to_first.push_back(axis);
  return strides_in_order(shape, last_to_first);
}

Array byteswap(const Array& a) {
  // NumPy's order A
  const Order order = is_in_order(a, Order::F) && !is_in_order(a, Order::C) ? Order::F : Order::C;
  if (a.itemsize() == 1) return copy(a, order);
  const Array result = empty(a.shape(), a.dtype(), order, a.device());
  if (is_complex(a.dtype())) {  // each part is reversed separately
    copyto(real(result), byteswap(real(a)));
    copyto(imag(result), byteswap(imag(a)));
    return result;
  }
  copyto(bytes_of(result), detail::reverse_last(bytes_of(a)));
  return result;
}

bool is_in_order(const Array& a, Order order) {
  if (order == Order::K || a.size() == 0) return true;
  const Strides expected = strides_of(a.shape(), order);
  for (int axis = 0; axis < a.ndim(); ++axis)
    if (a.shape()[axis] != 1 && a.strides()[axis] != expected[axis]) return false;
  return true;
}

Array empty(const Shape& shape, Dtype dtype, Order order, const Device& device) {
  const Array fresh = Array::empty(shape, dtype, device);
  return order == Order::F ? fresh.as_strided(shape, strides_of(shape, order)) : fresh;
}

Array copy(const Array& a, Order order) {
  if (order == Order::K) return copy(a);
  if (order == Order::C) return a.copy();
  if (a.body().pending.load(std::memory_order_acquire)) return lazy::cast(a, a.dtype(), strides_of(a.shape(), order));
  const Array result = empty(a.shape(), a.dtype(), order, a.device());
  copyto(result, a);
  return result;
}

const Array in_order(const Array& a, Order order) { return is_in_order(a, order) ? a : copy(a, order); }

}  // namespace catenary
