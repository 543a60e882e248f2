#include <gtest/gtest.h>

#include "catenary/array/elementwise.h"

namespace catenary {
namespace {

TEST(Fusion, AConstantThatComesLateKeepsItsRegister) {
  const double two = 2;
  const Array x = Array::from_host(&two, Shape{1}, Dtype::float64);
  Array y;
  {
    const Array h = x * x;  // without a handle: its register is free for the next constant
    y = h * 5.0;
  }
  const Array g = (y * 0.0 + 1.0) * 5.0;
  const Array a = g * x, b = g * x;
  EXPECT_EQ((a + b).item<double>(), 20);
  EXPECT_EQ(y.item<double>(), 20);
}

}  // namespace
}  // namespace catenary
