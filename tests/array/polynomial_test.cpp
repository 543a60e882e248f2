// Compares convolution and polynomials with loops. NumPy's values are in tests/data/reference.

#include "catenary/array/polynomial.h"

#include <cmath>

#include "catenary/array/creation.h"
#include "catenary/array/elementwise.h"
#include "catenary/array/manipulation.h"
#include "catenary/array/reduction.h"
#include "catenary/core/error.h"
#include "tests/array/expect.h"

namespace ct = catenary;
using namespace testing_arrays;

namespace {

std::vector<double> coefficients(std::size_t n) {
  std::vector<double> values(n);
  for (std::size_t i = 0; i < n; ++i) values[i] = static_cast<double>(i * 7 % 11) - 4;
  return values;
}

TEST(Polynomial, Convolution) {
  for (const auto& [n, m] : {std::pair<std::size_t, std::size_t>{5, 3}, {3, 5}, {1, 1}, {400, 70}}) {
    const std::vector<double> a = coefficients(n), v = coefficients(m);
    std::vector<double> full(n + m - 1), turned(n + m - 1);
    for (std::size_t i = 0; i < n; ++i)
      for (std::size_t j = 0; j < m; ++j) {
        full[i + j] += a[i] * v[j];
        turned[i + m - 1 - j] += a[i] * v[j];
      }
    const Array x = make(std::vector<float>(a.begin(), a.end())), y = make(std::vector<float>(v.begin(), v.end()));
    const Shape shape{static_cast<std::int64_t>(full.size())};
    expect_array(ct::convolve(x, y), full, shape, Dtype::float32);
    expect_array(ct::correlate(x, y, "full"), turned, shape, Dtype::float32);
    const std::size_t valid = std::max(n, m) - std::min(n, m) + 1, from = std::min(n, m) - 1;
    expect_array(
        ct::convolve(x, y, "valid"),
        {full.begin() + static_cast<std::ptrdiff_t>(from), full.begin() + static_cast<std::ptrdiff_t>(from + valid)},
        {static_cast<std::int64_t>(valid)}, Dtype::float32);
    EXPECT_EQ(ct::convolve(x, y, "same").size(), static_cast<std::int64_t>(std::max(n, m)));
  }
  expect_array(ct::convolve(make<std::int8_t>({100, 100}), make<std::int8_t>({1, 1})), {100, -56, 100}, {3},
               Dtype::int8);
  expect_array(ct::convolve(make<float>({2}).reshape({}), make<float>({1, 3})), {2, 6}, {2}, Dtype::float32);
  // more windows than are copied at a time: sums of 3000 numbers from i on
  const Array sums = ct::correlate(ct::arange(6000.0), ct::ones({3000}), "valid");
  EXPECT_EQ(sums.size(), 3001);
  EXPECT_TRUE((sums == ct::arange(3001.0) * 3000 + 3000.0 * 2999 / 2).all());
  EXPECT_THROW(ct::correlate(make<float>({2}).reshape({}), make<float>({1, 3})), ct::ShapeError);
  EXPECT_THROW(ct::convolve(make<float>({1}), Array::empty({0}, Dtype::float32)), ct::ValueError);
  EXPECT_THROW(ct::convolve(make<float>({1}), make<float>({1}), "most"), ct::ValueError);
  EXPECT_THROW(ct::convolve(make<float>({1, 2}, {1, 2}), make<float>({1})), ct::ShapeError);
}

TEST(Polynomial, FitsAndValues) {
  const Array p = make<float>({2, -1, 0.5f}), x = make<float>({-2, -1, 0, 1, 2, 3}, {2, 3});
  expect_array(ct::polyval(p, x), {10.5, 3.5, 0.5, 1.5, 6.5, 15.5}, {2, 3}, Dtype::float32);
  expect_array(ct::polyval(make<float>({1, 0}), x(0)(ct::slice(ct::none, ct::none, -1))), {0, -1, -2}, {3},
               Dtype::float32);
  if (!ct::current_device().info().has_f64) return;  // fits use float64
  const Array y = ct::polyval(p, x.ravel());
  expect_array(ct::polyfit(x.ravel(), y, 2), {2, -1, 0.5}, {3}, Dtype::float64, 1e-12);
  const ct::PolyfitResult fit = ct::polyfit(x.ravel(), ct::stack({y, -y}, 1), 2, {});
  expect_array(fit.coefficients, {2, -2, -1, 1, 0.5, -0.5}, {3, 2}, Dtype::float64, 1e-12);
  EXPECT_EQ(fit.rank, 3);
  EXPECT_FALSE(fit.covariance.defined());
  // A point with weight 0 is ignored.
  Array off = y.copy();
  off.set(99, 2);
  expect_array(ct::polyfit(x.ravel(), off, 2, {.w = make<float>({1, 1, 0, 1, 1, 1})}).coefficients, {2, -1, 0.5}, {3},
               Dtype::float64, 1e-12);
  EXPECT_THROW(ct::polyfit(x.ravel(), y, -1), ct::ValueError);
  EXPECT_THROW(ct::polyfit(x, y, 1), ct::ShapeError);
  EXPECT_THROW(ct::polyfit(make<double>({}), make<double>({}), 1), ct::ValueError);
  EXPECT_THROW(ct::polyfit(make<double>({1, 2}), make<double>({1, 2}), 1, {.cov = ct::PolyfitOptions::Cov::scaled}),
               ct::ValueError);
}

TEST(Differences, OfNeighbours) {
  const Array x = make<float>({1, 2, 4, 7, 0, -1}, {2, 3});
  expect_array(ct::ediff1d(x), {1, 2, 3, -7, -1}, {5}, Dtype::float32);
  expect_array(ct::ediff1d(x, 9, make<float>({5, 6})), {5, 6, 1, 2, 3, -7, -1, 9}, {8}, Dtype::float32);
  expect_array(ct::ediff1d(make<int>({}), {}, 1), {1}, {1}, Dtype::int32);
  EXPECT_THROW(ct::ediff1d(make<int>({1}), 1.5), ct::DtypeError);
  expect_array(ct::trapezoid(x), {4.5, 3}, {2}, Dtype::float32);
  expect_array(ct::trapezoid(x, make<float>({0, 1, 3}), 1, 1), {7.5, 2.5}, {2}, Dtype::float32);
  expect_array(ct::trapezoid(x, {}, 0.5, 0), {2, 0.5, 0.75}, {3}, Dtype::float32);
  const Array a = make<float>({1, 0, 0}), b = make<float>({0, 1, 0, 0, 0, 2}, {2, 3});
  expect_array(ct::cross(a, b), {0, 0, 1, 0, -2, 0}, {2, 3}, Dtype::float32);
  expect_array(ct::cross(b.T(), a, 0, 0, 0), {0, 0, 0, 2, -1, 0}, {3, 2}, Dtype::float32);
  expect_array(ct::cross(make<int>({1, 2}), make<int>({3, 4})), {-2}, {}, Dtype::int32);
  EXPECT_THROW(ct::cross(a, make<float>({1, 2, 3, 4})), ct::ShapeError);
}

}  // namespace
