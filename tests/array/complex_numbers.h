#pragma once
// Helpers for tests of complex arrays: conversions between numbers and arrays on the device.

#include <algorithm>
#include <complex>

#include "catenary/array/elementwise.h"
#include "catenary/array/view.h"
#include "catenary/device/float64.h"
#include "tests/array/expect.h"

namespace testing_arrays {

using C = std::complex<double>;

/// Returns the complex dtypes that the device supports.
inline std::vector<Dtype> complex_dtypes() {
  if (catenary::has_float64(catenary::current_device())) return {Dtype::complex64, Dtype::complex128};
  return {Dtype::complex64};
}

/// Returns an array on the device, rounded to the dtype. Real dtypes get the real parts.
inline Array from(const std::vector<C>& values, const Shape& shape, Dtype dtype) {
  const Array host = Array::from_host(values.data(), shape, Dtype::complex128, catenary::Device());
  return (catenary::is_complex(dtype) ? host.astype(dtype) : catenary::real(host).astype(dtype))
      .to_device(catenary::current_device());
}
inline Array from(const std::vector<C>& values, Dtype dtype) {
  return from(values, {static_cast<std::int64_t>(values.size())}, dtype);
}

/// The elements as complex128 in host memory.
inline Array wide(const Array& x) { return x.to_device(catenary::Device()).astype(Dtype::complex128).copy(); }
inline std::vector<C> numbers(const Array& x) { return wide(x).to_vector<C>(); }

/// Expects the dtype, and values within a tolerance, which is relative for values larger than 1.
inline void expect_numbers(const Array& got, const std::vector<C>& expected, Dtype dtype, double tolerance = 0) {
  EXPECT_EQ(got.dtype(), dtype) << catenary::dtype_name(got.dtype());
  const std::vector<C> values = numbers(got);
  ASSERT_EQ(values.size(), expected.size());
  for (std::size_t i = 0; i < values.size(); ++i)
    EXPECT_LE(std::abs(values[i] - expected[i]), tolerance * std::max(1.0, std::abs(expected[i])))
        << i << ": " << values[i];
}
inline void expect_numbers(const Array& got, const std::vector<C>& expected, const Shape& shape, Dtype dtype,
                           double tolerance) {
  EXPECT_EQ(got.shape(), shape) << got.shape().str();
  expect_numbers(got, expected, dtype, tolerance);
}

}  // namespace testing_arrays
