// Tests how the CUDA and HIP drivers report and survive failures, on simulated devices (cmake/simgpu.cmake runs this
// with LD_LIBRARY_PATH and --device cuda:0 or hip:0). Failures that cannot be undone, or that occur only at the start,
// happen in processes of their own.

#include "tests/simgpu/faults.h"

#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "catenary/array/array.h"
#include "catenary/array/creation.h"
#include "catenary/array/elementwise.h"
#include "catenary/array/reduction.h"
#include "catenary/backends/gpu/drivers/runtime_compiler.h"
#include "catenary/core/error.h"
#include "catenary/core/os/file.h"
#include "catenary/core/os/library.h"
#include "tests/paths.h"
#include "tests/texts.h"

namespace catenary::faults {
namespace {

using tests::error_of;

/// Uses an empty kernel cache, so that every kernel is compiled here. A process that a test starts inherits the cache.
class OwnCache : public testing::Environment {
 public:
  void SetUp() override {
    if (std::getenv("TEST_TMPDIR")) return;
    folder_ = os::make_temporary_directory("catenary-simgpu-");
    ::setenv("CATENARY_CACHE_DIR", folder_.c_str(), 1);
  }
  void TearDown() override {
    if (!folder_.empty()) os::remove_directory(folder_);
  }

 private:
  std::string folder_;
};
[[maybe_unused]] testing::Environment* const own_cache = testing::AddGlobalTestEnvironment(new OwnCache);

/// Makes a call of the device's library or of its compiler fail.
void fault(const char* what, int n = 1, bool compiler = false) {
  const std::string name = vendor() == "cuda" ? (compiler ? "libnvrtc.so.13" : "libcuda.so.1")
                                              : (compiler ? "libhiprtc.so.6" : "libamdhip64.so.6");
  std::string why;
  const auto library = os::Library::find(name, &why, os::Library::Mode::already_loaded);
  ASSERT_TRUE(library) << name << ": " << why;
  library->required<void(const char*, int)>("simgpu_fault")(what, n);
}

std::vector<float> doubled() {
  const Array x = arange(5, Dtype::float32);
  return (x + x).to_vector<float>();
}
const std::vector<float> kDoubled = {0, 2, 4, 6, 8};

TEST(Simulated, SaysThatItIs) {
  EXPECT_TRUE(current_device().info().is_simulated);
  EXPECT_EQ(doubled(), kDoubled);
  // a search for cards never finds it
  for (int i = 0; i < 2; ++i) {
    const std::string name = "gpu:" + std::to_string(i);
    try {
      EXPECT_FALSE(get_device(name).info().is_simulated);
    } catch (const DeviceError&) {
    }
  }
}

TEST(Simulated, TwoDevices) {
  const Device first = current_device(), second = get_device(vendor() + ":1");
  const Array x = arange(1000, Dtype::float32);
  const Array y = x.to_device(second);
  second.use();
  const Array sum_there = sum(y * y);
  first.use();
  EXPECT_EQ(sum_there.device(), second);
  EXPECT_EQ(sum_there.to_vector<float>(), sum(x * x).to_vector<float>());
}

TEST(Fault, MemoryIsAskedForTwice) {
  const Array keep = zeros({3}, Dtype::float32);
  fault("alloc");
  EXPECT_EQ(zeros({1 << 20}, Dtype::float32).to_vector<float>().size(), std::size_t{1} << 20);
  EXPECT_EQ(doubled(), kDoubled);
}

TEST(Fault, OutOfMemory) {
  const auto too_much = static_cast<std::int64_t>(current_device().info().memory_bytes);
  EXPECT_NE(error_of<DeviceError>([&] { zeros({too_much}, Dtype::float32).to_vector<float>(); }).find("memory"),
            std::string::npos);
  EXPECT_EQ(doubled(), kDoubled);
}

// More than half of the memory lies unused in the pool. The pool must return it to the driver, and the request must
// succeed.
TEST(Fault, OutOfMemoryUntilThePoolGivesBack) {
  const auto all = static_cast<std::int64_t>(current_device().info().memory_bytes);
  MemoryPool& pool = current_device().backend().pool(current_device().index());
  { empty({all / 8 * 5}, Dtype::uint8); }
  EXPECT_GT(pool.free_bytes(), static_cast<std::size_t>(all / 2));
  Array larger = empty({all / 8 * 6}, Dtype::uint8);
  EXPECT_EQ(pool.free_bytes(), 0u);
  EXPECT_NE(error_of<DeviceError>([&] { empty({all / 2}, Dtype::uint8); }).find("out of memory"), std::string::npos);
  larger = Array();
  EXPECT_EQ(empty({all / 2}, Dtype::uint8).size(), all / 2);
  pool.free_all_blocks();
  EXPECT_EQ(doubled(), kDoubled);
}

TEST(Fault, CompilerRefuses) {
  const Array x = arange(5, Dtype::float32);
  x.to_vector<float>();  // evaluated now: otherwise it would fail along with results computed from it
  fault("compile", 1, true);
  const std::string message = error_of<DeviceError>([&] { (x - x * 3.5f + 2).to_vector<float>(); });
  EXPECT_NE(message.find("cannot be compiled for " + vendor() + ":0"), std::string::npos) << message;
  EXPECT_NE(message.find("a fault that was asked for"), std::string::npos) << message;
  EXPECT_EQ((x - x * 3.5f + 2).to_vector<float>(), std::vector<float>({2, -0.5f, -3, -5.5f, -8}));
}

TEST(Fault, BinaryIsRefused) {
  const Array x = arange(5, Dtype::float32);
  x.to_vector<float>();
  fault("load");
  const std::string message = error_of<DeviceError>([&] { (x * 0.5f - 1.0f).to_vector<float>(); });
  EXPECT_NE(message.find("cannot load a kernel's binary"), std::string::npos) << message;
  EXPECT_EQ((x * 0.5f - 1.0f).to_vector<float>(), std::vector<float>({-1, -0.5f, 0, 0.5f, 1}));
}

TEST(Fault, Launch) {
  doubled();
  fault("launch");
  const std::string message = error_of<DeviceError>(doubled);
  EXPECT_NE(message.find("cannot launch (kernel "), std::string::npos) << message;
  EXPECT_EQ(doubled(), kDoubled);
}

TEST(Fault, Copy) {
  const Array x = zeros({4}, Dtype::float32);
  x.to_vector<float>();
  fault("copy");
  const std::string message = error_of<DeviceError>([&] { x.to_vector<float>(); });
  EXPECT_NE(message.find("cannot copy to the host"), std::string::npos) << message;
  EXPECT_EQ(x.to_vector<float>(), std::vector<float>(4));
}

// A failed kernel loses the device: every later call must say so, and nothing may crash.
TEST(FaultDeathTest, KernelFails) {
  testing::GTEST_FLAG(death_test_style) = "threadsafe";
  EXPECT_EXIT(
      {
        doubled();
        fault("kernel");
        const std::string first = error_of<DeviceError>(doubled);
        const std::string second = error_of<DeviceError>(doubled);
        std::fprintf(stderr, "first: %s; second: %s\n", first.c_str(), second.c_str());
        std::exit(0);
      },
      testing::ExitedWithCode(0), "first: .*ILLEGAL_ADDRESS \\(700\\).*second: .*ILLEGAL_ADDRESS \\(700\\)");
}

TEST(FaultDeathTest, DeviceLost) {
  testing::GTEST_FLAG(death_test_style) = "threadsafe";
  EXPECT_EXIT(
      {
        const Array x = arange(5, Dtype::float32);
        doubled();
        fault("lost");
        const std::string message = error_of<DeviceError>(doubled);
        std::fprintf(stderr, "%s\n", message.c_str());
        std::exit(0);  // with arrays alive, whose memory was lost with the device
      },
      testing::ExitedWithCode(0), "ILLEGAL_ADDRESS \\(700\\)");
}

// A listed card disappears before its first use, like an external card or one behind a restarted driver. The other
// device and the CPU must keep working.
TEST(FaultDeathTest, DeviceIsGoneWhenItIsUsed) {
  testing::GTEST_FLAG(death_test_style) = "threadsafe";
  EXPECT_EXIT(
      {
        const Array here = arange(5, Dtype::float32);
        here.to_vector<float>();
        const Device second = get_device(vendor() + ":1");
        fault("gone");
        const std::string first_message = error_of<DeviceError>([&] { here.to_device(second); });
        const std::string second_message = error_of<DeviceError>([&] {
          const DeviceScope scope(second);
          doubled();
        });
        const bool others = doubled() == kDoubled && here.to_device(Device()).to_vector<float>()[4] == 4;
        std::fprintf(stderr, "first: %s; second: %s; others: %d\n", first_message.c_str(), second_message.c_str(),
                     others);
        std::exit(0);
      },
      testing::ExitedWithCode(0),
      "first: .*cannot use the device.*; second: .*cannot use the device.*INVALID_DEVICE \\(101\\); others: 1");
}

// The driver is gone when the device is first used. The CPU must keep working.
TEST(AtStart, DeviceIsLostAtTheFirstUse) {
  const auto result = again("Simulated.SaysThatItIs", {{"SIMGPU_FAULT", "lost:1"}});
  EXPECT_EQ(result.exit_code, 1);
  expect_says(result, "ILLEGAL_ADDRESS (700)");
}

TEST(AtStart, DriverMismatch) {
  const auto result = again("Simulated.SaysThatItIs", {{"SIMGPU_INIT", vendor() == "cuda" ? "803" : "100"}});
  EXPECT_EQ(result.exit_code, 2);
  expect_says(result, vendor() == "cuda" ? "of different versions: restart the machine" : "no AMD GPU");
}

TEST(AtStart, CardThatTheCompilerDoesNotKnow) {
  if (vendor() == "cuda") {
    const auto result = again("Simulated.SaysThatItIs", {{"SIMGPU_ARCH", "30"}});
    EXPECT_EQ(result.exit_code, 2);
    expect_says(result, "needs sm_30");
    expect_says(result, "CUDA 12");
    // a newer member of a known family runs the family's binaries
    EXPECT_TRUE(again("Simulated.SaysThatItIs", {{"SIMGPU_ARCH", "89"}}).ok());
  } else {
    // hipRTC aborts the process, so the driver tries it in a child process and goes on
    const auto result = again("Simulated.SaysThatItIs", {{"SIMGPU_ARCH", "gfx1100"}});
    EXPECT_EQ(result.exit_code, 1);
    expect_says(result, "crashes (SIGABRT) when it compiles for gfx1100");
  }
}

// The driver tries the compiler in a child process. A child that never ends must not count as a success.
TEST(Fault, CompilerNeverReturns) {
  if (vendor() == "cuda") return;  // NVRTC lists the architectures that it knows
  doubled();
  std::string why;
  const auto compiler = gpu::RuntimeCompiler::hiprtc(os::Library("libamdhip64.so.6"), 6, why);
  ASSERT_TRUE(compiler) << why;
  compiler->set_trial_seconds(0.05);
  fault("hang", 1, true);
  const std::string message = error_of<DeviceError>([&] { compiler->compile("gfx1030", "not even looked at"); });
  fault("hang", 0, true);
  EXPECT_NE(message.find("was not done within 0.05 s with a kernel of one line for gfx1030"), std::string::npos)
      << message;
}

TEST(AtStart, OldLibraries) {
  const std::string old = tests::build_path("simgpu/old");
  if (vendor() == "cuda") {
    // NVRTC of CUDA 11.1, which cannot list its architectures, lies beside today's driver; the newer NVRTC is still
    // preferred
    const auto result =
        again("Simulated.SaysThatItIs", {{"LD_LIBRARY_PATH", std::getenv("LD_LIBRARY_PATH") + (":" + old)}});
    EXPECT_TRUE(result.ok()) << result.output << result.errors;
  } else {
    const auto result = again("Simulated.SaysThatItIs", {{"LD_LIBRARY_PATH", old}});
    EXPECT_TRUE(result.ok()) << result.output << result.errors;
  }
}

}  // namespace
}  // namespace catenary::faults
