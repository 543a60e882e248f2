// Tests compute for every primitive on every device: it rejects unsupported arguments before anything runs, and writes
// to CATENARY_TRACE.

#include "catenary/device/primitives.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <sstream>
#include <string>
#include <vector>

#include "catenary/array/body.h"
#include "catenary/array/creation.h"
#include "catenary/array/elementwise.h"
#include "catenary/array/reduction.h"
#include "catenary/array/sorting.h"
#include "catenary/core/error.h"
#include "catenary/core/os/process.h"
#include "tests/texts.h"

namespace catenary {
namespace {

std::string error_of(const Primitive& primitive) {
  return tests::error_of([&] { compute(current_device(), primitive); });
}

TEST(Primitives, UnsupportedOperationsAreRefusedByName) {
  const auto make = [](const Shape& shape, Dtype dtype) { return zeros(shape, dtype).to_device(current_device()); };
  const Array x = make({1, 2, 2}, Dtype::float32), y = make({1, 2, 2}, Dtype::int16), b = make({2}, Dtype::int32);
  Array out = make({1, 2, 2}, Dtype::float32) + 7;
  const View left = readable(x), right = readable(y), bias = readable(b), to = writable(out);
  EXPECT_EQ(
      error_of(primitives::Matmul{left, right, to}),
      "matmul: no device multiplies float32 by int16 into float32; expected one dtype, or 8-bit integers into int32, "
      "or bfloat16 into float32");
  EXPECT_EQ((primitives::Matmul{left, left, to}.accumulator()), Dtype::float32);
  const Array half = make({1, 2, 2}, Dtype::bfloat16);
  const View narrow = readable(half);
  if (current_device().is_cpu()) {
    EXPECT_EQ(error_of(primitives::Matmul{narrow, narrow, to}), "");
    EXPECT_EQ(out.to_vector<float>(), std::vector<float>(4));
    out.fill(7);
  } else {
    EXPECT_NE(error_of(primitives::Matmul{narrow, narrow, to}).find("does not multiply bfloat16 into float32"),
              std::string::npos);
  }
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

/// Run by the next tests in a separate process.
TEST(Inside, SomeWork) {
  const DeviceScope scope(current_device());
  const Array x = (arange(6, Dtype::float32) * 2.0f).reshape({2, 3});
  sort(x);
  EXPECT_EQ(x.sum().item<float>(), 30);
}

/// Returns the output of a process that does this work.
std::string traced(const std::string& what) {
  os::ProcessOptions options;
  options.timeout = 100;
  options.environment = {{"CATENARY_TRACE", what}, {"CATENARY_TRACE_FILE", ""}, {"GTEST_OUTPUT", ""}};
  const auto result = os::run_process(
      {os::program_path(), "--gtest_filter=Inside.SomeWork", "--device", current_device().name()}, options);
  EXPECT_TRUE(result.ok()) << result.output << result.errors;
  return result.errors;
}

TEST(Primitives, AreTraced) {
  const Device device = current_device();
  const std::string numbered = device.is_cpu() ? "cpu:0" : device.name(), text = traced("kernels,counts");
  for (const std::string& line :
       {"kernel " + numbered + " elementwise (6,) ", "kernel " + numbered + " sort (2, 3) float32 48 bytes ",
        "kernel " + numbered + " sum (2, 3) float32 28 bytes ", "op " + device.name() + " multiply ",
        "op " + device.name() + " sort 1\n", "op " + device.name() + " reduce_sum 1\n"})
    EXPECT_NE(text.find(line), std::string::npos) << "expected: " << line << "\n" << text;
}

/// CATENARY_TRACE=ops prints kinds of work by decreasing share with counts and times, and the total at the end.
TEST(Primitives, TheirTimesAreSummedUp) {
  std::istringstream lines(traced("ops"));
  double times = 0, shares = 0, before = 1e300;
  std::vector<std::string> kinds;
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line);
    std::string op, device, name, ms, percent;
    std::int64_t count = 0;
    double time = 0, share = 0;
    if (!(words >> op) || op != "op") continue;
    ASSERT_TRUE(words >> device >> name >> count >> time >> ms >> share >> percent) << line;
    EXPECT_EQ(ms + percent, "ms%") << line;
    EXPECT_GE(count, 1) << line;
    kinds.push_back(name);
    if (device == "all") {
      EXPECT_NEAR(time, times, 0.001 * static_cast<double>(kinds.size())) << line;
      EXPECT_NEAR(shares, 100, 0.1) << line;
      EXPECT_NE(line.find("ms since the first)"), std::string::npos) << line;
      continue;
    }
    EXPECT_LE(time, before) << line;
    before = time, times += time, shares += share;
  }
  for (const char* kind : {"sort", "reduce_sum", "total"})
    EXPECT_NE(std::find(kinds.begin(), kinds.end(), kind), kinds.end()) << kind;
  ASSERT_FALSE(kinds.empty());
  EXPECT_EQ(kinds.back(), "total");
}

}  // namespace
}  // namespace catenary
