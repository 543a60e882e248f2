#include "catenary/autograd/variable.h"

#include <gtest/gtest.h>

#include "catenary/array/elementwise.h"
#include "catenary/autograd/backward.h"
#include "catenary/autograd/config.h"
#include "catenary/autograd/function_node.h"
#include "catenary/autograd/operators.h"
#include "catenary/autograd/parameter.h"
#include "tests/autograd/helpers.h"

namespace catenary {
namespace {

namespace F = functions;
using test::array;
using test::values;

TEST(Variable, GradientOfAPolynomial) {
  const Variable x(array<float>({1, 2, 3}));
  const Variable y = x * x * 2.0 + x - 1.0;
  EXPECT_FALSE(x.grad().defined());
  y.set_grad(array<float>({1, 10, 100}));
  y.backward();
  EXPECT_EQ(values(x.grad()), (std::vector<double>{5, 90, 1300}));
  EXPECT_FALSE(y.grad().defined());
}

TEST(Variable, LeavesAccumulate) {
  const Variable x(array<float>({2}));
  const Variable y = x * 3.0f;
  y.backward();
  y.backward();
  EXPECT_EQ(values(x.grad()), (std::vector<double>{6}));
  x.cleargrad();
  y.backward();
  EXPECT_EQ(values(x.grad()), (std::vector<double>{3}));
}

}  // namespace
}  // namespace catenary
