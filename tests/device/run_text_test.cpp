// Kernels from kernel texts on the current device: their arguments, and errors before anything runs.

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "catenary/array/body.h"
#include "catenary/array/creation.h"
#include "catenary/core/error.h"
#include "catenary/device/primitives.h"
#include "tests/device/same.h"
#include "tests/texts.h"

namespace catenary {
namespace {

/// Returns the arguments of patches.shift: x and y [n, c, h, w], and a window of taps.
std::vector<TextArgument> shift_arguments(const View& x, const View& y, std::int64_t taps) {
  std::vector<TextArgument> arguments = {x, y, x.shape[1], x.shape[2], x.shape[3], taps, taps, 1, 1};
  for (const View* view : {&x, &y})
    for (const std::int64_t stride : view->strides) arguments.emplace_back(stride);
  return arguments;
}

void run(const char* text, const char* kernel, Dtype dtype, const std::vector<TextArgument>& arguments,
         std::int64_t units) {
  compute(current_device(), primitives::RunText{text, kernel, dtype, arguments, units});
}

std::string error_of(const char* text, const char* kernel, Dtype dtype, const std::vector<TextArgument>& arguments) {
  return tests::error_of([&] { run(text, kernel, dtype, arguments, 1); });
}

TEST(RunText, RunsOnEveryDtypeAndAnyStrides) {
  for (const Dtype dtype : {Dtype::float16, Dtype::bfloat16, Dtype::float32, Dtype::float64}) {
    if (dtype == Dtype::float64 && !current_device().info().has_f64) continue;
    const Array numbers = arange(240, Dtype::float32).reshape({2, 6, 4, 5}).astype(dtype);
    // a window of one tap moves nothing
    for (const Array& x : {numbers, numbers.transpose({0, 2, 3, 1}).copy().transpose({0, 3, 1, 2}),
                           numbers(slice(), slice(none, none, -1), slice(1, none), slice(none, none, 2))}) {
      const Array y = zeros(x.shape(), dtype);
      run("patches", "shift", dtype, shift_arguments(readable(x), writable(y), 1), y.size());
      EXPECT_TRUE(testing_devices::same(y, x.copy())) << dtype_name(dtype);
    }
  }
}

TEST(RunText, UnitsAreTakenOnceHoweverManyThereAre) {
  for (const std::int64_t n : {0, 1, 255, 257, 70001}) {
    const Array x = arange(n, Dtype::float32).reshape({1, 1, 1, n}), y = zeros(x.shape(), Dtype::float32);
    run("patches", "shift", Dtype::float32, shift_arguments(readable(x), writable(y), 1), n);
    EXPECT_TRUE(testing_devices::same(y, x)) << n;
  }
}

TEST(RunText, UnsuitableArgumentsAreRefusedByName) {
  const Array x = zeros({1, 1, 2, 2}, Dtype::float32), places = zeros({1, 1, 2, 2}, Dtype::int32);
  const View in = readable(x), out = writable(x), integers = readable(places);
  std::vector<TextArgument> few = shift_arguments(in, out, 1);
  few.pop_back();
  EXPECT_EQ(error_of("patches", "shift", Dtype::float32, few),
            "patches.shift: the kernel takes 17 arguments, 16 were given");
  std::vector<TextArgument> swapped = shift_arguments(in, out, 1);
  std::swap(swapped[1], swapped[2]);
  EXPECT_EQ(error_of("patches", "shift", Dtype::float32, swapped),
            "patches.shift: argument 1, 'y', is an array, and an integer was given");
  std::vector<TextArgument> real = shift_arguments(in, out, 1);
  real[5] = TextArgument(1.0);
  EXPECT_EQ(error_of("patches", "shift", Dtype::float32, real),
            "patches.shift: argument 5, 'taps_h', is an integer, and a real number was given");
  EXPECT_EQ(error_of("patches", "shift", Dtype::float32, shift_arguments(integers, out, 1)),
            "patches.shift: argument 0, 'x', is an array of float32, and one of int32 was given");
  EXPECT_EQ(error_of("resize", "resize", Dtype::float32, std::vector<TextArgument>(17, in)),
            "resize.resize: argument 2, 'lows', is an array of i32, and one of float32 was given");
  EXPECT_EQ(error_of("patches", "drift", Dtype::float32, few), "internal: no kernel 'drift' in the text 'patches'");
  // a kernel of other primitives
  EXPECT_EQ(error_of("index", "gather", Dtype::float32, few),
            "internal: index.gather: 'offsets' is not declared as kernels/signature.h wants it");
}

}  // namespace
}  // namespace catenary
