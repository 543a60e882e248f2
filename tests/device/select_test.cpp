// Compares argmax, nonzero, cumulative functions and searchsorted on the current device with the CPU. Run it with
// --device.

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include "catenary/array/array.h"
#include "catenary/array/indexing.h"
#include "catenary/array/reduction.h"
#include "catenary/array/sorting.h"
#include "catenary/device/device.h"
#include "tests/device/same.h"

namespace catenary {
namespace {

using testing_devices::large;
using testing_devices::same;

bool device_has(Dtype dtype) { return dtype != Dtype::float64 || current_device().info().has_f64; }

/// Returns numbers on the CPU, many of them equal. `nan` in a thousand are NaN if the dtype has NaN.
Array often_equal(const Shape& shape, Dtype dtype, unsigned seed, unsigned nan = 0) {
  std::mt19937 random(seed);
  std::vector<double> values(static_cast<std::size_t>(shape.product()));
  for (double& value : values) {
    value = static_cast<double>(random() % 101) - (is_floating(dtype) ? 50 : 0);
    if (is_floating(dtype) && random() % 1000 < nan) value = std::numeric_limits<double>::quiet_NaN();
    if (value == 0 && random() % 2) value = -0.0;
  }
  return Array::from_host(values.data(), shape, Dtype::float64, Device()).astype(dtype);
}

using Make = std::function<Array(const Array&)>;

/// Expects `make` to give an equal result on the current device.
void expect_same(const Array& x, const Make& make, const std::string& what) {
  const Array expected = make(x), got = make(x.to_device(current_device()));
  EXPECT_TRUE(same(got, expected)) << what;
}

TEST(DeviceSelect, FindsTheFirstOfTheBest) {
  const Shape shapes[] = {{1}, {large(30000)}, {4, 10}, {3, 700, 2}, {2, 1, 3}, {5, 3, 4, 6}};
  for (int i = 0; i < kRealDtypes; ++i) {
    const Dtype dtype = static_cast<Dtype>(i);
    if (!device_has(dtype)) continue;
    for (const Shape& shape : shapes) {
      for (unsigned nan : {0u, 100u}) {
        const Array x = often_equal(shape, dtype, 1, nan);
        for (int axis = 0; axis < shape.size(); ++axis) {
          const std::string what = std::string(dtype_name(dtype)) + " " + shape.str() + " axis " + std::to_string(axis);
          expect_same(
              x, [&](const Array& a) { return argmax(a, axis); }, what);
          if (i % 3) continue;  // each dtype and direction compiles a kernel
          expect_same(
              x, [&](const Array& a) { return argmin(a, axis); }, what);
          // transposed, and with an order of axes that cannot be merged
          expect_same(
              x, [&](const Array& a) { return argmax(a.T(), axis); }, what + " transposed");
          expect_same(
              x,
              [&](const Array& a) {
                return argmin(a(Slice{{}, {}, -1}), axis);
              },
              what + " backwards");
        }
      }
    }
  }
}

TEST(DeviceSelect, FindsWhatIsTrue) {
  for (std::int64_t n : std::initializer_list<std::int64_t>{1, 255, 257, large(100000)}) {
    for (unsigned percent : {0u, 3u, 60u, 100u}) {
      std::mt19937 random(static_cast<unsigned>(n) + percent);
      std::vector<std::uint8_t> bits(static_cast<std::size_t>(n));
      for (auto& bit : bits) bit = random() % 100 < percent;
      const Array mask = Array::from_host(bits.data(), {n}, Dtype::bool_, Device());
      expect_same(mask, flatnonzero, std::to_string(n) + " " + std::to_string(percent));
    }
  }
  expect_same(often_equal({0, 3}, Dtype::bool_, 2), flatnonzero, "nothing");
  expect_same(
      often_equal({40, 30}, Dtype::int32, 3), [](const Array& a) { return argwhere(a.T() > 50); }, "transposed");
}

TEST(DeviceSelect, RunningTotals) {
  const Shape shapes[] = {{1}, {large(50000)}, {3, 0, 2}, {7, 40, 5}, {2, large(9000), 3}, {300, 20}};
  for (int i = 0; i < kRealDtypes; ++i) {
    const Dtype dtype = static_cast<Dtype>(i);
    if (!device_has(dtype)) continue;
    for (const Shape& shape : shapes) {
      // integers with exact sums in any order, or NaN from some position on
      const Array whole = often_equal(shape, dtype, 4, 0), few = is_floating(dtype) ? whole.astype(Dtype::int8) : whole;
      for (int axis = 0; axis < shape.size(); ++axis) {
        const std::string what = std::string(dtype_name(dtype)) + " " + shape.str() + " axis " + std::to_string(axis);
        if (dtype != Dtype::float16 && dtype != Dtype::bfloat16)
          expect_same(
              whole, [&](const Array& a) { return cumsum(a, axis, dtype); }, what);
        if (!is_floating(dtype))
          expect_same(
              few, [&](const Array& a) { return cumprod(a, axis, dtype); }, what + " product");
        expect_same(
            whole, [&](const Array& a) { return cumsum(a.T(), axis, Dtype::int64); }, what + " transposed");
      }
    }
  }
}

TEST(DeviceSelect, RunningTotalsOfFractionsAreAsNearAsTheirOrderAllows) {
  std::mt19937 random(5);
  std::vector<float> values(static_cast<std::size_t>(large(200000)));
  for (float& value : values) value = std::uniform_real_distribution<float>(0, 1)(random);
  for (Dtype dtype : {Dtype::float32, Dtype::float16, Dtype::bfloat16}) {
    const Array x = Array::from_host(values.data(), {large(200000)}, Dtype::float32).astype(dtype);
    const std::vector<double> often_equal = x.to_vector<double>();
    const Array few = multiply(x, 1e-3).astype(dtype);
    const std::vector<double> terms = few.to_vector<double>(), sums = cumsum(few).to_vector<double>();
    const double unit = dtype == Dtype::float32 ? 1e-5 : dtype == Dtype::float16 ? 1e-3 : 8e-3;
    double sum = 0;
    for (std::size_t i = 0; i < terms.size(); ++i) {
      sum += terms[i];
      ASSERT_NEAR(sums[i], sum, unit * sum + 1e-7) << dtype_name(dtype) << " at " << i;
    }
  }
  // minus zero is preserved, and NaN propagates
  const float special[] = {-0.0f, -0.0f, 1.0f, std::numeric_limits<float>::quiet_NaN(), 2.0f};
  const std::vector<float> sums = cumsum(Array::from_host(special, {5}, Dtype::float32)).to_vector<float>();
  EXPECT_TRUE(std::signbit(sums[0]) && std::signbit(sums[1]));
  EXPECT_EQ(sums[2], 1.0f);
  EXPECT_TRUE(std::isnan(sums[3]) && std::isnan(sums[4]));
}

TEST(DeviceSelect, Searches) {
  for (int i = 0; i < kRealDtypes; ++i) {
    const Dtype dtype = static_cast<Dtype>(i);
    if (!device_has(dtype)) continue;
    for (std::int64_t n : {0, 1, 300}) {
      const Array row = sort(often_equal({n}, dtype, 6, 100)), values = often_equal({7, 90}, dtype, 7, 100);
      for (Side side : {Side::left, Side::right})
        expect_same(
            values, [&](const Array& v) { return searchsorted(row.to_device(v.device()), v, side); },
            std::string(dtype_name(dtype)) + " " + std::to_string(n));
    }
  }
}

}  // namespace
}  // namespace catenary
