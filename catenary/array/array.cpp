#include "catenary/array/array.h"

#include <complex>
#include <cstring>
#include <numeric>
#include <type_traits>

#include "catenary/array/lazy.h"
#include "catenary/core/format.h"
#include "catenary/core/half.h"
#include "catenary/ops/op_names.h"

namespace catenary {

Axes AxisArg::normalized(int ndim, const char* what) const {
  if (!all_) return normalize_axes(axes_, ndim, what);
  Axes axes;
  for (int i = 0; i < ndim; ++i) axes.push_back(i);
  return axes;
}

ArrayBody& Array::body() const {
  if (!body_)
    throw ValueError("an undefined Array was used (a default-constructed one has no elements, shape or dtype)");
  return static_cast<ArrayBody&>(*body_);
}

Array Array::empty(const Shape& shape, Dtype dtype) { return empty(shape, dtype, current_device()); }

Array Array::empty(const Shape& shape, Dtype dtype, const Device& device) {
  const std::int64_t size = checked_size(shape, "empty");
  Ref<Storage> storage(new Storage(device, static_cast<std::size_t>(size) * catenary::itemsize(dtype)));
  return Array(Ref<ArrayHead>(new ArrayBody(dtype, shape, contiguous_strides(shape), 0, std::move(storage))));
}

Array Array::from_host(const void* values, const Shape& shape, Dtype dtype, const Device& device) {
  const Array a = empty(shape, dtype, device);
  if (a.nbytes()) device.backend().copy_from_host(device.index(), a.body().storage->handle(), 0, values, a.nbytes());
  return a;
}

Array Array::from_memory(void* handle, const Shape& shape, const Strides& strides, Dtype dtype, const Device& device,
                         std::shared_ptr<void> owner) {
  std::int64_t last = 0;
  for (int i = 0; i < shape.size(); ++i) {
    if (strides[i] < 0) fail<ValueError>("from_memory: negative stride in {}", strides);
    last += strides[i] * (shape[i] - 1);
  }
  const std::size_t bytes =
      checked_size(shape, "from_memory") == 0 ? 0 : static_cast<std::size_t>(last + 1) * catenary::itemsize(dtype);
  Ref<Storage> storage(
      new Storage(device, handle, bytes, owner ? std::move(owner) : std::shared_ptr<void>(handle, [](void*) {})));
  return Array(Ref<ArrayHead>(new ArrayBody(dtype, shape, strides, 0, std::move(storage))));
}

Dtype Array::dtype() const { return body().dtype; }
const Shape& Array::shape() const { return body().shape; }
const Strides& Array::strides() const { return body().strides; }
Device Array::device() const { return body().device; }

std::int64_t Array::shape(int axis) const { return shape()[normalize_axis(axis, ndim(), "shape")]; }

std::int64_t Array::len() const {
  if (ndim() == 0) throw ShapeError("len: a 0-d array has no length");
  return shape()[0];
}

bool Array::is_contiguous() const {
  const Shape& s = shape();
  const Strides& given = strides();
  std::int64_t expected = 1;
  for (int i = s.size() - 1; i >= 0; --i) {
    if (s[i] != 1 && given[i] != expected) return s.product() == 0;
    expected *= s[i];
  }
  return true;
}

bool Array::shares_memory(const Array& other) const {
  if (body_ == other.body_) return true;
  return body().storage && body().storage == other.body().storage;
}

const Array& Array::eval() const {
  lazy::settle(body());
  if (body().storage) lazy::before_read(*body().storage);
  return *this;
}

Array Array::astype(Dtype to) const& { return lazy::cast(*this, to, strides_like(*this)); }
Array Array::astype(Dtype to) && {
  Array result = std::as_const(*this).astype(to);
  *this = Array();
  return result;
}

Array Array::copy() const {
  if (body().pending.load(std::memory_order_acquire)) return lazy::cast(*this, dtype(), contiguous_strides(shape()));
  const Array result = empty(shape(), dtype(), device());
  if (result.size()) compute(device(), primitives::Copy{writable(result), readable(*this)});
  return result;
}

const Array Array::contiguous() const { return is_contiguous() ? *this : copy(); }

const Array Array::to_device(const Device& to) const {
  if (to == device()) return *this;
  const Array source = contiguous(), result = empty(shape(), dtype(), to);
  if (nbytes() == 0) return result;
  const View from = readable(source);
  const auto offset = static_cast<std::size_t>(from.offset) * itemsize();
  void* handle = result.body().storage->handle();
  Backend &here = device().backend(), &there = to.backend();
  if (&here == &there && here.copy_between(to.index(), handle, 0, device().index(), from.handle, offset, nbytes()))
    return result;
  if (there.host_addressable()) {
    here.copy_to_host(device().index(), handle, from.handle, offset, nbytes());
  } else if (here.host_addressable()) {
    there.copy_from_host(to.index(), handle, 0, from.data(), nbytes());
  } else {
    std::vector<std::byte> values(nbytes());
    here.copy_to_host(device().index(), values.data(), from.handle, offset, nbytes());
    there.copy_from_host(to.index(), handle, 0, values.data(), nbytes());
  }
  return result;
}

void Array::copy_to_host(void* to) const {
  const Array source = contiguous();
  const View view = readable(source);
  if (nbytes())
    device().backend().copy_to_host(device().index(), to, view.handle,
                                    static_cast<std::size_t>(view.offset) * itemsize(), nbytes());
}

namespace {

/// Converts an element to the widest dtype of its kind, as astype() does, but without a program. Returns false for
/// other conversions.
bool widen_element(const void* from, Dtype dtype, void* to, Dtype wanted) {
  if (is_complex(dtype)) return false;
  return visit_dtype(dtype, [&](auto value) {
    using T = decltype(value);
    std::memcpy(&value, from, sizeof value);
    const auto give = [&](auto wide) {
      std::memcpy(to, &wide, sizeof wide);
      return true;
    };
    if constexpr (std::is_integral_v<T> && !std::is_same_v<T, bool>) {
      if (std::is_signed_v<T> && wanted == Dtype::int64) return give(static_cast<std::int64_t>(value));
      if (std::is_unsigned_v<T> && wanted == Dtype::uint64) return give(static_cast<std::uint64_t>(value));
    } else if constexpr (std::is_same_v<T, float> || std::is_same_v<T, float16> || std::is_same_v<T, bfloat16>) {
      if (wanted == Dtype::float64) return give(static_cast<double>(static_cast<float>(value)));
    }
    return false;
  });
}

}  // namespace

void Array::item(void* to, Dtype wanted) const {
  if (size() != 1) fail<ShapeError>("item: the array must have exactly one element, its shape is {}", shape());
  if (dtype() == wanted) return copy_to_host(to);
  if (loses_parts(dtype(), wanted))
    fail<DtypeError>("item: {} cannot be converted to {}; take real(x), imag(x) or absolute(x)", dtype(), wanted);
  std::byte element[sizeof(std::complex<double>)];
  copy_to_host(element);
  if (!widen_element(element, dtype(), to, wanted))
    from_host(element, {}, dtype(), Device()).astype(wanted).copy_to_host(to);
}

void* Array::host_data(Dtype expected, bool for_writing) const {
  if (expected != dtype()) fail<DtypeError>("data: the array's dtype is {}, not {}", dtype(), expected);
  if (!device().backend().host_addressable())
    fail<DeviceError>("data: the array is on {}, not in host memory; use to_vector or to_device", device().name());
  return (for_writing ? writable(*this) : readable(*this)).data();
}

void* Array::device_pointer() const {
  const View view = writable(*this);
  const std::int64_t offset = view.offset * static_cast<std::int64_t>(itemsize());
  if (offset != 0 && !device().info().has_addresses)
    fail<DeviceError>("device_pointer: the array begins at byte {} of memory on {}, which has no addresses; copy() it",
                      offset, device().name());
  return static_cast<char*>(view.handle) + offset;
}

namespace {

/// Returns a view of `a`'s memory with another shape and strides.
Array view_of(const Array& a, const Shape& shape, const Strides& strides, std::int64_t offset) {
  lazy::settle(a.body());
  return Array(Ref<ArrayHead>(new ArrayBody(a.dtype(), shape, strides, offset, a.body().storage)));
}

/// Returns the strides of a reshaped view, or nothing if only a copy is possible.
std::optional<Strides> reshaped_strides(const Shape& from, const Strides& strides, const Shape& to) {
  Shape shape;  // without axes of size 1
  Strides step;
  for (int i = 0; i < from.size(); ++i) {
    if (from[i] == 1) continue;
    shape.push_back(from[i]);
    step.push_back(strides[i]);
  }
  Strides result = Strides::filled(to.size(), 1);
  // Match groups of old and new axes with equal products. Within a group the old axes must have uniform strides.
  int old_begin = 0, new_begin = 0;
  while (old_begin < shape.size() && new_begin < to.size()) {
    int old_end = old_begin + 1, new_end = new_begin + 1;
    std::int64_t old_product = shape[old_begin], new_product = to[new_begin];
    while (old_product != new_product) {
      if (old_product < new_product) {
        old_product *= shape[old_end++];
      } else {
        new_product *= to[new_end++];
      }
    }
    for (int i = old_begin; i + 1 < old_end; ++i)
      if (step[i] != step[i + 1] * shape[i + 1]) return std::nullopt;
    std::int64_t stride = step[old_end - 1];
    for (int j = new_end - 1; j >= new_begin; --j) {
      result[j] = stride;
      stride *= to[j];
    }
    old_begin = old_end;
    new_begin = new_end;
  }
  return result;
}

}  // namespace

Array Array::as_strided(const Shape& shape, const Strides& strides, std::int64_t offset) const& {
  if (shape.size() != strides.size())
    fail<ShapeError>("as_strided: shape {} and strides {} differ in length", shape, strides);
  checked_size(shape, "as_strided");
  lazy::settle(body());
  return view_of(*this, shape, strides, body().offset + offset);
}

const Array Array::reshape(const Shape& wanted) const {
  Shape to = wanted;
  int unknown = -1;
  for (int i = 0; i < to.size(); ++i) {
    if (to[i] != -1) continue;
    if (unknown >= 0) fail<ShapeError>("reshape: can only specify one unknown dimension, not {}", wanted);
    unknown = i;
    to[i] = 1;
  }
  std::int64_t count = checked_size(to, "reshape");  // detects overflow of the product
  if (unknown >= 0) {
    to[unknown] = count > 0 ? size() / count : -1;
    count = count > 0 ? count * to[unknown] : -1;  // if another axis has size 0, -1 could be any size
  }
  if (count != size())
    fail<ShapeError>("reshape: cannot reshape array of size {} into shape {}; its shape is {}", size(), wanted,
                     shape());
  if (is_contiguous() || size() == 0) {  // without elements, any strides are right
    if (to == shape()) return view_of(*this, to, strides(), body().offset);
    lazy::settle(body());
    return view_of(*this, to, contiguous_strides(to), body().offset);
  }
  if (const auto result = reshaped_strides(shape(), strides(), to)) return view_of(*this, to, *result, body().offset);
  return copy().reshape(to);
}

const Array Array::ravel() const { return reshape({-1}); }
const Array Array::flatten() const { return copy().reshape({size()}); }

Array Array::T() const& { return transpose(); }

Array Array::transpose(const Axes& axes) const& {
  Axes order = axes;
  if (axes.empty()) {
    for (int i = ndim() - 1; i >= 0; --i) order.push_back(i);
  } else {
    if (axes.size() != ndim()) fail<ShapeError>("transpose: axes {} do not match an array of shape {}", axes, shape());
    order = normalize_axes(axes, ndim(), "transpose");
  }
  Shape to;
  Strides step;
  for (std::int64_t axis : order) {
    to.push_back(shape()[static_cast<int>(axis)]);
    step.push_back(strides()[static_cast<int>(axis)]);
  }
  lazy::settle(body());
  return view_of(*this, to, step, body().offset);
}

Array Array::squeeze(const AxisArg& axis) const& {
  unsigned drop = 0;
  if (axis.all()) {
    for (int i = 0; i < ndim(); ++i) drop |= (shape()[i] == 1) << i;
  } else {
    for (std::int64_t a : normalize_axes(axis.axes(), ndim(), "squeeze")) {
      if (shape()[static_cast<int>(a)] != 1)
        fail<ShapeError>("squeeze: axis {} of shape {} does not have size 1", a, shape());
      drop |= 1u << a;
    }
  }
  Shape to;
  Strides step;
  for (int i = 0; i < ndim(); ++i) {
    if (drop & (1u << i)) continue;
    to.push_back(shape()[i]);
    step.push_back(strides()[i]);
  }
  lazy::settle(body());
  return view_of(*this, to, step, body().offset);
}

const Array Array::broadcast_to(const Shape& to) const {
  checked_size(to, "broadcast_to");
  const Strides step = broadcast_strides(shape(), strides(), to, "broadcast_to");
  lazy::settle(body());
  return view_of(*this, to, step, body().offset);
}

void Array::fill(const Scalar& value) const& {
  if (value.kind() == Scalar::Kind::complex && loses_parts(Dtype::complex128, dtype()))
    fail<DtypeError>("fill: {} cannot hold a complex number; fill with its real part", dtype());
  lazy::assign(*this, {.scalar = value, .as = dtype()});
}

}  // namespace catenary
