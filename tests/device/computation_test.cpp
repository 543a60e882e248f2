// Tests a device's report of its last product and convolution.

#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "catenary/array/array.h"
#include "catenary/array/body.h"
#include "catenary/array/creation.h"
#include "catenary/array/linalg.h"
#include "catenary/backends/gpu/matrix_units.h"
#include "catenary/core/config.h"
#include "catenary/core/error.h"
#include "catenary/core/os/process.h"
#include "catenary/device/backend.h"
#include "catenary/device/computations.h"
#include "catenary/device/device.h"
#include "catenary/device/libraries.h"
#include "catenary/functions/functions.h"

namespace catenary {
namespace {

void multiply(Dtype dtype, std::int64_t n = 40) { matmul(ones({n, n}, dtype), ones({n, n}, dtype)).eval(); }

std::optional<Computation> last(const char* kind) { return last_computation(current_device(), kind); }

void convolve(std::int64_t window, Dtype dtype = Dtype::float32) {
  functions::convolution_2d(ones({2, 3, 9, 9}, dtype), ones({5, 3, window, window}, dtype)).array().eval();
}

/// Expects either units or a reason why none ran, and no unintended empty fields.
void expect_whole(const std::optional<Computation>& c, const char* kind, Dtype dtype) {
  ASSERT_TRUE(c);
  EXPECT_EQ(c->kind, kind);
  EXPECT_FALSE(c->library.empty());
  EXPECT_EQ(c->dtype, dtype);
  EXPECT_NE(c->compute.find(" sums of "), std::string::npos) << c->compute;
  EXPECT_NE(c->units.empty(), c->why_not.empty()) << c->text();
  EXPECT_TRUE(c->told || c->units.empty());
  for (const std::string& part : {c->library, c->algorithm, c->compute, c->units, c->why_not})
    EXPECT_NE(c->text().find(part), std::string::npos) << c->text();
}

TEST(Computation, OfTheLastProduct) {
  const bool f64 = current_device().info().has_f64;
  for (const Dtype dtype : {Dtype::float32, Dtype::float16, Dtype::bfloat16, Dtype::int32, Dtype::float64}) {
    if (dtype == Dtype::float64 && !f64) continue;
    multiply(dtype);
    expect_whole(last("blas"), "blas", dtype);
  }
}

TEST(Computation, OfTheLastConvolution) {
  multiply(Dtype::float16);
  convolve(2);
  expect_whole(last("dnn"), "dnn", Dtype::float32);
  expect_whole(last("blas"), "blas", Dtype::float16);  // the report of the other kind is unchanged
  convolve(2, Dtype::float16);
  expect_whole(last("dnn"), "dnn", Dtype::float16);
  if (current_device().is_cpu()) return;
  convolve(1);  // runs a product
  expect_whole(last("dnn"), "blas", Dtype::float32);
}

TEST(Computation, GradientsAreConvolutionsToo) {
  const Variable x(ones({2, 3, 9, 9}, Dtype::float32)), w(ones({5, 3, 2, 2}, Dtype::float32));
  const Variable y = functions::sum(functions::convolution_2d(x, w));
  y.backward();
  w.grad().eval();
  expect_whole(last("dnn"), "dnn", Dtype::float32);
}

TEST(Computation, NothingIsTheLastOne) {
  multiply(Dtype::float32);
  const std::optional<Computation> before = last("blas");
  matmul(ones({0, 4}, Dtype::float16), ones({4, 3}, Dtype::float16)).eval();
  EXPECT_EQ(last("blas"), before);
}

TEST(Computation, EachThreadHasItsOwn) {
  multiply(Dtype::float32);
  const Device device = current_device();
  std::thread([&] {
    device.use();
    EXPECT_FALSE(last("blas"));
    EXPECT_FALSE(last("dnn"));
    multiply(Dtype::float16);
    EXPECT_EQ(last("blas").value().dtype, Dtype::float16);
  }).join();
  EXPECT_EQ(last("blas").value().dtype, Dtype::float32);
}

TEST(Computation, EachDeviceHasItsOwn) {
  multiply(Dtype::float16);
  const Device device = current_device();
  if (device.is_cpu()) return;
  const DeviceScope scope{Device()};
  multiply(Dtype::float32);
  EXPECT_EQ(last("blas").value().dtype, Dtype::float32);
  EXPECT_EQ(last_computation(device, "blas").value().dtype, Dtype::float16);
}

TEST(Computation, OtherKindsAreRefused) {
  for (const char* kind : {"", "fft", "BLAS"}) {
    try {
      last(kind);
      FAIL() << kind;
    } catch (const ValueError& error) {
      EXPECT_EQ(error.what(),
                std::string("last_computation: expected a kind of blas, dnn, attention, got '") + kind + "'");
    }
  }
}

TEST(Computations, EqualOnesAreKeptOnce) {
  Computations all("here");
  const Computation one{
      .kind = "blas", .library = "One", .algorithm = {}, .compute = "sums", .units = {}, .why_not = "no"};
  Computation other = one;
  other.told = false;
  const Computation& kept = all.keep(one);
  EXPECT_EQ(&all.keep(one), &kept);
  EXPECT_NE(&all.keep(other), &kept);
  EXPECT_EQ(kept.text(), "One: sums; no matrix units: no");
  EXPECT_EQ(all.keep(other).text(), "One: sums; matrix units are not told: no");
  other.units = "Tensor Cores";
  other.algorithm = "algorithm 3";
  EXPECT_EQ(other.text(), "One, algorithm 3: sums, by Tensor Cores");
  EXPECT_EQ(all.last(ComputationKind::product), nullptr);
  all.note(ComputationKind::convolution, kept);
  EXPECT_EQ(all.last(ComputationKind::product), nullptr);
  EXPECT_EQ(all.last(ComputationKind::convolution), &kept);
}

TEST(Computations, ATableMakesEachOnce) {
  Computations all("here");
  ComputationTable<3> table;
  int made = 0;
  const auto get = [&](std::size_t number) -> const Computation& {
    return table.get(number, [&]() -> const Computation& {
      ++made;
      Computation c;
      c.library = std::to_string(number);
      return all.keep(c);
    });
  };
  EXPECT_EQ(get(2).library, "2");
  EXPECT_EQ(get(0).library, "0");
  EXPECT_EQ(&get(2), &get(2));
  EXPECT_EQ(made, 2);
}

// ---- matrix units of cards ----

DeviceInfo card(const char* arch) {
  DeviceInfo info;
  info.arch = arch;
  return info;
}

TEST(MatrixUnits, OfArchitectures) {
  for (const char* arch : {"sm_70", "sm_75", "sm_80", "sm_90", "sm_120"})
    EXPECT_EQ(gpu::matrix_units(card(arch)), "Tensor Cores") << arch;
  for (const char* arch : {"gfx908", "gfx90a:sramecc+:xnack-", "gfx942", "gfx950", "gfx1100", "gfx1201"})
    EXPECT_EQ(gpu::matrix_units(card(arch)), "Matrix Cores") << arch;
  for (const char* arch : {"sm_61", "gfx900", "gfx906", "gfx1030", "", "AMD EPYC"})
    EXPECT_EQ(gpu::matrix_units(card(arch)), "") << arch;
}

TEST(MatrixUnits, Limits) {
  struct Case {
    const char* arch;
    Dtype dtype;
    bool tf32;
    const char* lacks;
  };
  constexpr const char* kOff = "TF32 off: config.tf32 is false, and Tensor Cores take float32 as TF32 alone";
  for (const Case& c :
       {Case{"sm_90", Dtype::float16, false, ""},
        {"sm_90", Dtype::bfloat16, false, ""},
        {"sm_90", Dtype::float64, false, ""},
        {"sm_90", Dtype::float32, false, kOff},
        {"sm_90", Dtype::float32, true, ""},
        {"sm_75", Dtype::float16, false, ""},
        {"sm_75", Dtype::bfloat16, false, "dtype: Tensor Cores of sm_75 do not take bfloat16"},
        {"sm_75", Dtype::float32, true, "dtype: Tensor Cores of sm_75 do not take float32"},
        {"sm_75", Dtype::float64, false, "dtype: Tensor Cores of sm_75 do not take float64"},
        {"sm_90", Dtype::int32, false, "dtype: no library here multiplies int32"},
        {"sm_61", Dtype::float16, false, "the device lacks them: sm_61 has no matrix units that are known"},
        {"gfx90a:sramecc+", Dtype::float32, false, ""},
        {"gfx908", Dtype::float64, false, "dtype: Matrix Cores of gfx908 do not take float64"},
        {"gfx1100", Dtype::float32, true, "dtype: Matrix Cores of gfx1100 do not take float32"},
        {"gfx1100", Dtype::bfloat16, true, ""}})
    EXPECT_EQ(gpu::lacks_matrix_units(card(c.arch), c.dtype, c.tf32), c.lacks) << c.arch << " " << c.dtype;
}

// ---- the trace ----

/// Run by the test below in a separate process. It also runs as a normal test.
TEST(InsideComputation, ThreeProductsOfTwoDtypes) {
  for (int i = 0; i < 2; ++i) multiply(Dtype::float32);
  multiply(Dtype::float16);
}

TEST(Computation, IsTracedOnce) {
  const std::string device = current_device().name();
  const os::ProcessResult result =
      os::run_process({os::program_path(), "--gtest_filter=InsideComputation.*", "--device", device},
                      {.timeout = 100, .environment = {{"CATENARY_TRACE", "libraries"}, {"GTEST_OUTPUT", ""}}});
  EXPECT_TRUE(result.ok()) << result.output << result.errors;
  for (const char* dtype : {"float32", "float16"}) {
    const std::string words = std::string(": float32 sums of ") + dtype + " products";
    const std::size_t first = result.errors.find(words);
    EXPECT_NE(first, std::string::npos) << result.errors;
    EXPECT_EQ(first, result.errors.rfind(words)) << result.errors;
  }
  std::size_t lines = 0, at = 0;
  for (const std::string line = "library " + device + " "; (at = result.errors.find(line, at)) != std::string::npos;
       ++at)
    ++lines;
  EXPECT_EQ(lines, 2u) << result.errors;  // a compiler may add lines
}

}  // namespace
}  // namespace catenary
