#include "catenary/array/host_stack.h"

#include <algorithm>
#include <limits>

#include "catenary/array/hermitian.h"
#include "catenary/core/format.h"
#include "catenary/device/trace.h"

namespace catenary::detail {

Array host_copy(const Array& a, Dtype dtype) { return a.to_device(Device()).astype(dtype).copy(); }

Array host_array(const Shape& shape, Dtype dtype) { return Array::empty(shape, dtype, Device()); }

double epsilon_of(Dtype dtype) {
  return part_dtype(dtype) == Dtype::float32 ? static_cast<double>(std::numeric_limits<float>::epsilon())
                                             : std::numeric_limits<double>::epsilon();
}

HostStack::HostStack(const Array& a, const char* what, Dtype other) : device(a.device()) {
  if (a.ndim() < 2)
    fail<ShapeError>("linalg::{}: matrices are needed, an array of shape {} was given", what, a.shape());
  if (is_16bit_float(a.dtype()))
    fail<DtypeError>("linalg::{}: {} is too narrow; cast to float32 or float64", what, a.dtype());
  trace_host(device, fmt::format("linalg.{}", what).c_str());
  result = promote(is_inexact(a.dtype()) ? a.dtype() : Dtype::float64, other);
  outer = Shape(a.shape().data(), a.ndim() - 2);
  batch = outer.product();
  m = a.shape(-2);
  n = a.shape(-1);
  k = std::min(m, n);
  matrices = host_copy(a, is_complex(result) ? Dtype::complex128 : Dtype::float64).reshape({batch, m, n});
}

void HostStack::symmetrise(const char* what) {
  if (m != n)
    fail<ShapeError>("linalg::{}: a hermitian matrix is square, one of {} rows and {} columns was given", what, m, n);
  matrices = hermitian_of(matrices).eval();
}

Array HostStack::back(const Array& host, Dtype dtype) const {
  Shape shape = outer;
  for (int i = 1; i < host.ndim(); ++i) shape.push_back(host.shape()[i]);
  return host.astype(dtype).to_device(device).reshape(shape).copy();
}

}  // namespace catenary::detail
