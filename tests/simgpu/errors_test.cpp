// Tests the error of a kernel that fails asynchronously: it names the operations and the function that launched it.

#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>
#include <string>

#include "catenary/array/array.h"
#include "catenary/array/creation.h"
#include "catenary/array/elementwise.h"
#include "catenary/autograd/variable.h"
#include "catenary/core/error.h"
#include "catenary/core/os/library.h"
#include "catenary/functions/connection.h"
#include "tests/simgpu/faults.h"
#include "tests/texts.h"

namespace catenary::faults {
namespace {

using tests::error_of;

/// Makes the next kernel fail on the device.
void break_next_kernel() {
  std::string why;
  const auto library = os::Library::find(vendor() == "cuda" ? "libcuda.so.1" : "libamdhip64.so.6", &why,
                                         os::Library::Mode::already_loaded);
  ASSERT_TRUE(library) << why;
  library->required<void(const char*, int)>("simgpu_fault")("kernel", 1);
}

// The tests below run each of these in a process of its own, because the device is lost.
TEST(Broken, Kernel) {
  if (!std::getenv("CATENARY_TEST_BROKEN")) return;
  const Array x = arange(5, Dtype::float32).eval();
  break_next_kernel();
  std::string line = "none";
  const std::string message = error_of<DeviceError>([&] {
    line = "multiply";
    const Array y = x * 3;
    line = "add";
    const Array z = y + 1;
    line = "eval";
    z.eval();
    line = "synchronize";
    current_device().synchronize();
  });
  std::printf("line: %s\nmessage: %s\n", line.c_str(), message.c_str());
}

TEST(Broken, Function) {
  if (!std::getenv("CATENARY_TEST_BROKEN")) return;
  const Variable x(ones({3, 4}, Dtype::float32).eval()), w(ones({2, 4}, Dtype::float32).eval());
  break_next_kernel();
  const std::string message = error_of<DeviceError>([&] { functions::linear(x, w).array().eval(); });
  std::printf("message: %s\n", message.c_str());
}

TEST(Error, ShowsLateAndListsWhatWasLaunched) {
  const auto result = again("Broken.Kernel", {{"CATENARY_TEST_BROKEN", "1"}});
  expect_says(result, "line: synchronize");
  expect_says(result, "this thread launched, newest first, program (multiply, add)");
  expect_says(result, "CATENARY_SYNC=1");
}

TEST(Error, IsExactWhenSynchronous) {
  const auto result = again("Broken.Kernel", {{"CATENARY_TEST_BROKEN", "1"}, {"CATENARY_SYNC", "1"}});
  expect_says(result, "line: multiply");
  expect_says(result, "kernel program (multiply) failed on " + vendor() + ":0");
  EXPECT_EQ(result.output.find("this thread launched"), std::string::npos);
}

TEST(Error, NamesTheFunction) {
  const auto result = again("Broken.Function", {{"CATENARY_TEST_BROKEN", "1"}, {"CATENARY_SYNC", "1"}});
  expect_says(result, "failed on " + vendor() + ":0");
  expect_says(result, "in Linear");
  expect_says(result, ", forward");
}

}  // namespace
}  // namespace catenary::faults
