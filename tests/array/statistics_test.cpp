#include "catenary/array/statistics.h"

#include <limits>

#include "catenary/array/elementwise.h"
#include "tests/array/expect.h"

namespace ct = catenary;
using namespace testing_arrays;

namespace {

TEST(Statistics, Closeness) {
  const Array a = make<double>({1, 1.00001, kInf, -kInf, kNan, 0}), b = make<double>({1, 1, kInf, kInf, kNan, 1e-9});
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
  const Array x = make<float>({1, static_cast<float>(kNan), static_cast<float>(kInf), static_cast<float>(-kInf)});
  const double largest = std::numeric_limits<float>::max();
  expect_array(ct::nan_to_num(x), {1, 0, largest, -largest}, {4}, Dtype::float32);
  expect_array(ct::nan_to_num(x, {.nan = 5, .posinf = 6, .neginf = 7}), {1, 5, 6, 7}, {4}, Dtype::float32);
  const Array here = make<double>({10, 20, 30, 40});
  expect_array(ct::nan_to_num(x, here, here, here), {1, 20, 30, 40}, {4}, Dtype::float32);
  EXPECT_THROW(ct::nan_to_num(x, make<double>({0, 0}, {2, 1})), ct::ShapeError);
  expect_array(ct::nan_to_num(make<int>({1, 2}), 5), {1, 2}, {2}, Dtype::int32);
  expect_array(ct::around(make<double>({0.5, 1.5, 2.5, -0.5})), {0, 2, 2, 0}, {4}, Dtype::float64);
  expect_array(ct::around(make<double>({1.256, -3.14}), 1), {1.3, -3.1}, {2}, Dtype::float64);
  expect_array(ct::around(make<int>({149, 250, 351}), -2), {100, 200, 400}, {3}, Dtype::int32);
  expect_array(ct::fix(make<double>({1.7, -1.7})), {1, -1}, {2}, Dtype::float64);
  expect_array(ct::fabs(-3), {3}, {}, Dtype::float64);
  expect_array(ct::modf(-3).second, {-3}, {}, Dtype::float64);
}

TEST(Statistics, Interpolation) {
  const Array xp = make<double>({1, 2, 4}), fp = make<double>({10, 20, 0});
  expect_array(ct::interp(make<double>({0, 1, 1.5, 3, 4, 9}), xp, fp), {10, 10, 15, 10, 0, 0}, {6}, Dtype::float64);
  expect_array(ct::interp(make<float>({0, 9}, {2, 1}), xp, fp, -1, -2), {-1, -2}, {2, 1}, Dtype::float64);
  expect_array(ct::interp(make<double>({0, 5}), make<double>({3}), make<double>({7})), {7, 7}, {2}, Dtype::float64);
  const Array infinite = make<double>({10, kInf, kInf});
  expect_array(ct::interp(make<double>({1, 1.5, 2, 3}), xp, infinite), {10, kInf, kInf, kInf}, {4}, Dtype::float64);
  expect_array(ct::interp(make<double>({1.5}), xp, make<double>({-kInf, kInf, 0})), {kNan}, {1}, Dtype::float64);
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
  EXPECT_THROW(ct::cov(m, {.dtype = Dtype::int32}), ct::DtypeError);
  EXPECT_EQ(ct::cov(Array::empty({0, 1}, Dtype::float32), {.dtype = Dtype::int8}).dtype(), Dtype::float64);
}

// Expected values of numpy.cov and numpy.corrcoef.
TEST(Statistics, CovarianceOfWeightedObservations) {
  const Array m = make<double>({0, 1, 2, 4, 2, 1, 0, 3}, {2, 4}), y = make<int>({1, 0, 2, 2});
  const Array often = make<int>({1, 2, 3, 1}), well = make<double>({1, 0.5, 2, 1});
  expect_array(ct::cov(m, y),
               {2.9166666666666665, 0.8333333333333333, 1.0833333333333333, 0.8333333333333333, 1.6666666666666665,
                0.16666666666666666, 1.0833333333333333, 0.16666666666666666, 0.9166666666666666},
               {3, 3}, Dtype::float64, 1e-15);
  expect_array(ct::cov(m, {.fweights = often}),
               {1.5714285714285712, 0.33333333333333326, 0.33333333333333326, 1.3333333333333333}, {2, 2},
               Dtype::float64, 1e-15);
  expect_array(ct::cov(m, {.aweights = well}),
               {2.714285714285714, 0.6785714285714285, 0.6785714285714285, 2.1785714285714284}, {2, 2}, Dtype::float64,
               1e-15);
  expect_array(ct::cov(m, {.ddof = 2, .fweights = often, .aweights = well}),
               {1.5384615384615385, 0.2884615384615385, 0.2884615384615385, 1.7307692307692308}, {2, 2}, Dtype::float64,
               1e-15);
  expect_array(ct::cov(make<float>({1, 2, 4}), {.dtype = Dtype::float32}), {7.0 / 3}, {}, Dtype::float32, 1e-6);
  expect_array(ct::corrcoef(m.T(), y.reshape({4, 1}), false),
               {1, 0.3779644730092272, 0.6625413488689132, 0.37796447300922725, 1, 0.1348399724926484,
                0.6625413488689132, 0.1348399724926484, 1},
               {3, 3}, Dtype::float64, 1e-15);
  EXPECT_THROW(ct::cov(m, {.fweights = well}), ct::DtypeError);
  EXPECT_THROW(ct::cov(m, {.aweights = make<double>({1, 2})}), ct::ShapeError);
  EXPECT_THROW(ct::cov(m, m.reshape({2, 2, 2})), ct::ShapeError);
}

TEST(Statistics, Infinities) {
  const Array x = make<double>({1, kInf, -kInf, std::nan("")});
  expect_array(ct::isposinf(x), {0, 1, 0, 0}, {4}, Dtype::bool_);
  expect_array(ct::isneginf(x), {0, 0, 1, 0}, {4}, Dtype::bool_);
  expect_array(ct::isposinf(make<int>({3})), {0}, {1}, Dtype::bool_);
}

TEST(Statistics, EquivalentOnceBroadcast) {
  EXPECT_TRUE(ct::array_equiv(make<int>({1, 2}), make<double>({1, 2, 1, 2}, {2, 2})));
  EXPECT_FALSE(ct::array_equiv(make<int>({1, 2}), make<double>({1, 2, 1, 3}, {2, 2})));
  EXPECT_FALSE(ct::array_equiv(make<int>({1, 2}), make<int>({1, 2, 3})));
}

}  // namespace
