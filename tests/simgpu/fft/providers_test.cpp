// Tests which library computes Fourier transforms, and the messages if a library cannot be used, on simulated devices
// with stand-ins for the vendors' libraries. Each case starts a process of its own, which runs the tests named Inside.

#include <gtest/gtest.h>

#include <cmath>
#include <complex>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "catenary/array/array.h"
#include "catenary/array/creation.h"
#include "catenary/array/elementwise.h"
#include "catenary/array/fft.h"
#include "catenary/array/manipulation.h"
#include "catenary/array/reduction.h"
#include "catenary/array/view.h"
#include "catenary/core/error.h"
#include "catenary/core/os/process.h"
#include "catenary/device/device.h"
#include "catenary/device/libraries.h"
#include "catenary/device/pool.h"
#include "catenary/device/stream.h"
#include "tests/paths.h"

namespace catenary {
namespace {

using Environment = std::vector<std::pair<std::string, std::string>>;
using Complex = std::complex<float>;

os::ProcessResult with(const std::string& vendor, bool library, const Environment& environment = {},
                       const std::string& filter = "Inside.*") {
  const std::string simgpu = tests::build_path("simgpu/");
  os::ProcessOptions options;
  options.timeout = 100;
  options.environment = {{"LD_LIBRARY_PATH", (library ? simgpu + "fft/" + vendor + ":" : "") + simgpu + vendor},
                         {"CATENARY_CACHE_DIR", simgpu + "cache"},
                         {"CATENARY_TRACE", "fft"},
                         {"GTEST_OUTPUT", ""}};
  for (const auto& variable : environment) options.environment.push_back(variable);
  return os::run_process({os::program_path(), "--gtest_filter=" + filter, "--device", vendor + ":0"}, options);
}

void expect_says(const os::ProcessResult& result, const std::string& words) {
  EXPECT_TRUE(result.ok()) << result.output << result.errors;
  EXPECT_NE((result.output + result.errors).find(words), std::string::npos) << "expected: " << words << "\n"
                                                                            << result.output << result.errors;
}

/// Rounds to multiples of 1/64, which removes rounding errors.
std::vector<Complex> values(const Array& x) {
  std::vector<Complex> list = x.to_vector<Complex>();
  for (Complex& z : list) z = {std::round(z.real() * 64) / 64, std::round(z.imag() * 64) / 64};
  return list;
}

/// The other tests run this one in processes of their own. Run by itself, it tests transforms on the CPU.
TEST(Inside, Transforms) {
  try {
    const Array x = arange(4, Dtype::float32).astype(Dtype::complex64);
    const std::vector<Complex> expected = {{6, 0}, {-2, 2}, {-2, 0}, {-2, -2}};
    EXPECT_EQ(values(fft::fft(x)), expected);
    EXPECT_EQ(values(fft::ifft(fft::fft(x))), values(x));              // scaled by our own kernel
    EXPECT_EQ(values(fft::fft(arange(4, Dtype::float32))), expected);  // no imaginary parts
    EXPECT_EQ(values(fft::fft(flip(flip(x, 0), 0))), expected);
    EXPECT_EQ(values(fft::fft(flip(x, 0)))[1], std::conj(expected[1]) * Complex(0, 1));  // against the order of memory
    for (const LibraryInfo& library : libraries(current_device(), "fft"))
      if (library.computed)
        std::printf("%d by %s (%s)\n", static_cast<int>(library.computed), library.name.c_str(),
                    library.detail.c_str());
  } catch (const Error& error) {
    std::printf("threw: %s\n", error.what());
  }
}

/// Each stream needs its own plans, because a plan has one stream and one work area.
TEST(Inside, StreamsSideBySide) {
  try {
    if (current_device().is_cpu()) return;
    const Array x = arange(64, Dtype::float32).astype(Dtype::complex64).reshape({8, 8});
    const std::vector<Complex> expected = values(fft::fft(x));
    std::vector<std::thread> threads;
    std::vector<int> right(3);
    for (int& mine : right)
      threads.emplace_back([&, device = current_device()] {
        const DeviceScope scope(device);
        Stream stream(device);
        const Stream::Use use(stream);
        for (int i = 0; i < 20; ++i) mine += values(fft::fft(x)) == expected;
      });
    for (std::thread& thread : threads) thread.join();
    EXPECT_EQ(right, std::vector<int>(3, 20));
  } catch (const Error& error) {
    std::printf("threw: %s\n", error.what());
  }
}

/// Tables of our own transforms are uploaded once for all streams.
TEST(Inside, TablesStay) {
  try {
    const Array x = arange(97, Dtype::float32).astype(Dtype::complex64), two = arange(131, Dtype::float32);
    const std::vector<Complex> first = values(fft::fft(x)), longer = values(fft::fft(two));
    const std::size_t used = memory_pool().used_bytes();
    for (int i = 0; i < 3; ++i) {
      EXPECT_EQ(values(fft::fft(x)), first);
      EXPECT_EQ(values(fft::fft(two)), longer);
    }
    EXPECT_EQ(memory_pool().used_bytes(), used);
  } catch (const Error& error) {
    std::printf("threw: %s\n", error.what());
  }
}

void tell_who_computed() {
  for (const LibraryInfo& library : libraries(current_device(), "fft"))
    if (library.computed) std::printf("%d by %s\n", static_cast<int>(library.computed), library.name.c_str());
}

/// A library call transforms rows at one constant distance. Along a middle axis, each index of the leading axes needs a
/// call, which is done if they are few.
TEST(InsideBatches, AlongAMiddleAxis) {
  try {
    for (const Shape& shape : {Shape{1030, 2, 3}, Shape{3, 2, 1030}, Shape{1025, 2, 1025}}) {
      const Array x = arange(shape.product(), Dtype::float32).reshape(shape).astype(Dtype::complex64);
      const Array y = fft::fft(x, {.axis = 1});
      // sums and differences of two elements
      const Array expected =
          concatenate({sum(x, 1, true), x(slice(none), slice(0, 1)) - x(slice(none), slice(1, 2))}, 1);
      if (max(abs(y - expected)).item<float>() > 0.5f) std::printf("wrong\n");
    }
    tell_who_computed();
  } catch (const Error& error) {
    std::printf("threw: %s\n", error.what());
  }
}
/// Transforms the second axis in place.
TEST(InsideBatches, InTheirPlace) {
  try {
    fft::fftn(zeros({3, 4, 5}, Dtype::complex64), {.axes = Axes{1, 2}}).eval();
    std::printf("well\n");
  } catch (const Error& error) {
    std::printf("threw: %s\n", error.what());
  }
}

TEST(FftProviders, Batches) {
  for (const auto& [vendor, name] : {std::pair("cuda", "cuFFT"), std::pair("hip", "hipFFT")}) {
    const auto result = with(vendor, true, {}, "InsideBatches.AlongAMiddleAxis");
    expect_says(result, std::string("2 by ") + name);
    expect_says(result, "1 by own");
    EXPECT_EQ(result.output.find("wrong"), std::string::npos) << result.output;
    expect_says(with(vendor, true, {}, "InsideBatches.InTheirPlace"), "well");
    expect_says(with(vendor, true, {{"SIMGPU_FFT", "later"}}, "InsideBatches.InTheirPlace"),
                "has transformed 1 of 3 batches in place, and cannot continue (status ");
  }
}

TEST(FftProviders, TheVendorsLibraries) {
  expect_says(with("cuda", true), "6 by cuFFT (12.0.1, ");
  expect_says(with("hip", true), "6 by hipFFT (1.0.18, ");
}

TEST(FftProviders, TheOneThatIsAskedFor) {
  expect_says(with("cuda", true, {{"CATENARY_GPU_FFT", "own"}}), "6 by own");
  expect_says(with("cuda", false, {{"CATENARY_GPU_FFT", "cufft"}}),
              "threw: CATENARY_GPU_FFT=cufft: cuFFT cannot be used on cuda:0: none of libcufft.so.12, libcufft.so.11, "
              "libcufft.so.10 was found");
  expect_says(with("hip", true, {{"CATENARY_GPU_FFT", "hipFFT"}}), "6 by hipFFT");
}

TEST(FftProviders, NoneIsFound) {
  expect_says(with("cuda", false), "fft cuda:0 cuFFT is not used: none of libcufft.so.12");
  expect_says(with("hip", false), "6 by own");
}

TEST(FftProviders, FailuresFallBackToOwnKernels) {
  for (const auto& [vendor, name] : {std::pair("cuda", "cuFFT"), std::pair("hip", "hipFFT")}) {
    for (const char* fault : {"create", "plan", "compute"}) {
      const auto result = with(vendor, true, {{"SIMGPU_FFT", fault}});
      expect_says(result, "6 by own");
      const std::string once = std::string("catenary: ") + name + " on " + vendor + ":0";
      expect_says(result, once);
      EXPECT_EQ(result.errors.find(once), result.errors.rfind(once)) << "it is said once\n" << result.errors;
      expect_says(result, "it cannot transform (status ");
    }
  }
}

}  // namespace
}  // namespace catenary
