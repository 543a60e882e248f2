#pragma once
// Arrays of numbers for tests, and comparisons.

#include <gtest/gtest.h>

#include <vector>

#include "catenary/array/creation.h"
#include "catenary/array/elementwise.h"
#include "catenary/array/manipulation.h"

namespace tests {

/// Returns irregular numbers from -1 to 1, which depend on the phase.
inline catenary::Array waves(const catenary::Shape& shape, double phase, catenary::Dtype dtype) {
  return catenary::sin(catenary::arange(shape.product(), dtype) * 1.7 + phase).reshape(shape);
}

/// Returns equal values with channels last in memory.
inline catenary::Array channels_last(const catenary::Array& x) {
  return catenary::moveaxis(catenary::moveaxis(x, 1, -1).copy(), -1, 1);
}

/// Expects equal shapes, and elements within `tolerance`.
inline void expect_near(const catenary::Array& a, const catenary::Array& b, double tolerance = 1e-5) {
  ASSERT_EQ(a.shape(), b.shape());
  const std::vector<double> x = a.to_vector<double>(), y = b.to_vector<double>();
  for (std::size_t i = 0; i < x.size(); ++i) ASSERT_NEAR(x[i], y[i], tolerance) << i;
}

}  // namespace tests
