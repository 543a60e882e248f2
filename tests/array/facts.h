#pragma once

#include <gtest/gtest.h>

#include <vector>

#include "catenary/array/array.h"

/// Expects dtype, shape and elements (in C order) of an array exactly.
inline void expect(const catenary::Array& a, catenary::Dtype dtype, const catenary::Shape& shape,
                   const std::vector<double>& values) {
  EXPECT_EQ(a.dtype(), dtype) << catenary::dtype_name(a.dtype());
  EXPECT_EQ(a.shape(), shape) << a.shape().str();
  EXPECT_EQ(a.to_vector<double>(), values) << catenary::repr(a);
}
