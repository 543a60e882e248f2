#pragma once
// Values of float32 for tests of ONNX models.

#include <gtest/gtest.h>

#include <cmath>

#include "catenary/array/array.h"
#include "tests/onnx/node.h"

namespace onnx_writer {

using catenary::Array;

inline std::vector<float> numbers(std::size_t count, float scale = 0.1F) {
  std::vector<float> values(count);
  for (std::size_t i = 0; i < count; ++i) values[i] = scale * static_cast<float>(static_cast<int>(i * 7 % 11) - 5);
  return values;
}

inline Array shaped(const std::vector<float>& values, const catenary::Shape& shape) {
  return Array::from_host(values.data(), shape, catenary::Dtype::float32);
}

inline void expect_near(const Array& got, const Array& wanted) {
  ASSERT_EQ(got.shape(), wanted.shape());
  const std::vector<float> g = got.to_vector<float>(), w = wanted.to_vector<float>();
  for (std::size_t i = 0; i < g.size(); ++i) EXPECT_NEAR(g[i], w[i], 1e-5F * (1 + std::abs(w[i]))) << i;
}

}  // namespace onnx_writer
