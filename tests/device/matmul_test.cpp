// Compares matrix products on the current device with the CPU: layouts, types, partial tiles, batches, accumulation.

#include <gtest/gtest.h>

#include <array>
#include <cmath>

#include "catenary/array/creation.h"
#include "catenary/array/elementwise.h"
#include "catenary/array/linalg.h"
#include "catenary/array/manipulation.h"
#include "catenary/array/random.h"
#include "catenary/array/reduction.h"
#include "catenary/core/error.h"
#include "catenary/functions/functions.h"

namespace catenary {
namespace {

Array numbers(const Shape& shape, Dtype dtype) {
  const DeviceScope scope{Device()};
  const Array x = random::uniform(-4, 4, shape);
  return dtype == Dtype::bool_ ? x > 2.0 : x.astype(dtype);
}

void check(const Array& a, const Array& b, double tolerance) {
  const Device device = current_device();
  const Array got = matmul(a.to_device(device), b.to_device(device)).to_device(Device());
  const DeviceScope scope{Device()};
  const Array want = matmul(a, b);
  ASSERT_EQ(got.shape(), want.shape());
  ASSERT_EQ(got.dtype(), want.dtype());
  if (want.size() == 0) return;
  const double off = max(absolute(got.astype(Dtype::float64) - want.astype(Dtype::float64))).item<double>();
  EXPECT_LE(off, tolerance * (1 + static_cast<double>(a.shape().back())))
      << testing::PrintToString(a.shape()) << " by " << testing::PrintToString(b.shape()) << ", "
      << dtype_name(a.dtype());
}

TEST(DeviceMatmul, ShapesAroundTilesInAllLayouts) {
  random::seed(1);
  for (const auto& [m, n, k] : {std::tuple(1, 1, 1),
                                {7, 5, 3},
                                {65, 33, 17},
                                {6, 32, 256},
                                {100, 129, 300},
                                {3, 200, 1},
                                {200, 3, 70},
                                {257, 130, 21},
                                {40, 500, 8},
                                {0, 3, 4},
                                {3, 4, 0}}) {
    for (int layout = 0; layout < 4; ++layout) {
      const Array a = numbers(layout & 1 ? Shape{k, m} : Shape{m, k}, Dtype::float32),
                  b = numbers(layout & 2 ? Shape{n, k} : Shape{k, n}, Dtype::float32);
      const Device device = current_device();
      const Array there = matmul(layout & 1 ? a.to_device(device).T() : a.to_device(device),
                                 layout & 2 ? b.to_device(device).T() : b.to_device(device));
      const DeviceScope scope{Device()};
      const Array want = matmul(layout & 1 ? a.T() : a, layout & 2 ? b.T() : b), got = there.to_device(Device());
      ASSERT_EQ(got.shape(), want.shape());
      if (want.size()) {
        EXPECT_LE(max(absolute(got - want)).item<float>(), 1e-5 * (1 + k))
            << m << ' ' << n << ' ' << k << " layout " << layout;
      }
    }
  }
}

TEST(DeviceMatmul, AllTypes) {
  random::seed(2);
  const bool f64 = current_device().info().has_f64;
  for (Dtype dtype : {Dtype::float64, Dtype::float16, Dtype::bfloat16, Dtype::int8, Dtype::int32, Dtype::int64,
                      Dtype::uint8, Dtype::bool_}) {
    if (dtype == Dtype::float64 && !f64) continue;
    const double tolerance = dtype == Dtype::float64    ? 1e-14
                             : dtype == Dtype::float16  ? 2e-2
                             : dtype == Dtype::bfloat16 ? 2e-1
                                                        : 0;
    check(numbers({19, 70}, dtype), numbers({70, 67}, dtype), tolerance);
  }
}

TEST(DeviceMatmul, EightBitsIntoInt32) {
  random::seed(5);
  const Device device = current_device();
  for (const Dtype dtype : {Dtype::int8, Dtype::uint8}) {
    for (const auto& [m, k, n] : {std::array<std::int64_t, 3>{19, 70, 67}, {1, 300, 1}, {130, 3, 65}}) {
      const DeviceScope scope{Device()};
      const Array a = numbers({2, k, m}, Dtype::float32), b = numbers({k, n}, Dtype::float32);
      const Array x = (a * 31.0f).astype(dtype), y = (b * 31.0f).astype(dtype), bias = arange(n, Dtype::int32);
      const Array got = matmul(x.to_device(device).transpose({0, 2, 1}), y.to_device(device),
                               {.bias = bias.to_device(device), .dtype = Dtype::int32})
                            .to_device(Device());
      const Array want = matmul(x.transpose({0, 2, 1}).astype(Dtype::int64), y.astype(Dtype::int64)) + bias;
      EXPECT_EQ(got.dtype(), Dtype::int32);
      EXPECT_TRUE((got == want).all()) << dtype_name(dtype) << " " << m << " " << k << " " << n;
    }
  }
}

TEST(DeviceMatmul, BatchesThatAreBroadcast) {
  random::seed(3);
  check(numbers({4, 9, 8}, Dtype::float32), numbers({8, 11}, Dtype::float32), 1e-5);
  check(numbers({9, 8}, Dtype::float32), numbers({3, 1, 8, 11}, Dtype::float32), 1e-5);
  check(numbers({5, 1, 9, 8}, Dtype::float32), numbers({1, 6, 8, 2}, Dtype::float32), 1e-5);
  check(numbers({0, 9, 8}, Dtype::float32), numbers({8, 2}, Dtype::float32), 1e-5);
}

TEST(DeviceMatmul, ABiasIsAddedAsTheProductIsStored) {
  random::seed(4);
  const Array x = numbers({37, 50}, Dtype::float32), w = numbers({70, 50}, Dtype::float32),
              b = numbers({70}, Dtype::float32);
  const Device device = current_device();
  const Array got =
      functions::linear(x.to_device(device), w.to_device(device), b.to_device(device)).array().to_device(Device());
  const DeviceScope scope{Device()};
  const Array want = matmul(x, w.T()) + b;
  EXPECT_LE(max(absolute(got - want)).item<float>(), 5e-4);
}

}  // namespace
}  // namespace catenary
