#pragma once
// Helpers for the tests of array/: arrays of literals, and comparisons with expected values.

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "catenary/array/array.h"

namespace testing_arrays {

using catenary::Array;
using catenary::Dtype;
using catenary::Shape;

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kInf = std::numeric_limits<double>::infinity();

/// Returns an array of the values in C order.
template <class T>
Array make(const std::vector<T>& values, const Shape& shape) {
  return Array::from_host(values.data(), shape, catenary::dtype_of<T>);
}
template <class T>
Array make(const std::vector<T>& values) {
  return make(values, Shape{static_cast<std::int64_t>(values.size())});
}

/// Expects shape, dtype and values, floats within a relative and absolute tolerance. NaN equals NaN.
inline void expect_array(const Array& got, const std::vector<double>& expected, const Shape& shape, Dtype dtype,
                         double tolerance = 0) {
  EXPECT_EQ(got.shape(), shape) << got.shape().str();
  EXPECT_EQ(got.dtype(), dtype) << catenary::dtype_name(got.dtype());
  const std::vector<double> values = got.to_vector<double>();
  ASSERT_EQ(values.size(), expected.size());
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (std::isnan(expected[i])) {
      EXPECT_TRUE(std::isnan(values[i])) << "element " << i << ": " << values[i];
    } else if (tolerance == 0 || std::isinf(expected[i])) {
      EXPECT_EQ(values[i], expected[i]) << "element " << i;
    } else {
      EXPECT_NEAR(values[i], expected[i], tolerance * (1 + std::abs(expected[i]))) << "element " << i;
    }
  }
}

}  // namespace testing_arrays
