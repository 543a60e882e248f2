// Compares selections on the current device with a sort of these elements on the CPU.

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <random>
#include <string>

#include "catenary/array/array.h"
#include "catenary/array/sorting.h"
#include "tests/device/same.h"

namespace ct = catenary;
using ct::Array;

namespace {

/// Returns few or many different values, with zeros of both signs, infinities and NaNs among floats.
Array numbers(const ct::Shape& shape, ct::Dtype dtype, int different, const ct::Device& device) {
  std::mt19937 random(static_cast<unsigned>(shape.product() + different));
  std::vector<float> v(static_cast<std::size_t>(shape.product()));
  for (float& x : v) {
    x = static_cast<float>(static_cast<int>(random() % static_cast<unsigned>(different)) - different / 3);
    if (ct::is_floating(dtype)) {
      const unsigned special = random() % 50;
      if (special == 0) x = NAN;
      if (special == 1) x = -NAN;
      if (special == 2) x = -0.0f;
      if (special == 3) x = INFINITY;
      if (special == 4) x = -INFINITY;
    }
  }
  return Array::from_host(v.data(), shape, ct::Dtype::float32, device).astype(dtype);
}

/// Returns numbers in NumPy's order, where NaN is the largest.
std::vector<double> order_of(const Array& x) {
  std::vector<double> v = x.to_device(ct::Device()).astype(ct::Dtype::float64).to_vector<double>();
  for (double& value : v) value = std::isnan(value) ? 1e300 : value == INFINITY ? 1e299 : value;
  return v;
}

void check(const ct::Shape& shape, ct::Dtype dtype, int different) {
  SCOPED_TRACE(std::string(ct::dtype_name(dtype)) + " " + shape.str() + " of " + std::to_string(different));
  const Array here = numbers(shape, dtype, different, ct::current_device());
  const Array there = numbers(shape, dtype, different, ct::Device());
  const std::int64_t n = shape.back(), rows = n == 0 ? 0 : shape.product() / n;
  const std::vector<double> x = order_of(there), sorted = order_of(ct::sort(there));
  std::vector<std::vector<std::int64_t>> cases = {{0}, {n - 1}, {n / 2}, {n / 3, n / 2, -1}};
  if (n > 100) cases.push_back({1, 2, 3, 5, 8, 13, 21, 34, 55, 89});
  for (const std::vector<std::int64_t>& kth : cases) {
    const Array indices = ct::argpartition(here, kth);
    ASSERT_EQ(indices.dtype(), ct::Dtype::int64);
    const std::vector<double> values = order_of(ct::partition(here, kth));
    const std::vector<std::int64_t> at = indices.to_vector<std::int64_t>();
    for (std::int64_t r = 0; r < rows; ++r) {
      std::vector<bool> seen(static_cast<std::size_t>(n), false);
      for (std::int64_t i = 0; i < n; ++i) {
        ASSERT_TRUE(at[r * n + i] >= 0 && at[r * n + i] < n && !seen[at[r * n + i]]);
        seen[at[r * n + i]] = true;
        ASSERT_EQ(values[r * n + i], x[r * n + at[r * n + i]]);
      }
      for (std::int64_t k : kth) {
        k = k < 0 ? k + n : k;
        const double wanted = sorted[r * n + k];
        ASSERT_EQ(values[r * n + k], wanted);
        for (std::int64_t i = 0; i < n; ++i)
          ASSERT_TRUE(i < k ? values[r * n + i] <= wanted : values[r * n + i] >= wanted);
      }
    }
  }
  for (const std::int64_t k : {std::int64_t{1}, std::min<std::int64_t>(n, 7), n})
    for (const bool largest : {true, false}) {
      const auto [values, indices] = ct::topk(here, k, -1, largest);
      const auto [wanted, wanted_at] = ct::topk(there, k, -1, largest);
      ASSERT_EQ(indices.to_vector<std::int64_t>(), wanted_at.to_vector<std::int64_t>());
      ASSERT_EQ(order_of(values), order_of(wanted));
      // compares the CPU with its own sort
      const std::vector<double> best = order_of(wanted);
      for (std::int64_t r = 0; r < rows; ++r)
        for (std::int64_t i = 0; i < k; ++i) ASSERT_EQ(best[r * k + i], sorted[r * n + (largest ? n - 1 - i : i)]);
    }
}

TEST(DevicePartition, PutsWhatASortWouldPutThere) {
  using testing_devices::large;
  for (const ct::Dtype dtype : {ct::Dtype::float32, ct::Dtype::float16, ct::Dtype::int64, ct::Dtype::bool_}) {
    if (testing_devices::small() && dtype != ct::Dtype::float16) continue;
    check({3, large(1000)}, dtype, 60);
    check({2, large(2100)}, dtype, 900);
  }
  if (ct::current_device().info().has_f64) check({1}, ct::Dtype::float64, 2);
  check({large(20011)}, ct::Dtype::float32, 7);
  check({large(20011)}, ct::Dtype::float32, 1 << 24);
  check({large(5000)}, ct::Dtype::float32, 1);
}

TEST(DevicePartition, OfEmptyAndOfStridedArrays) {
  const Array none = numbers({0, 5}, ct::Dtype::float32, 5, ct::current_device());
  EXPECT_EQ(ct::partition(none, 2).shape(), ct::Shape({0, 5}));
  EXPECT_EQ(ct::topk(none, 2).second.shape(), ct::Shape({0, 2}));
  EXPECT_THROW(ct::partition(numbers({5, 0}, ct::Dtype::float32, 5, ct::current_device()), 0), ct::ValueError);
  EXPECT_THROW(ct::partition(none, std::vector<std::int64_t>{}), ct::ValueError);
  EXPECT_THROW(ct::argpartition(none, {1, 5}), ct::ValueError);
  for (const std::int64_t n : {60, 3000}) {
    const Array x = numbers({n, 3}, ct::Dtype::float32, 1000, ct::current_device());
    const Array wanted = ct::sort(x.to_device(ct::Device()), 0);
    const Array reversed = x(ct::slice(ct::none, ct::none, -1));
    EXPECT_EQ(order_of(ct::partition(reversed, n / 2, 0)(n / 2)), order_of(wanted(n / 2)));
    EXPECT_EQ(order_of(ct::partition(x, 5, std::nullopt)(5)), order_of(ct::sort(wanted, std::nullopt)(5)));
  }
}

TEST(DevicePartition, MedianAndQuantilesAreTheCpus) {
  for (const ct::Shape& shape : {ct::Shape{7, 9}, ct::Shape{3, 2500}, ct::Shape{2, 5001}}) {
    std::mt19937 random(3);
    std::vector<float> v(static_cast<std::size_t>(shape.product()));
    for (float& x : v) x = static_cast<float>(random() % 100000) / 7;
    v[3] = shape[0] == 2 ? NAN : v[3];
    const Array here = Array::from_host(v.data(), shape, ct::Dtype::float32, ct::current_device());
    const Array there = Array::from_host(v.data(), shape, ct::Dtype::float32, ct::Device());
    EXPECT_EQ(order_of(ct::median(here, 1)), order_of(ct::median(there, 1)));
    EXPECT_EQ(order_of(ct::median(here)), order_of(ct::median(there)));
    const std::vector<double> q = {0, 12.5, 50, 99, 100};
    const std::vector<double> a = order_of(ct::percentile(here, q, 1)), b = order_of(ct::percentile(there, q, 1));
    for (std::size_t i = 0; i < a.size(); ++i) EXPECT_NEAR(a[i], b[i], 1e-3 * std::abs(b[i]) + 1e-3);
  }
}

}  // namespace
