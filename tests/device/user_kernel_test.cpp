// User-defined kernels on the current device. On the CPU, its C++ compiler compiles them.

#include "catenary/array/user_kernel.h"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <optional>
#include <sstream>

#include "catenary/array/creation.h"
#include "catenary/array/elementwise.h"
#include "catenary/array/manipulation.h"
#include "catenary/array/reduction.h"
#include "catenary/core/error.h"
#include "tests/device/same.h"
#include "tests/folder.h"
#include "tests/texts.h"

namespace catenary {
namespace {

using tests::error_of;

const ElementwiseKernel& squared_difference() {
  static const ElementwiseKernel kernel("T x, T y", "T z", "z = (x - y) * (x - y)", "squared_difference");
  return kernel;
}

TEST(UserKernels, OnTheCpuTheFunctionForItRuns) {
  const DeviceScope scope{Device()};
  const ElementwiseKernel kernel("float32 x, float32 y", "float32 z", "no text", "mad",
                                 {.cpu = [](float x, float y) { return x * y + 1; }});
  const Array x = arange(6).astype(Dtype::float32).reshape({2, 3});
  EXPECT_EQ(kernel(x, 2).to_vector<float>(), (std::vector<float>{1, 3, 5, 7, 9, 11}));
  EXPECT_EQ(kernel(x, x(0)).to_vector<float>(), (std::vector<float>{1, 2, 5, 1, 5, 11}));
}

/// Sets an environment variable for a while.
class Variable {
 public:
  Variable(const char* name, const char* value) : name_(name) {
    if (const char* before = std::getenv(name)) before_ = before;
    ::setenv(name, value, 1);
  }
  ~Variable() { before_ ? ::setenv(name_, before_->c_str(), 1) : ::unsetenv(name_); }

 private:
  const char* name_;
  std::optional<std::string> before_;
};

TEST(UserKernels, OnTheCpuWithoutACompilerTheErrorTeaches) {
  const DeviceScope scope{Device()};
  const ElementwiseKernel kernel("T x", "T y", "y = x + 12345", "uncompiled");
  {
    const Variable wrong("CXX", "/nowhere/c++");
    const std::string text = error_of([&] { kernel(arange(3)); });
    for (const char* word :
         {"kernel uncompiled: ", "none was found (CXX=/nowhere/c++)", "apt install g++", "opencl:N", "(.cpu)"})
      EXPECT_NE(text.find(word), std::string::npos) << text;
  }
  EXPECT_EQ(kernel(arange(3)).to_vector<std::int64_t>(), (std::vector<std::int64_t>{12345, 12346, 12347}));
}

// The text uses the library's own functions, so its bits are equal.
TEST(UserKernels, ShapesAndLayouts) {
  const ElementwiseKernel kernel("T x, float32 s", "T y", "y = ct_exp_f32(x) * s", "scaled_exp");
  const Array x = arange(24).astype(Dtype::float32).reshape({2, 3, 4}) * 0.37f - 4;
  const Array large = arange(testing_devices::large(300000)).astype(Dtype::float32) * 1e-5f;
  for (const Array& a : {x, flip(x), x.transpose(), x(slice(0, 0)), x(0, 0, 0), broadcast_to(x(0), {5, 3, 4}),
                         x(slice(0, 2), slice(2, none, -2)), large, x.astype(Dtype::float16)}) {
    const Array expected = (exp(a.astype(Dtype::float32)) * 1.5f).astype(a.dtype());
    const Array y = kernel(a, 1.5f);
    EXPECT_EQ(y.shape(), a.shape());
    EXPECT_EQ(y.dtype(), a.dtype());
    EXPECT_EQ(y.astype(Dtype::float32).to_vector<float>(), expected.astype(Dtype::float32).to_vector<float>());
  }
  const Array apart = zeros({4, 3, 2}, Dtype::float32);
  kernel(x.transpose(), 1.0f, flip(apart));
  EXPECT_EQ(flip(apart).to_vector<float>(), exp(x.transpose()).to_vector<float>());
}

// The log allows compiling kernels for CUDA and HIP, which does not work for kernels of processors.
TEST(UserKernels, AreLoggedUnlessTheyAreForAProcessor) {
  const tests::Folder folder;
  const char* const before = std::getenv("CATENARY_KERNEL_LOG");
  const std::string kept = before ? before : "";
  ::setenv("CATENARY_KERNEL_LOG", folder.path.c_str(), 1);
  const DeviceInfo info = current_device().info();
  // Mesa's llvmpipe is a processor that runs the kernels for cards
  const bool is_cpu = info.is_cpu && info.platform != "rusticl" && !std::getenv("CATENARY_GPU_FORMS");
  if (!current_device().is_cpu()) {
    const ElementwiseKernel kernel("T x", "T y", "y = x + 41", "is_logged");
    kernel(arange(3)).to_vector<double>();
  }
  before ? ::setenv("CATENARY_KERNEL_LOG", kept.c_str(), 1) : ::unsetenv("CATENARY_KERNEL_LOG");
  int count = 0;
  for (const auto& entry : std::filesystem::directory_iterator(folder.path)) {
    std::stringstream text;
    text << std::ifstream(entry.path()).rdbuf();
    count += text.str().find("x + 41") != std::string::npos;
  }
  EXPECT_EQ(count, is_cpu ? 0 : 1);
}

TEST(UserKernels, ParametersThatCannotBeRead) {
  EXPECT_NE(error_of([] { ElementwiseKernel("float32", "T y", "y = 0"); }).find("'float32' is no parameter"),
            std::string::npos);
  EXPECT_NE(error_of([] { ElementwiseKernel("T x", "", "x"); }).find("no output"), std::string::npos);
  EXPECT_NE(error_of([] { squared_difference()(1.0f); }).find("1 arguments are given, it takes 2"), std::string::npos);
}

TEST(UserKernels, ElementwiseBroadcastsAndFindsTypes) {
  const Array x = arange(6).astype(Dtype::float32).reshape({2, 3}), y = arange(3).astype(Dtype::float32) * 2;
  EXPECT_EQ(squared_difference()(x, y).to_vector<float>(), (std::vector<float>{0, 1, 4, 9, 4, 1}));
  EXPECT_EQ(squared_difference()(x.T(), 1).shape(), (Shape{3, 2}));
  EXPECT_EQ(squared_difference()(arange(4), 2).dtype(), Dtype::int64);
  for (Dtype dtype : {Dtype::float16, Dtype::bfloat16, Dtype::int8, Dtype::uint32}) {
    const Array z = squared_difference()(arange(5).astype(dtype), ones({5}, dtype));
    EXPECT_EQ(z.dtype(), dtype);
    EXPECT_EQ(z.astype(Dtype::int64).to_vector<std::int64_t>(), (std::vector<std::int64_t>{1, 0, 1, 4, 9}));
  }
  EXPECT_EQ(squared_difference()(Array::empty({0, 3}, Dtype::float32), y).shape(), (Shape{0, 3}));
  const ElementwiseKernel halved("float32 x, float32 scale", "float32 y", "y = x * scale");
  EXPECT_EQ(halved(x, 0.5).to_vector<float>()[5], 2.5f);  // numbers are cast to the parameter's type
  EXPECT_NE(error_of([&] {
              halved(x.astype(Dtype::int64), 0.5);
            }).find("parameter \"float32 x\" takes float32 here, its argument is int64"),
            std::string::npos);
  EXPECT_NE(error_of([&] { squared_difference()(x, y.astype(Dtype::int32)); }).find("parameter \"T y\""),
            std::string::npos);
}

TEST(UserKernels, RawParametersOutputsAndTheIndex) {
  const ElementwiseKernel reversed("raw T x", "T y", "y = LOAD_float32(x, n - 1 - i) + (f32)i", "reversed");
  const Array x = arange(5).astype(Dtype::float32);
  Array y = zeros({5}, Dtype::float32);
  reversed(x, y);
  EXPECT_EQ(y.to_vector<float>(), (std::vector<float>{4, 4, 4, 4, 4}));
  Array wide = zeros({5, 2}, Dtype::float32);
  reversed(x, wide(ellipsis, 1));  // a strided output
  EXPECT_EQ(sum(wide, 0).to_vector<float>(), (std::vector<float>{0, 20}));
  const ElementwiseKernel two("T x", "T up, bool odd", "up = x + 1; odd = x & 1", "two");
  const std::vector<Array> both = two.call({arange(3)});
  EXPECT_EQ(both[0].to_vector<std::int64_t>(), (std::vector<std::int64_t>{1, 2, 3}));
  EXPECT_EQ(both[1].to_vector<bool>(), (std::vector<bool>{false, true, false}));
}

TEST(UserKernels, Reductions) {
  const ReductionKernel l2norm("T x", "T y", "x * x", "a + b", "y = ct_sqrt_f32(a)", "0", "l2norm");
  const Array x = arange(6).astype(Dtype::float32).reshape({2, 3});
  EXPECT_FLOAT_EQ(l2norm(x).item<float>(), std::sqrt(55.0f));
  EXPECT_EQ(l2norm(x, 0).shape(), (Shape{3}));
  EXPECT_FLOAT_EQ(l2norm(x, 0).to_vector<float>()[2], std::sqrt(29.0f));
  EXPECT_EQ(l2norm(x, 1, true).shape(), (Shape{2, 1}));
  EXPECT_FLOAT_EQ(l2norm(ones({300, 1000}, Dtype::float32)).item<float>(), std::sqrt(300000.0f));
  EXPECT_EQ(l2norm(Array::empty({0, 2}, Dtype::float32), 0).to_vector<float>(), (std::vector<float>{0, 0}));
}

TEST(UserKernels, ReductionsIntoWhatIsGiven) {
  const ReductionKernel total(
      "T x", "R y", "x", "a + b", "y = a", "0", "total_into",
      {.cpu = {[](double x) { return x; }, [](double a, double b) { return a + b; }, [](double a) { return a; }, 0}});
  const Array x = arange(6).astype(Dtype::float32).reshape({2, 3}), wide = zeros({2, 2}, Dtype::float64);
  const Array y = wide(ellipsis, 1);  // not contiguous
  EXPECT_TRUE(total({x, y}, 1).is(y));
  EXPECT_EQ(wide.to_vector<double>(), (std::vector<double>{0, 3, 0, 12}));
  EXPECT_NE(error_of([&] {
              total({x, y}, 0);
            }).find("Out shape is mismatched: y has (2,), expected (3,)"),
            std::string::npos);
  EXPECT_NE(error_of([&] { total(x, 1); }).find("no argument determines the type R of y"), std::string::npos);
}

// Works everywhere, with its functions for the CPU.
TEST(UserKernels, ReductionsOnTheCpuToo) {
  const ReductionKernel norm("T x, T y", "T z", "x * y", "a + b", "z = ct_sqrt_f32(a)", "0", "norm_of_product",
                             {.cpu = {[](float x, float y) { return x * y; }, [](float a, float b) { return a + b; },
                                      [](float a) { return std::sqrt(a); }, 0}});
  const Array x = arange(6).astype(Dtype::float32).reshape({2, 3});
  EXPECT_FLOAT_EQ(norm({x, x}).item<float>(), std::sqrt(55.0f));
  EXPECT_EQ(norm({x, x}, 0).to_vector<float>(), (std::vector<float>{3, std::sqrt(17.0f), std::sqrt(29.0f)}));
  EXPECT_EQ(norm({x, 4}, 1).to_vector<float>(), (std::vector<float>{std::sqrt(12.0f), std::sqrt(48.0f)}));
  EXPECT_EQ(norm({x, x(0)}, 1, true).shape(), (Shape{2, 1}));
  EXPECT_EQ(norm({flip(x, 1), x.transpose().copy().transpose()}, Axes{0, 1}).dtype(), Dtype::float32);
  EXPECT_EQ(norm({Array::empty({0, 2}, Dtype::float32), 1.0f}, 0).to_vector<float>(), (std::vector<float>{0, 0}));
  EXPECT_EQ(norm({Array::empty({0, 2}, Dtype::float32), 1.0f}, 1).shape(), (Shape{0}));
  const ReductionKernel largest(
      "T x", "T y", "x", "a > b ? a : b", "y = a", "-100", "largest",
      {.cpu = {[](int x) { return x; }, [](int a, int b) { return std::max(a, b); }, [](int a) { return a; }, -100}});
  EXPECT_EQ(largest(arange(7)).dtype(), Dtype::int64);
  EXPECT_EQ(largest(arange(7)).item<int>(), 6);
  EXPECT_THROW(ReductionKernel("T x, T y", "T z", "x", "a + b", "z = a", "0", "unary",
                               {.cpu = {[](float v) { return v; }, [](float a, float b) { return a + b; },
                                        [](float a) { return a; }, 0}}),
               ValueError);
}

TEST(UserKernels, ReductionsOfLongRowsAndManyColumns) {
  const ReductionKernel total("T x", "T y", "x", "a + b", "y = a", "0", "total");
  const ReductionKernel largest("T x", "T y", "x", "a > b ? a : b", "y = a", "-9223372036854775807", "largest");
  for (const Shape& shape : {Shape{3, 200}, Shape{3, testing_devices::large(70000)},
                             Shape{testing_devices::large(70000), 3}, Shape{2, 127, 5}, Shape{1, 128}}) {
    const Array x = (arange(shape.product()) * 7919 % 10007 - 5000).reshape(shape);
    for (int axis = 0; axis < shape.size(); ++axis) {
      EXPECT_EQ(total(x, axis).to_vector<std::int64_t>(), sum(x, axis).to_vector<std::int64_t>());
      EXPECT_EQ(largest(x, axis).to_vector<std::int64_t>(), max(x, axis).to_vector<std::int64_t>());
    }
    EXPECT_EQ(total(x).item<std::int64_t>(), sum(x).item<std::int64_t>());
    EXPECT_EQ(total(flip(x, 0), 0).to_vector<std::int64_t>(), sum(x, 0).to_vector<std::int64_t>());
  }
  // inputs may use the variable names of the map and the reduction
  const ReductionKernel dot("T a, T b", "T y", "a * b", "a + b", "y = a", "0", "dot");
  const Array x = arange(40000) % 100;
  EXPECT_EQ(dot({x, 3}).item<std::int64_t>(), 3 * sum(x).item<std::int64_t>());
  // i is the element's index
  const ReductionKernel weighted("T x", "T y", "x * (T)i", "a + b", "y = a", "0", "weighted");
  EXPECT_EQ(weighted(x).item<std::int64_t>(), sum(x * arange(40000)).item<std::int64_t>());
}

TEST(UserKernels, NamesAreTheUsers) {
  for (const char* name : {"", "3d", "my kernel", "a-b", "ö"}) {
    EXPECT_NE(error_of([&] { ElementwiseKernel("T x", "T y", "y = x", name); }).find("expected a name of letters"),
              std::string::npos);
    EXPECT_NE(error_of([&] {
                ReductionKernel("T x", "T y", "x", "a + b", "y = a", "0", name);
              }).find("expected a name of letters"),
              std::string::npos);
  }
  for (const char* name : {"kernel", "float", "global", "main", "reduce_pair", "for"}) {
    const ElementwiseKernel plus_one("T x", "T y", "y = x + 1", name);
    EXPECT_EQ(plus_one(arange(3)).to_vector<std::int64_t>(), (std::vector<std::int64_t>{1, 2, 3}));
    const ReductionKernel total("T x", "T y", "x", "a + b", "y = a", "0", name);
    EXPECT_EQ(total(arange(4)).item<std::int64_t>(), 6);
  }
}

TEST(UserKernels, WholeKernelsAndModules) {
  const RawModule module(
      "KERNEL REQD(16) scale(GLOBAL f32* x, i64 at, i32 n, f32 by) { for (i32 i = GLOBAL_ID; i < n; i += GLOBAL_SIZE) "
      "x[at + i] *= by; }\n"
      "KERNEL REQD(16) flip(GLOBAL const f32* x, i64 x_at, GLOBAL f32* y, i64 y_at, i32 n) {\n"
      "  LOCAL f32 shared[16];\n  shared[LOCAL_ID] = LOCAL_ID < n ? x[x_at + LOCAL_ID] : 0.0f;\n  BARRIER;\n"
      "  if (LOCAL_ID < n) y[y_at + LOCAL_ID] = shared[n - 1 - LOCAL_ID];\n}\n");
  const Array x = arange(8).astype(Dtype::float32), y = zeros({8}, Dtype::float32);
  module.get_function("scale")(2, 16, x(slice(2, 8)), 6, 10.0f);
  EXPECT_EQ(x.to_vector<float>(), (std::vector<float>{0, 1, 20, 30, 40, 50, 60, 70}));
  module.get_function("flip")(1, 16, x, y, 8);
  EXPECT_EQ(y.to_vector<float>(), (std::vector<float>{70, 60, 50, 40, 30, 20, 1, 0}));
}

TEST(UserKernels, VariablesOfAModule) {
  if (current_device().is_cpu()) return;
  const auto module = [] {
    return RawModule(
        "#ifdef __OPENCL_VERSION__\n__kernel void count(__global int* x, long at) {}\n#else\n"
        "__device__ int n = 3;\n"
        "extern \"C\" __global__ void count(int* x, long long at) { x[at] = n; n += 10; }\n"
        "extern \"C\" __global__ void again(int* x, long long at) { x[at] = n; }\n#endif\n",
        {.portable = false, .variables = true});
  };
  const RawModule one = module(), other = module();
  if (current_device().name().starts_with("opencl")) {
    EXPECT_EQ(error_of([&] { one.get_global("n", current_device()); }),
              "n: modules of this interface have no variables");
    return;
  }
  const Array x = zeros({1}, Dtype::int32);
  const auto values = [&](const RawModule& m, const char* name) {
    m.get_function(name)(1, 1, x);
    return x.to_vector<std::int32_t>().front();
  };
  EXPECT_EQ(values(one, "count"), 3);
  EXPECT_EQ(values(one, "again"), 13);
  EXPECT_EQ(values(other, "again"), 3);
  const Array bytes = one.get_global("n", current_device());
  EXPECT_EQ(bytes.to_vector<std::uint8_t>(), (std::vector<std::uint8_t>{13, 0, 0, 0}));
  bytes.fill(1);
  EXPECT_EQ(values(one, "again"), 0x01010101);
  EXPECT_NE(error_of([&] { one.get_global("m", current_device()); }).find("cannot find a variable (m)"),
            std::string::npos);
}

// Portable modules support `__device__` on all devices with such variables.
TEST(UserKernels, VariablesOfAPortableModule) {
  if (current_device().name().starts_with("opencl")) return;
  const std::string declared = current_device().is_cpu() ? "KERNEL count(GLOBAL i32* x, i64 at);\n" : "";
  const std::string code = declared +
                           "__device__ i32 times = 3;\nDEVICE i32 next(i32 by) { return times += by; }\n"
                           "// KERNEL none(GLOBAL i32* x) is not there,\n/* nor is KERNEL other(x) */\n"
                           "KERNEL count(GLOBAL i32* x, i64 at) { x[at] = next(10); }\n"
                           "KERNEL REQD(1) again(GLOBAL i32* x, i64 at, i32 by) { x[at] = next(by); }\n";
  const RawModule one(code, {.variables = true}), other(code, {.variables = true});
  const RawKernel alone(code, "count", {.variables = true});
  const Array x = zeros({1}, Dtype::int32);
  const auto value = [&] { return x.to_vector<std::int32_t>().front(); };
  one.get_function("count")(1, 1, x);
  EXPECT_EQ(value(), 13);
  one.get_function("again")(1, 1, x, 1);
  EXPECT_EQ(value(), 14);
  other.get_function("again")(1, 1, x, 2);
  EXPECT_EQ(value(), 5);
  alone(1, 1, x);
  alone(1, 1, x);
  EXPECT_EQ(value(), 23);
  const Array bytes = one.get_global("times", current_device());
  EXPECT_EQ(bytes.to_vector<std::uint8_t>(), (std::vector<std::uint8_t>{14, 0, 0, 0}));
  bytes.fill(1);
  one.get_function("again")(1, 1, x, 1);
  EXPECT_EQ(value(), 0x01010102);
  EXPECT_NE(error_of([&] { one.get_global("m", current_device()); }).find("cannot find a variable (m)"),
            std::string::npos);
}

TEST(UserKernels, StaticVariablesOfAFunctionAreAModules) {
  const DeviceScope scope{Device()};
  const std::string code =
      "DEVICE i32 next() { static i32 calls = 0; return ++calls; }\n"
      "KERNEL one_call(GLOBAL i32* x, i64 at) { x[at] = next(); }\n"
      "KERNEL two_calls(GLOBAL i32* x, i64 at) { next(); x[at] = next(); }\n";
  const RawModule module(code, {.variables = true});
  const Array x = zeros({1}, Dtype::int32);
  for (const auto& [name, expected] : {std::pair("one_call", 1), {"two_calls", 3}, {"one_call", 4}}) {
    module.get_function(name)(1, 1, x);
    EXPECT_EQ(x.to_vector<std::int32_t>().front(), expected);
  }
  EXPECT_NE(error_of([&] { RawModule(code).get_global("calls", Device()); }).find("made without .variables"),
            std::string::npos);
}

// A text in the device's language can use all axes of a launch, and shared memory whose size the launch sets.
TEST(UserKernels, LaunchesOfThreeAxes) {
  EXPECT_EQ(LaunchShape(6, 64).text(), "6 groups of 64");
  EXPECT_EQ(LaunchShape({3, 2, 1}, {16, 4, 1}).text(), "3 x 2 groups of 16 x 4");
  EXPECT_EQ(LaunchShape({1, 1, 1}, {1, 1, 4}, 512).text(), "1 x 1 x 1 groups of 1 x 1 x 4, with 512 bytes each");
  if (current_device().is_cpu()) {
    const RawKernel own("__global__ void f(int* x) {}", "f", {.portable = false});
    EXPECT_NE(error_of([&] { own(1, 1, zeros({1}, Dtype::int32)); }).find("takes portable texts only"),
              std::string::npos);
    const char* const text = "KERNEL f(GLOBAL i32* x, i64 at) {}";
    const RawKernel portable(text, "f");
    portable(1, 1, zeros({1}, Dtype::int32));  // must not make the text below portable
    const RawKernel said_to_be_own(text, "f", {.portable = false});
    EXPECT_NE(error_of([&] { said_to_be_own(1, 1, zeros({1}, Dtype::int32)); }).find("takes portable texts only"),
              std::string::npos);
    return;
  }
  const RawKernel kernel(
      "#ifdef __OPENCL_VERSION__\n"
      "__kernel void places(__global int* x, long at, __local int* t) {\n"
      "#define ITEM(k) (int)get_local_id(k)\n#define ITEMS(k) (int)get_local_size(k)\n"
      "#define GROUP_AT(k) (int)get_group_id(k)\n#define GROUPS(k) (int)get_num_groups(k)\n"
      "#define BARRIER barrier(CLK_LOCAL_MEM_FENCE)\n"
      "#else\n"
      "extern \"C\" __global__ void places(int* x, long long at) {\n  extern __shared__ int t[];\n"
      "#define AXIS(v, k) (int)((k) == 0 ? v.x : (k) == 1 ? v.y : v.z)\n"
      "#define ITEM(k) AXIS(threadIdx, k)\n#define ITEMS(k) AXIS(blockDim, k)\n"
      "#define GROUP_AT(k) AXIS(blockIdx, k)\n#define GROUPS(k) AXIS(gridDim, k)\n"
      "#define BARRIER __syncthreads()\n"
      "#endif\n"
      "  int n = ITEMS(0) * ITEMS(1) * ITEMS(2), i = ITEM(0) + ITEMS(0) * (ITEM(1) + ITEMS(1) * ITEM(2));\n"
      "  int group = GROUP_AT(0) + GROUPS(0) * (GROUP_AT(1) + GROUPS(1) * GROUP_AT(2));\n"
      "  t[i] = group * n + i;\n  BARRIER;\n  x[at + group * n + i] = t[n - 1 - i];\n}\n",
      "places", {.portable = false});
  for (const auto& [groups, items] :
       {std::pair(std::array<std::int64_t, 3>{2, 3, 4}, std::array<int, 3>{3, 2, 2}), {{5, 1, 1}, {1, 4, 1}}}) {
    const LaunchShape shape(groups, items, 4 * static_cast<std::size_t>(items[0] * items[1] * items[2]));
    const std::int64_t n = shape.items_of_group(), count = shape.group_count();
    const Array x = zeros({n * count}, Dtype::int32);
    kernel(shape, x);
    EXPECT_EQ(x.to_vector<int>(), flip(arange(n * count, Dtype::int32).reshape({count, n}), 1).to_vector<int>());
  }
}

/// Launches work-items that write their position, passed through shared memory to the last work-item of their group.
void expect_places(const RawKernel& kernel, std::array<std::int64_t, 3> groups, std::array<int, 3> items) {
  const LaunchShape shape(groups, items, 4 * static_cast<std::size_t>(items[0] * items[1] * items[2]));
  const std::int64_t n = shape.items_of_group(), count = shape.group_count();
  const Array x = zeros({n * count + 1}, Dtype::int32);
  kernel(shape, x(slice(1, none)));
  EXPECT_EQ(x(slice(1, none)).to_vector<int>(),
            flip(arange(n * count, Dtype::int32).reshape({count, n}), 1).to_vector<int>())
      << shape.text();
}

TEST(UserKernels, PortableTextsKnowAllAxesAndMemoryOfALaunchsSize) {
  const RawKernel kernel(
      "KERNEL places_of_all(GLOBAL i32* x, i64 at LOCAL_PARAMETER(i32, t)) {\n  LOCAL_MEMORY(i32, t);\n"
      "  i32 n = LOCAL_SIZE_OF(0) * LOCAL_SIZE_OF(1) * LOCAL_SIZE_OF(2);\n"
      "  i32 i = LOCAL_ID_OF(0) + LOCAL_SIZE_OF(0) * (LOCAL_ID_OF(1) + LOCAL_SIZE_OF(1) * LOCAL_ID_OF(2));\n"
      "  i32 group = GROUP_ID_OF(0) + NUM_GROUPS_OF(0) * (GROUP_ID_OF(1) + NUM_GROUPS_OF(1) * GROUP_ID_OF(2));\n"
      "  t[i] = group * n + i;\n  BARRIER;\n  x[at + group * n + i] = t[n - 1 - i];\n}\n",
      "places_of_all");
  expect_places(kernel, {2, 3, 4}, {3, 2, 2});
  expect_places(kernel, {5, 1, 1}, {1, 4, 1});
  expect_places(kernel, {7, 1, 1}, {1, 1, 1});  // one work-item per group
  if (!current_device().is_cpu()) return;
  expect_places(kernel, {3, 1, 2}, {16, 8, 8});
  EXPECT_EQ(kernel.attributes(current_device()).at("max_threads_per_block"), 1024);
  for (const std::array<int, 3>& items :
       {std::array{1025, 1, 1}, {32, 33, 1}, {0, 1, 1}, {1 << 16, 1 << 16, 1 << 16}}) {
    const std::string text = error_of([&] { kernel({{1, 1, 1}, items}, zeros({1}, Dtype::int32)); });
    EXPECT_NE(text.find("the processor takes 1 to 1024 work-items in a group"), std::string::npos) << text;
  }
  EXPECT_NE(error_of([&] {
              kernel({{1, 70000, 1}, {1, 1, 1}}, zeros({1}, Dtype::int32));
            }).find("up to 2147483647 x 65535 x 65535 groups"),
            std::string::npos);
}

// Each work-item waits many times, and some return early.
TEST(UserKernels, WorkItemsWaitForEachOther) {
  const RawKernel total(
      "KERNEL REQD(32) tree(GLOBAL const i32* x, i64 x_at, GLOBAL i32* y, i64 y_at, i32 rounds) {\n"
      "  LOCAL i32 part[32];\n  i32 all = 0;\n"
      "  for (i32 round = 0; round < rounds; ++round) {\n"
      "    part[LOCAL_ID] = x[x_at + GLOBAL_ID] + round;\n    BARRIER;\n"
      "    for (i32 step = 16; step > 0; step /= 2) {\n"
      "      if (LOCAL_ID < step) part[LOCAL_ID] += part[LOCAL_ID + step];\n      BARRIER;\n    }\n"
      "    all += part[0];\n    BARRIER;\n  }\n"
      "  if (LOCAL_ID > 1) return;\n  y[y_at + GROUP_ID * 2 + LOCAL_ID] = all + LOCAL_ID;\n}\n",
      "tree");
  const std::int64_t groups = 21;
  const Array x = arange(groups * 32, Dtype::int32) * 7 % 101, y = zeros({groups * 2}, Dtype::int32);
  total(groups, 32, x, y, 3);
  const Array sums = sum(x.reshape({groups, 32}), 1).astype(Dtype::int32) * 3 + 32 * 3;
  EXPECT_EQ(y.to_vector<int>(), (sums.reshape({groups, 1}) + arange(2, Dtype::int32)).to_vector<int>());
}

// Numbers and structures of whole and partial words, as many as fit a launch.
TEST(UserKernels, NumbersOfManySizes) {
  const std::array<std::int32_t, 4> four{1, 2, 3, 4};
  const std::array<std::int32_t, 5> five{5, 6, 7, 8, 9};
  const std::vector<char> many(4097);
  EXPECT_NE(error_of([&] { RawKernel::Argument(many.data(), many.size()); }).find("up to 4096 bytes, 4097 are given"),
            std::string::npos);
  const RawKernel kernel(
      "typedef struct { i32 a, b, c, d; } four;\ntypedef struct { i32 a, b, c; } three;\n"
      "typedef struct { i32 a, b, c, d, e; } five;\n"
      "KERNEL REQD(16) sizes(GLOBAL i32* x, i64 at, i8 small, four v, i32 n, three w, four last, five more) {\n"
      "  if (GLOBAL_ID > 0) return;\n  x += at;\n  x[0] = small; x[1] = v.a; x[2] = v.b; x[3] = v.c; x[4] = v.d;\n"
      "  x[5] = n; x[6] = w.a; x[7] = w.b; x[8] = w.c; x[9] = last.a; x[10] = last.d; x[11] = more.e;\n}\n",
      "sizes");
  const Array x = zeros({13}, Dtype::int32);
  const RawKernel::Argument whole(&four, 16), part(&four, 12), more(&five, 20);
  kernel.launch({1, 16}, {x(slice(1, 13)), std::int8_t{-7}, whole, 70, part, whole, more});
  EXPECT_EQ(x.to_vector<int>(), (std::vector<int>{0, -7, 1, 2, 3, 4, 70, 1, 2, 3, 1, 4, 9}));
  if (current_device().is_cpu()) {
    EXPECT_EQ(error_of([&] {
                kernel.launch({1, 16}, {x, std::int8_t{1}});
              }),
              "kernel sizes takes 8 arguments, 3 are given");
    EXPECT_EQ(error_of([&] {
                kernel.launch({1, 16}, {x, whole, whole, 70, part, whole, more});
              }),
              "kernel sizes: argument 2 has 16 bytes, its parameter 1");
    return;
  }
  EXPECT_NE(error_of([&] {
              kernel.launch({1, 16}, std::vector<RawKernel::Argument>(400, whole));
            }).find("more than 320 arguments"),
            std::string::npos);
  EXPECT_NE(error_of([&] {
              kernel.launch({1, 16}, {x, zeros({1}, Dtype::int32).to_device(Device())});
            }).find("its arguments are on"),
            std::string::npos);
}

TEST(UserKernels, ACompilersWordsNameTheUsersLine) {
  const ElementwiseKernel wrong("T x", "T y", "y = x;\ny = nonsense(x)", "wrong");
  const std::string text = error_of([&] { wrong(arange(3)); });
  EXPECT_NE(text.find("kernel wrong cannot be compiled"), std::string::npos) << text;
  EXPECT_NE(text.find("nonsense"), std::string::npos) << text;
  const ReductionKernel wrong_pair("T x", "T y", "x", "a +\nnonsense(b)", "y = a", "0", "wrong_pair");
  const std::string pair_text = error_of([&] { wrong_pair(arange(3)); });
  EXPECT_NE(pair_text.find("kernel wrong_pair cannot be compiled"), std::string::npos) << pair_text;
  EXPECT_NE(pair_text.find("reduce_expr"), std::string::npos) << pair_text;
  const Array fine = squared_difference()(arange(3), 1);  // the device still works
  EXPECT_EQ(fine.to_vector<std::int64_t>(), (std::vector<std::int64_t>{1, 0, 1}));
}

}  // namespace
}  // namespace catenary
