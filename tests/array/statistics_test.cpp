#include "catenary/array/statistics.h"

#include <limits>

#include "catenary/array/elementwise.h"
#include "tests/array/expect.h"

namespace ct = catenary;
using namespace testing_arrays;

namespace {

const double nan = std::numeric_limits<double>::quiet_NaN();
const double inf = std::numeric_limits<double>::infinity();

TEST(Statistics, Closeness) {
  const Array a = make<double>({1, 1.00001, inf, -inf, nan, 0}), b = make<double>({1, 1, inf, inf, nan, 1e-9});
  expect_array(ct::isclose(a, b), {1, 1, 1, 0, 0, 1}, {6}, Dtype::bool_);
  expect_array(ct::isclose(a, b, 1e-5, 1e-8, true), {1, 1, 1, 0, 1, 1}, {6}, Dtype::bool_);
  EXPECT_TRUE(ct::allclose(make<int>({1, 2}), make<float>({1, 2})));
  EXPECT_FALSE(ct::allclose(make<double>({1, 2}), 1));
  EXPECT_TRUE(ct::array_equal(make<int>({1, 2}), make<double>({1, 2})));
  EXPECT_FALSE(ct::array_equal(make<int>({1, 2}), make<int>({1, 2}, {2, 1})));
  EXPECT_FALSE(ct::array_equal(b, b));
  EXPECT_TRUE(ct::array_equal(b, b, true));
}

TEST(Statistics, CleaningAndRounding) {
  const Array x = make<float>({1, static_cast<float>(nan), static_cast<float>(inf), static_cast<float>(-inf)});
  const double largest = std::numeric_limits<float>::max();
  expect_array(ct::nan_to_num(x), {1, 0, largest, -largest}, {4}, Dtype::float32);
  expect_array(ct::nan_to_num(x, {.nan = 5, .posinf = 6, .neginf = 7}), {1, 5, 6, 7}, {4}, Dtype::float32);
  expect_array(ct::around(make<double>({0.5, 1.5, 2.5, -0.5})), {0, 2, 2, 0}, {4}, Dtype::float64);
  expect_array(ct::around(make<double>({1.256, -3.14}), 1), {1.3, -3.1}, {2}, Dtype::float64);
  expect_array(ct::around(make<int>({149, 250, 351}), -2), {100, 200, 400}, {3}, Dtype::int32);
  expect_array(ct::fix(make<double>({1.7, -1.7})), {1, -1}, {2}, Dtype::float64);
}

TEST(Statistics, Interpolation) {
  const Array xp = make<double>({1, 2, 4}), fp = make<double>({10, 20, 0});
  expect_array(ct::interp(make<double>({0, 1, 1.5, 3, 4, 9}), xp, fp), {10, 10, 15, 10, 0, 0}, {6}, Dtype::float64);
  expect_array(ct::interp(make<float>({0, 9}, {2, 1}), xp, fp, -1, -2), {-1, -2}, {2, 1}, Dtype::float64);
  expect_array(ct::interp(make<double>({0, 5}), make<double>({3}), make<double>({7})), {7, 7}, {2}, Dtype::float64);
  EXPECT_THROW(ct::interp(xp, xp, make<double>({1})), ct::ShapeError);
  EXPECT_THROW(ct::interp(xp, Array::empty({0}, Dtype::float64), Array::empty({0}, Dtype::float64)), ct::ValueError);
}

TEST(Statistics, Covariance) {
  const Array m = make<double>({0, 1, 2, 2, 1, 0}, {2, 3});
  expect_array(ct::cov(m), {1, -1, -1, 1}, {2, 2}, Dtype::float64, 1e-15);
  expect_array(ct::cov(m, {.bias = true}), {2.0 / 3, -2.0 / 3, -2.0 / 3, 2.0 / 3}, {2, 2}, Dtype::float64, 1e-15);
  EXPECT_EQ(ct::cov(m, {.rowvar = false}).shape(), (Shape{3, 3}));
  expect_array(ct::cov(make<int>({1, 2, 3, 4})), {5.0 / 3}, {}, Dtype::float64, 1e-15);
  expect_array(ct::corrcoef(m), {1, -1, -1, 1}, {2, 2}, Dtype::float64, 1e-15);
}

}  // namespace
