// Compares small dense linear algebra on the current device with the CPU.

#include "catenary/array/linalg.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>

#include "catenary/core/error.h"
#include "tests/device/same.h"

namespace ct = catenary;
namespace linalg = ct::linalg;
using ct::Array;

namespace {

template <class T>
std::vector<T> normal(std::int64_t n) {
  static std::mt19937_64 generator(7);
  std::normal_distribution<double> draw;
  std::vector<T> v(static_cast<std::size_t>(n));
  for (T& x : v) x = static_cast<T>(draw(generator));
  return v;
}

/// Equal values here and on the CPU.
template <class T>
struct Both {
  Both(const std::vector<T>& v, const ct::Shape& shape)
      : here(Array::from_host(v.data(), shape, ct::dtype_of<T>)),
        there(Array::from_host(v.data(), shape, ct::dtype_of<T>, ct::Device())) {}
  Array here, there;
};

void expect_close(const Array& got, const Array& wanted, double tolerance) {
  ASSERT_EQ(got.shape(), wanted.shape());
  ASSERT_EQ(got.dtype(), wanted.dtype());
  const std::vector<double> x = got.to_vector<double>(), y = wanted.to_vector<double>();
  double largest = 1;
  for (double v : y)
    if (std::isfinite(v)) largest = std::max(largest, std::abs(v));
  for (std::size_t i = 0; i < x.size(); ++i) {
    if (std::isfinite(y[i])) {
      ASSERT_NEAR(x[i], y[i], tolerance * largest) << i;
    } else {
      ASSERT_TRUE(x[i] == y[i] || (std::isnan(x[i]) && std::isnan(y[i]))) << i << ": " << x[i] << ", not " << y[i];
    }
  }
}

template <class T>
class DeviceLinalg : public testing::Test {
 protected:
  static constexpr double kTolerance = sizeof(T) == 4 ? 2e-3 : 1e-9;

  void check(std::int64_t batch, std::int64_t n) {
    SCOPED_TRACE(n);
    std::vector<T> v = normal<T>(batch * n * n);
    std::vector<T> definite(v.size());
    for (std::int64_t b = 0; b < batch; ++b)
      for (std::int64_t i = 0; i < n; ++i)
        for (std::int64_t j = 0; j < n; ++j) {
          double sum = i == j ? 1.0 : 0.0;
          for (std::int64_t k = 0; k < n; ++k) sum += double(v[(b * n + i) * n + k]) * double(v[(b * n + j) * n + k]);
          definite[(b * n + i) * n + j] = static_cast<T>(sum);
        }
    for (std::int64_t i = 0; i < batch * n; ++i) v[i * n + i % n] += T(3);
    const ct::Shape shape{batch, n, n};
    const Both<T> a(v, shape), p(definite, shape);
    expect_close(linalg::inv(a.here), linalg::inv(a.there), kTolerance);
    expect_close(linalg::det(a.here), linalg::det(a.there), kTolerance);
    expect_close(linalg::slogdet(a.here).sign, linalg::slogdet(a.there).sign, 0);
    expect_close(linalg::slogdet(a.here).logabsdet, linalg::slogdet(a.there).logabsdet, kTolerance);
    expect_close(linalg::cholesky(p.here), linalg::cholesky(p.there), kTolerance);
    const linalg::LuResult got = linalg::lu(a.here), wanted = linalg::lu(a.there);
    expect_close(got.lu, wanted.lu, kTolerance);
    EXPECT_EQ(got.pivots.template to_vector<int>(), wanted.pivots.template to_vector<int>());
    for (std::int64_t k : {0, 1, 3, 40}) {
      const Both<T> b(normal<T>(batch * n * k), {batch, n, k});
      expect_close(linalg::solve(a.here, b.here), linalg::solve(a.there, b.there), kTolerance);
    }
  }
};
using Reals = testing::Types<float, double>;
TYPED_TEST_SUITE(DeviceLinalg, Reals);

TYPED_TEST(DeviceLinalg, IsTheCpus) {
  this->check(0, 2);
  this->check(2, 0);
  this->check(1, 1);
  this->check(testing_devices::large(70), 3);
  this->check(testing_devices::small() ? 1 : 4, 33);
  if (!testing_devices::small()) this->check(1, 90);
}

TYPED_TEST(DeviceLinalg, TakesTheSamePivots) {
  const TypeParam nan = std::numeric_limits<TypeParam>::quiet_NaN();
  // equal sizes, zeros, a singular matrix, and NaN on the diagonal and below
  const Both<TypeParam> a(
      {-2, 1, 1, 2, 1, 0, 1, 1, 5, 0, 0, 1, 0, 0, 2, 0, 1, 3, nan, 1, 1, 2, 1, 0, 1, 1, 5, 1, 1, 1, nan, 1, 0, 1, 1, 5},
      {4, 3, 3});
  const linalg::LuResult got = linalg::lu(a.here), wanted = linalg::lu(a.there);
  expect_close(got.lu, wanted.lu, 1e-6);
  EXPECT_EQ(got.pivots.template to_vector<int>(), wanted.pivots.template to_vector<int>());
  expect_close(linalg::det(a.here), linalg::det(a.there), 1e-6);
  expect_close(linalg::slogdet(a.here).logabsdet, linalg::slogdet(a.there).logabsdet, 1e-6);
}

TYPED_TEST(DeviceLinalg, RefusesWhatTheCpuRefuses) {
  const Both<TypeParam> singular({1, 0, 0, 1, 1, 2, 2, 4}, {2, 2, 2}), indefinite({1, 2, 2, 1}, {2, 2});
  EXPECT_THROW(linalg::inv(singular.here), ct::ValueError);
  EXPECT_THROW(linalg::solve(singular.here, singular.here), ct::ValueError);
  EXPECT_THROW(linalg::cholesky(indefinite.here), ct::ValueError);
}

}  // namespace
