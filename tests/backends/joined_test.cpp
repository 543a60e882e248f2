// A product and the sum that consumes it run in one loop, with the bits of two loops.

#include <gtest/gtest.h>

#include <functional>
#include <vector>

#include "catenary/array/array.h"
#include "catenary/array/creation.h"
#include "catenary/array/elementwise.h"
#include "catenary/array/random.h"
#include "catenary/array/reduction.h"
#include "catenary/core/config.h"

namespace catenary {
namespace {

using Rule = std::function<Array(const Array& a, const Array& b, const Array& c)>;

class Joined : public testing::TestWithParam<Dtype> {
 protected:
  /// Compares the rule as one program with single operations.
  void expect_same(const Rule& rule) {
    random::seed(1);
    const Array a = numbers(), b = numbers(), c = numbers();
    const std::vector<double> fused = values(rule(a, b, c));
    const auto off = using_config(config.fusion, false);
    EXPECT_EQ(fused, values(rule(a, b, c)));
  }

 private:
  static Array numbers() {
    Array x = random::uniform(-5, 5, Shape{41, 67}).astype(GetParam());
    x.eval();
    return x;
  }
  static std::vector<double> values(const Array& x) { return x.astype(Dtype::float64).to_vector<double>(); }
};

TEST_P(Joined, EachForm) {
  expect_same([](const Array& a, const Array& b, const Array& c) { return a * b + c; });
  expect_same([](const Array& a, const Array& b, const Array& c) { return c + a * b; });
  expect_same([](const Array& a, const Array& b, const Array& c) { return a * b - c; });
  expect_same([](const Array& a, const Array& b, const Array& c) { return c - a * b; });
}

TEST_P(Joined, ProductsOfProducts) {
  expect_same([](const Array& a, const Array& b, const Array& c) { return a * b + b * c; });
  expect_same([](const Array& a, const Array& b, const Array& c) { return (a * b + c) * (a - b * c) + c; });
  expect_same([](const Array& a, const Array& b, const Array& c) { return ((a * b - c) * b - c) * b - a; });
}

TEST_P(Joined, AProductWithOtherReaders) {
  expect_same([](const Array& a, const Array& b, const Array&) {
    const Array product = a * b;
    return product + product;
  });
  expect_same([](const Array& a, const Array& b, const Array& c) {
    const Array product = a * b, sum = product + c;
    return product - sum * c;
  });
}

TEST_P(Joined, BroadcastAndScalarOperands) {
  expect_same([](const Array& a, const Array& b, const Array& c) { return a * b[0] + c[1] * 3; });
  expect_same([](const Array& a, const Array& b, const Array& c) { return a.T() * b.T() - c.T(); });
  expect_same([](const Array& a, const Array&, const Array&) { return 2 - a * 0.1; });
}

TEST_P(Joined, InPlace) {
  expect_same([](const Array& a, const Array& b, const Array& c) {
    Array x = a.copy(), y = c.copy();
    const Array product = x * b;
    x += 1;  // after the product has consumed x
    y -= product;
    y += x * y;
    return y;
  });
}

TEST_P(Joined, UnderAReduction) {
  expect_same([](const Array& a, const Array& b, const Array& c) { return sum(a * b - c, 0); });
  expect_same([](const Array& a, const Array& b, const Array&) { return sum(a * b, 1); });
}

INSTANTIATE_TEST_SUITE_P(Dtypes, Joined,
                         testing::Values(Dtype::float16, Dtype::bfloat16, Dtype::float32, Dtype::float64, Dtype::int32),
                         [](const auto& info) { return std::string(dtype_name(info.param)); });

}  // namespace
}  // namespace catenary
