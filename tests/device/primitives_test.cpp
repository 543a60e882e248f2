// What compute does for every primitive on every device: it refuses what no backend computes before anything runs, and
// tells CATENARY_TRACE.

#include "catenary/device/primitives.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "catenary/array/body.h"
#include "catenary/array/creation.h"
#include "catenary/array/elementwise.h"
#include "catenary/array/reduction.h"
#include "catenary/array/sorting.h"
#include "catenary/core/error.h"
#include "catenary/core/os/process.h"

namespace catenary {
namespace {

std::string error_of(const Primitive& primitive) {
  try {
    compute(current_device(), primitive);
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

TEST(Primitives, WhatNoDeviceComputesIsRefusedByName) {
  const auto make = [](const Shape& shape, Dtype dtype) { return zeros(shape, dtype).to_device(current_device()); };
  const Array x = make({1, 2, 2}, Dtype::float32), y = make({1, 2, 2}, Dtype::int16), b = make({2}, Dtype::int32);
  Array out = make({1, 2, 2}, Dtype::float32) + 7;
  const View left = readable(x), right = readable(y), bias = readable(b), to = writable(out);
  EXPECT_EQ(
      error_of(primitives::Matmul{left, right, to}),
      "matmul: no device multiplies float32 by int16 into float32; one dtype, or 8-bit integers of one into int32");
  EXPECT_EQ((primitives::Matmul{left, left, to}.accumulator()), Dtype::float32);
  EXPECT_EQ(error_of(primitives::Matmul{left, left, to, &bias}),
            "matmul: the bias must have the result's dtype, float32, not int32");
  std::vector<bool> ok;
  EXPECT_EQ(error_of(primitives::Linalg{LinalgOp::inv, right, {}, right, ok}),
            "linalg: float32 or float64 is needed, int16 was given");
  const Array none = make({2, 0}, Dtype::float32), places = make({2}, Dtype::int64);
  EXPECT_EQ(error_of(primitives::ArgReduce{true, readable(none), 1, writable(places)}),
            "arg_reduce: axis 1 of shape (2, 0) has no elements");
  EXPECT_EQ(out.to_vector<float>(), std::vector<float>(4, 7));
}

/// Run by the next test in a process of its own.
TEST(Inside, SomeWork) {
  const DeviceScope scope(current_device());
  const Array x = (arange(6, Dtype::float32) * 2.0f).reshape({2, 3});
  sort(x);
  EXPECT_EQ(x.sum().item<float>(), 30);
}

TEST(Primitives, AreTraced) {
  os::ProcessOptions options;
  options.timeout = 100;
  options.environment = {{"CATENARY_TRACE", "kernels,ops"}, {"CATENARY_TRACE_FILE", ""}, {"GTEST_OUTPUT", ""}};
  const Device device = current_device();
  const auto result =
      os::run_process({os::program_path(), "--gtest_filter=Inside.SomeWork", "--device", device.name()}, options);
  const std::string numbered = device.is_cpu() ? "cpu:0" : device.name();
  for (const std::string& line :
       {"kernel " + numbered + " elementwise (6,) ", "kernel " + numbered + " sort (2, 3) 48 bytes ",
        "kernel " + numbered + " sum (2, 3) 28 bytes ", "op " + device.name() + " multiply ",
        "op " + device.name() + " sort 1\n", "op " + device.name() + " reduce_sum 1\n"})
    EXPECT_NE(result.errors.find(line), std::string::npos) << "expected: " << line << "\n" << result.errors;
}

}  // namespace
}  // namespace catenary
