// Tests which library computes convolutions, and the messages if a library cannot be used, on simulated devices with
// stand-ins for cuDNN and MIOpen. Each case starts a process of its own, which runs the tests named Inside.

#include <gtest/gtest.h>

#include <cstdlib>
#include <string>
#include <utility>
#include <vector>

#include "catenary/array/array.h"
#include "catenary/array/body.h"
#include "catenary/array/creation.h"
#include "catenary/core/config.h"
#include "catenary/core/error.h"
#include "catenary/core/os/file.h"
#include "catenary/device/backend.h"
#include "catenary/device/device.h"
#include "catenary/device/libraries.h"
#include "tests/folder.h"
#include "tests/simgpu/dnn/process.h"

namespace catenary {
namespace {

using simgpu_tests::Environment;
using simgpu_tests::expect_says;

os::ProcessResult with(const std::string& vendor, const std::vector<std::string>& folders,
                       const Environment& environment = {}) {
  return simgpu_tests::with_libraries("Inside.*", vendor, folders, "dnn", environment);
}

/// The other tests run this one in processes of their own. Run by itself, it tests a convolution on the CPU.
TEST(Inside, AConvolution) {
  const Array x = arange(9, Dtype::float32).reshape({1, 1, 3, 3}), w = ones({1, 1, 2, 2}, Dtype::float32),
              y = zeros({1, 1, 2, 2}, Dtype::float32);
  const Window window = Window::make("test", 2, {2}, {1}, {0});
  try {
    for (int i = 0; i < 2; ++i) {
      const View x_view = readable(x), w_view = readable(w), y_view = writable(y);
      compute(current_device(), primitives::Convolution{ConvolutionPass::forward, window, 1, x_view, w_view, y_view});
    }
    EXPECT_EQ(y.to_vector<float>(), (std::vector<float>{8, 12, 20, 24}));
    std::printf("last: %s\n", last_computation(current_device(), "dnn").value().text().c_str());
    for (const LibraryInfo& provider : libraries(current_device(), "dnn"))
      if (provider.computed)
        std::printf("%d by %s (%s)\n", static_cast<int>(provider.computed), provider.name.c_str(),
                    provider.detail.c_str());
    for (const LibraryInfo& library : libraries(current_device()))
      std::printf("library %s %s %s\n", library.kind.c_str(), library.name.c_str(), library.detail.c_str());
  } catch (const Error& error) {
    std::printf("threw: %s\n", error.what());
  }
}

TEST(ConvolutionProviders, TheVendorsLibraries) {
  expect_says(with("cuda", {"dnn/cuda"}), "2 by cuDNN (9.19.0, ");
  expect_says(with("hip", {"dnn/hip"}), "2 by MIOpen (3.2.0, ");
}

TEST(ConvolutionProviders, TellHow) {
  const auto cudnn = with("cuda", {"dnn/cuda"}, {{"CATENARY_TRACE", "libraries"}});
  const std::string text =
      "cuDNN, algorithm implicit precomputed GEMM, FMA math: float32 sums of float32 products; no "
      "matrix units: TF32 off: config.tf32 is false";
  expect_says(cudnn, "last: " + text);
  expect_says(cudnn, "library cuda:0 dnn " + text);
  EXPECT_EQ(cudnn.errors.find(text), cudnn.errors.rfind(text)) << cudnn.errors;
  expect_says(
      with("hip", {"dnn/hip"}),
      "last: MIOpen, solution 26, implicit GEMM: float32 sums of float32 products; matrix units are not told: "
      "MIOpen does not tell; Matrix Cores of gfx90a take float32; alignment: not all channels are multiples of 8");
  expect_says(with("cuda", {}),
              "last: own, convolution_direct: float32 sums of float32 products; no matrix units: no "
              "library computed it, and Catenary's own kernels use none");
}

/// Run like the test above: 16 bits, with channels that are multiples of 8.
TEST(Inside, AConvolutionOf16Bits) {
  const Array x = ones({1, 8, 3, 3}, Dtype::float16), w = ones({8, 8, 2, 2}, Dtype::float16),
              y = zeros({1, 8, 2, 2}, Dtype::float16);
  const Window window = Window::make("test", 2, {2}, {1}, {0});
  try {
    const View x_view = readable(x), w_view = readable(w), y_view = writable(y);
    compute(current_device(), primitives::Convolution{ConvolutionPass::forward, window, 1, x_view, w_view, y_view});
    EXPECT_EQ(y.to_vector<float>(), std::vector<float>(32, 32));
    std::printf("16 bits: %s\n", last_computation(current_device(), "dnn").value().text().c_str());
  } catch (const Error& error) {
    std::printf("threw: %s\n", error.what());
  }
}

TEST(ConvolutionProviders, CudnnDoesNotTellOfTensorCores) {
  expect_says(
      with("cuda", {"dnn/cuda"}),
      "16 bits: cuDNN, algorithm implicit precomputed GEMM, tensor op math: float32 sums of float16 products; "
      "matrix units are not told: cuDNN does not tell; Tensor Cores of sm_90 take float16; channels are multiples "
      "of 8\n");
}

/// Run like the test above: config.tf32 decides for the next convolution.
TEST(Inside, AConvolutionInTf32) {
  const Array x = ones({1, 8, 3, 3}, Dtype::float32), w = ones({8, 8, 2, 2}, Dtype::float32),
              y = zeros({1, 8, 2, 2}, Dtype::float32);
  const Window window = Window::make("test", 2, {2}, {1}, {0});
  try {
    for (const bool tf32 : {false, true, false}) {
      const auto scope = using_config(config.tf32, tf32);
      const View x_view = readable(x), w_view = readable(w), y_view = writable(y);
      compute(current_device(), primitives::Convolution{ConvolutionPass::forward, window, 1, x_view, w_view, y_view});
      std::printf("tf32 %d: %s\n", static_cast<int>(tf32),
                  last_computation(current_device(), "dnn").value().text().c_str());
    }
  } catch (const Error& error) {
    std::printf("threw: %s\n", error.what());
  }
}

TEST(ConvolutionProviders, Tf32IsASwitch) {
  const auto result = with("cuda", {"dnn/cuda"}, {{"SIMGPU_DNN", "tf32"}});
  const std::string off =
      "tf32 0: cuDNN, algorithm implicit precomputed GEMM, FMA math: float32 sums of float32 products; no matrix "
      "units: "
      "TF32 off: config.tf32 is false, and Tensor Cores take float32 as TF32 alone\n";
  expect_says(result,
              off +
                  "tf32 1: cuDNN, algorithm implicit precomputed GEMM, default math: float32 sums of float32 or "
                  "TF32 products; matrix units are not told: cuDNN does not tell; Tensor Cores of sm_90 take "
                  "float32; channels are multiples of 8\n" +
                  off);
}

TEST(Libraries, OfAllKindsWithTheirVersions) {
  const auto result = with("cuda", {"dnn/cuda", "blas/cuda", "nccl/cuda"});
  for (const char* words : {"library blas cuBLASLt 13.", "library blas cuBLAS 13.0.2, ", "library blas own ",
                            "library dnn cuDNN 9.19.0, ", "library dnn own ", "library collectives NCCL 2.27.3 ("})
    expect_says(result, words);
  expect_says(with("hip", {"dnn/hip"}), "library collectives RCCL librccl.so.1 (of HIP 6) was not found");
}

/// Run like the test above: config.use_cudnn disables the libraries for the next computations.
TEST(Inside, AConvolutionWithoutLibraries) {
  const auto scope = using_config(config.use_cudnn, false);
  const Array x = arange(9, Dtype::float32).reshape({1, 1, 3, 3}), w = ones({1, 1, 2, 2}, Dtype::float32),
              y = zeros({1, 1, 2, 2}, Dtype::float32);
  const Window window = Window::make("test", 2, {2}, {1}, {0});
  const auto by_own = [] {
    int count = 0;
    for (const LibraryInfo& provider : libraries(current_device(), "dnn"))
      if (provider.name == "own") count += static_cast<int>(provider.computed);
    return count;
  };
  try {
    const int before = by_own();
    const View x_view = readable(x), w_view = readable(w), y_view = writable(y);
    compute(current_device(), primitives::Convolution{ConvolutionPass::forward, window, 1, x_view, w_view, y_view});
    EXPECT_EQ(y.to_vector<float>(), (std::vector<float>{8, 12, 20, 24}));
    std::printf("use_cudnn off: %d by own\n", by_own() - before);
  } catch (const Error& error) {
    std::printf("threw: %s\n", error.what());
  }
}

TEST(ConvolutionProviders, UseCudnnSwitchesThemOff) {
  for (const std::string vendor : {"cuda", "hip"}) {
    const auto result = with(vendor, {"dnn/" + vendor});
    expect_says(result, vendor == "cuda" ? "2 by cuDNN" : "2 by MIOpen");
    expect_says(result, "use_cudnn off: 1 by own");
  }
}

TEST(ConvolutionProviders, TheOneThatIsAskedFor) {
  expect_says(with("cuda", {"dnn/cuda"}, {{"CATENARY_GPU_DNN", "own"}}), "2 by own");
  expect_says(with("cuda", {}, {{"CATENARY_GPU_DNN", "cudnn"}}),
              "threw: CATENARY_GPU_DNN=cudnn: cuDNN cannot be used on cuda:0: none of libcudnn.so.9, libcudnn.so.8 was "
              "found");
  expect_says(with("hip", {"dnn/hip"}, {{"CATENARY_GPU_DNN", "MIOpen"}}), "2 by MIOpen");
}

TEST(ConvolutionProviders, NoneIsFound) {
  expect_says(with("cuda", {}), "dnn cuda:0 cuDNN is not used: none of libcudnn.so.9, libcudnn.so.8 was found");
  expect_says(with("hip", {}), "2 by own");
}

TEST(ConvolutionProviders, FailuresFallBackToOwnKernels) {
  for (const auto& [vendor, name] : {std::pair("cuda", "cuDNN"), std::pair("hip", "MIOpen")}) {
    const std::vector<std::string> folders = {std::string("dnn/") + vendor};
    expect_says(with(vendor, folders, {{"SIMGPU_DNN", "create"}}), "Create failed with status");
    for (const char* fault : {"search", "compute"}) {
      const auto result = with(vendor, folders, {{"SIMGPU_DNN", fault}});
      expect_says(result, "2 by own");
      const std::string once = std::string("catenary: ") + name + " on " + vendor + ":0";
      expect_says(result, once);
      EXPECT_EQ(result.errors.find(once), result.errors.rfind(once)) << "it is said once\n" << result.errors;
      expect_says(result, "refused a convolution of float32 [1, 1, 3, 3] by [1, 1, 2, 2]: it cannot ");
    }
  }
}

TEST(ConvolutionProviders, ALibraryThatLacksAFunction) {
  const auto result = with("cuda", {"dnn/broken"});
  expect_says(result, "2 by own");
  expect_says(result, "cudnnGetConvolutionBackwardFilterAlgorithm_v7");
}

// The stand-in's fastest algorithm is not deterministic. It may be used only if results need not be deterministic.
TEST(ConvolutionProviders, BitsMayDifferOnlyWhenTheyMay) {
  expect_says(with("cuda", {"dnn/cuda"}, {{"CATENARY_CUDNN_DETERMINISTIC", "0"}}), "2 by cuDNN");
}

TEST(ConvolutionProviders, AutotunedAlgorithmsAreKept) {
  const tests::Folder folder;
  const Environment environment = {{"CATENARY_AUTOTUNE", "1"}, {"CATENARY_CACHE_DIR", folder.path}};
  const auto first = with("cuda", {"dnn/cuda"}, environment);
  expect_says(first, "cuDNN tries its algorithms");
  expect_says(first, "2 by cuDNN");
  const auto second = with("cuda", {"dnn/cuda"}, environment);
  expect_says(second, "2 by cuDNN");
  EXPECT_EQ(second.errors.find("tries its algorithms"), std::string::npos) << second.errors;
}

}  // namespace
}  // namespace catenary
