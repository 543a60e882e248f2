#include "catenary/array/axes.h"

#include <algorithm>
#include <numeric>

#include "catenary/array/body.h"
#include "catenary/array/elementwise_core.h"
#include "catenary/array/reduction.h"
#include "catenary/core/format.h"

namespace catenary::detail {

unsigned axis_bits(const Axes& axes) {
  unsigned bits = 0;
  for (std::int64_t axis : axes) bits |= 1u << axis;
  return bits;
}

Shape kept_shape(const Shape& shape, unsigned bits, bool keepdims) {
  Shape kept;
  for (int i = 0; i < shape.size(); ++i) {
    if (!(bits >> i & 1u)) {
      kept.push_back(shape[i]);
    } else if (keepdims) {
      kept.push_back(1);
    }
  }
  return kept;
}

std::int64_t reduced_count(const Shape& shape, unsigned bits) {
  std::int64_t count = 1;
  for (int i = 0; i < shape.size(); ++i)
    if (bits >> i & 1u) count *= shape[i];
  return count;
}

Array axis_to_end(const Array& x, int axis) {
  if (axis == x.ndim() - 1) return x;
  Axes order;
  for (int i = 0; i < x.ndim(); ++i)
    if (i != axis) order.push_back(i);
  order.push_back(axis);
  return x.transpose(order);
}

Array axis_from_end(const Array& x, int axis) {
  const int last = x.ndim() - 1;
  if (axis == last) return x;
  Axes order;
  for (int i = 0; i < last; ++i) order.push_back(i);
  order.insert(axis, last);
  return x.transpose(order);
}

Array slice_axis(const Array& x, int axis, std::int64_t start, std::int64_t stop) {
  Shape shape = x.shape();
  shape[axis] = stop - start;
  return x.as_strided(shape, x.strides(), shape.product() == 0 ? 0 : start * x.strides()[axis]);
}

Array rows_over(const Array& x, const Axes& axes) {
  const unsigned bits = axis_bits(axes);
  Axes order;
  for (int i = 0; i < x.ndim(); ++i)
    if (!(bits >> i & 1u)) order.push_back(i);
  for (int i = 0; i < x.ndim(); ++i)
    if (bits >> i & 1u) order.push_back(i);
  Shape shape = kept_shape(x.shape(), bits, false);
  shape.push_back(reduced_count(x.shape(), bits));
  return (x.ndim() > 0 ? x.transpose(order) : x).reshape(shape);
}

Array reverse_last(const Array& x) {
  const int last = x.ndim() - 1;
  Strides strides = x.strides();
  const std::int64_t offset = x.size() == 0 ? 0 : (x.shape()[last] - 1) * strides[last];
  strides[last] = -strides[last];
  return x.as_strided(x.shape(), strides, offset);
}

Array filled(const Shape& shape, const Operand& value, Dtype dtype, const Device& device) {
  const Array a = Array::empty(shape, dtype, device);
  copyto(a, value);
  return a;
}

void check_range(const Array& x, const Range& range) {
  if (x.size() == 0) return;
  const Array values = as_dtype(x, Dtype::int64).contiguous();
  compute(x.device(), primitives::CheckRange{readable(values), range});
}

Array as_dtype(Array x, Dtype dtype) {
  if (x.dtype() == dtype) return x;
  if (loses_parts(x.dtype(), dtype))
    fail<DtypeError>("complex numbers ({}) were given to a computation in {}; pass real(x), imag(x) or absolute(x)",
                     x.dtype(), dtype);
  return std::move(x).astype(dtype);
}

Dtype dtype_of_sums(Dtype dtype, const std::vector<Index>& indices) {
  const bool may_repeat = std::any_of(indices.begin(), indices.end(),
                                      [](const Index& index) { return index.kind() == Index::Kind::array; });
  return may_repeat && is_16bit_float(dtype) ? Dtype::float32 : dtype;
}

Array iota(std::int64_t n, const Device& device) {
  if (n > kIotaBlock) return slice_axis(iota_grid(n, device).reshape({-1}), 0, 0, n);
  std::int64_t values[kIotaBlock];
  std::iota(values, values + n, std::int64_t{0});
  return Array::from_host(values, {n}, Dtype::int64, device);
}

Array iota_grid(std::int64_t n, const Device& device) {
  if (n > std::int64_t{1} << 59) fail<ValueError>("a range of {} elements is too long", n);
  const std::int64_t rows = (n + kIotaBlock - 1) / kIotaBlock;
  return add(multiply(iota(rows, device).reshape({rows, 1}), kIotaBlock), iota(kIotaBlock, device));
}

Array positions(const Array& mask) {
  Array keep;
  View flat = readable_contiguous(mask, keep);
  flat.shape = {mask.size()};
  flat.strides = {1};
  std::vector<std::int64_t> found;
  compute(mask.device(), primitives::Nonzero{flat, found});
  return Array::from_host(found.data(), {static_cast<std::int64_t>(found.size())}, Dtype::int64, mask.device());
}

Array as_array(const Operand& x, Dtype dtype, const Device& device) {
  return x.is_array() ? as_dtype(x.array(), dtype) : filled({}, x.scalar(), dtype, device);
}

Dtype common_dtype(const std::vector<Array>& arrays) {
  Dtype dtype = Dtype::bool_;
  for (const bool floating : {true, false})
    for (const Array& a : arrays)
      if (is_inexact(a.dtype()) == floating) dtype = promote(dtype, a.dtype());
  return dtype;
}

void check_square(const Array& a, const char* what) {
  if (a.ndim() < 2 || a.shape().back() != a.shape()[a.ndim() - 2])
    fail<LinAlgError>("linalg::{}: square matrices are needed, an array of shape {} was given", what, a.shape());
}

void check_same_device(const Array& a, const Array& b, const char* what) {
  if (!(a.device() == b.device()))
    fail<DeviceError>("{}: arrays on {} and {}; move one of them with to_device", what, a.device().name(),
                      b.device().name());
}

Dtype sum_dtype(Dtype dtype) {
  switch (kind(dtype)) {
    case Kind::boolean:
    case Kind::signed_int:
      return Dtype::int64;
    case Kind::unsigned_int:
      return Dtype::uint64;
    case Kind::floating:
    case Kind::complex:
      break;
  }
  return dtype;
}

Dtype mean_dtype(Dtype dtype) { return is_inexact(dtype) ? dtype : Dtype::float64; }

}  // namespace catenary::detail
