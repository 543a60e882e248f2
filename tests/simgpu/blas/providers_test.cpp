// Tests which library multiplies matrices, and the messages if a library cannot be used, on simulated devices with
// stand-ins for the vendors' libraries. Each case starts a process of its own, which runs the tests named Inside.

#include <gtest/gtest.h>

#include <cstdlib>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "catenary/array/array.h"
#include "catenary/array/body.h"
#include "catenary/array/creation.h"
#include "catenary/array/linalg.h"
#include "catenary/backends/gpu/libraries.h"
#include "catenary/core/config.h"
#include "catenary/core/error.h"
#include "catenary/core/os/file.h"
#include "catenary/core/os/process.h"
#include "catenary/core/sha256.h"
#include "catenary/device/backend.h"
#include "catenary/device/device.h"
#include "catenary/device/libraries.h"
#include "tests/folder.h"
#include "tests/paths.h"

namespace catenary {
namespace {

using Environment = std::vector<std::pair<std::string, std::string>>;

/// Starts a process on a simulated device, with the libraries of these folders of build/…/simgpu before the device's
/// own.
os::ProcessResult with(const std::string& vendor, const std::vector<std::string>& folders,
                       const Environment& environment = {}, const std::string& tests = "Inside.AProduct") {
  std::string path;
  for (const std::string& folder : folders) path += tests::build_path("simgpu/") + folder + ":";
  os::ProcessOptions options;
  options.timeout = 100;
  options.environment = {{"LD_LIBRARY_PATH", path + tests::build_path("simgpu/") + vendor},
                         {"CATENARY_CACHE_DIR", tests::build_path("simgpu/cache")},
                         {"CATENARY_TRACE", "blas"},
                         {"GTEST_OUTPUT", ""}};
  for (const auto& [name, value] : environment) {
    std::erase_if(options.environment, [&, &name = name](const auto& known) { return known.first == name; });
    options.environment.emplace_back(name, value);
  }
  return os::run_process(
      {os::program_path(), "--gtest_filter=" + tests, "--gtest_also_run_disabled_tests", "--device", vendor + ":0"},
      options);
}

void expect_says(const os::ProcessResult& result, const std::string& words) {
  EXPECT_TRUE(result.ok()) << result.output << result.errors;
  EXPECT_NE((result.output + result.errors).find(words), std::string::npos) << "expected: " << words << "\n"
                                                                            << result.output << result.errors;
}

/// The other tests run this one in processes of their own. Run by itself, it tests a product on the CPU.
TEST(Inside, AProduct) {
  const Array x = arange(6, Dtype::float32).reshape({2, 3});
  try {
    EXPECT_EQ(matmul(x, x.T()).to_vector<float>(), (std::vector<float>{5, 14, 14, 50}));
    const float fine = 1 + 1.0f / 4096;  // does not fit into the 10 bits of TF32
    const float square = matmul(full({1, 1}, fine, Dtype::float32), ones({1, 1}, Dtype::float32)).item<float>();
    std::printf("float32 is %s\n", square == fine ? "kept" : "rounded");
    for (const LibraryInfo& provider : libraries(current_device(), "blas"))
      if (provider.computed) std::printf("computed by %s (%s)\n", provider.name.c_str(), provider.detail.c_str());
  } catch (const Error& error) {
    std::printf("threw: %s\n", error.what());
  }
}

/// Run like the test above: prints the device's report on several kinds of products, each computed twice.
TEST(Inside, SeveralProducts) {
  const auto tell = [](const char* what, const Array& a, const Array& b) {
    for (int i = 0; i < 2; ++i) matmul(a, b).eval();
    std::printf("%s: %s\n", what, last_computation(current_device(), "blas").value().text().c_str());
  };
  const auto of = [](std::int64_t rows, std::int64_t columns, Dtype dtype) {
    return ones({rows, columns}, dtype).eval();
  };
  try {
    for (const Dtype dtype : {Dtype::float32, Dtype::float16, Dtype::bfloat16, Dtype::float64, Dtype::int32})
      tell(dtype_name(dtype), of(16, 24, dtype), of(24, 8, dtype));
    const Array wide = of(16, 25, Dtype::float16);
    tell("odd leading dimension", wide(slice(), slice(0, 24)), of(24, 8, Dtype::float16));
    tell("odd beginning", wide.reshape({-1})(slice(1, 385)).reshape({16, 24}), of(24, 8, Dtype::float16));
    tell("one row of odd length", of(1, 25, Dtype::float16), of(25, 8, Dtype::float16));
    tell("apart", of(16, 48, Dtype::float16)(slice(0, 16, 2), slice(0, 48, 2)), of(24, 8, Dtype::float16));
  } catch (const Error& error) {
    std::printf("threw: %s\n", error.what());
  }
}

TEST(Computed, ByCublasLtWhichTells) {
  const auto result = with("cuda", {"blas/cuda"}, {{"CATENARY_TRACE", "libraries"}}, "Inside.SeveralProducts");
  const std::string lt = "cuBLASLt, algorithm 21, tile 20, stages 35: ";
  expect_says(result,
              "float32: " + lt +
                  "float32 sums of float32 products; no matrix units: TF32 off: config.tf32 is false, and Tensor "
                  "Cores take float32 as TF32 alone\n");
  expect_says(result, "\nfloat16: " + lt + "float32 sums of float16 products, by Tensor Cores\n");
  expect_says(result, "\nbfloat16: " + lt + "float32 sums of bfloat16 products, by Tensor Cores\n");
  expect_says(result, "\nfloat64: " + lt + "float64 sums of float64 products; no matrix units: sizes: ");
  expect_says(result,
              "int32 sums of int32 products; no matrix units: dtype: no library takes int32, and Catenary's own "
              "kernels use none\n");
  for (const char* what : {"odd leading dimension", "odd beginning"})
    expect_says(result, std::string(what) + ": " + lt +
                            "float32 sums of float16 products; no matrix units: alignment: not all operands begin at "
                            "multiples of 16 bytes and step by them\n");
  expect_says(result, "one row of odd length: " + lt + "float32 sums of float16 products, by Tensor Cores\n");
  expect_says(result, "apart: own, matmul_");
  expect_says(result,
              "no matrix units: strides: no library takes such operands, and Catenary's own kernels use none\n");
  // each is traced once, however often it was computed
  const std::string line = "library cuda:0 blas " + lt + "float32 sums of float16 products, by Tensor Cores\n";
  expect_says(result, line);
  EXPECT_EQ(result.errors.find(line), result.errors.rfind(line)) << result.errors;
}

TEST(Computed, ByCublasLtOfAnOlderCard) {
  const auto result = with("cuda", {"blas/cuda"}, {{"SIMGPU_ARCH", "75"}}, "Inside.SeveralProducts");
  expect_says(result,
              "\nfloat16: cuBLASLt, algorithm 21, tile 20, stages 35: float32 sums of float16 products, by Tensor");
  expect_says(result, "no matrix units: dtype: Tensor Cores of sm_75 do not take bfloat16\n");
  expect_says(result, "no matrix units: dtype: Tensor Cores of sm_75 do not take float32\n");
}

TEST(Computed, ByLibrariesThatDoNotTell) {
  const auto quiet = with("cuda", {"blas/cuda"}, {{"SIMGPU_BLAS", "untold"}}, "Inside.SeveralProducts");
  expect_says(quiet,
              "\nfloat16: cuBLASLt, algorithm 21, tile 20, stages 35: float32 sums of float16 products; matrix units "
              "are not told: cuBLASLt does not tell; Tensor Cores of sm_90 take float16; operands begin at multiples "
              "of 16 bytes and step by them\n");
  const auto cublas = with("cuda", {"blas/cuda"}, {{"CATENARY_GPU_BLAS", "cublas"}}, "Inside.SeveralProducts");
  expect_says(cublas, "float32: cuBLAS: float32 sums of float32 products; no matrix units: TF32 off: ");
  expect_says(cublas,
              "\nfloat16: cuBLAS: float32 sums of float16 products; matrix units are not told: cuBLAS does not tell; "
              "Tensor Cores of sm_90 take float16; operands begin at multiples of 16 bytes and step by them\n");
  expect_says(cublas,
              "odd leading dimension: cuBLAS: float32 sums of float16 products; matrix units are not told: cuBLAS "
              "does not tell; Tensor Cores of sm_90 take float16; alignment: not all operands begin at multiples of "
              "16 bytes and step by them\n");
  const auto hipblaslt = with("hip", {"blas/hip"}, {}, "Inside.SeveralProducts");
  expect_says(hipblaslt,
              "\nfloat16: hipBLASLt, solution 21: float32 sums of float16 products; matrix units are not told: "
              "hipBLASLt does not tell; Matrix Cores of gfx90a take float16; ");
  const auto rocblas = with("hip", {"blas/hip"}, {{"CATENARY_GPU_BLAS", "rocblas"}}, "Inside.SeveralProducts");
  expect_says(rocblas,
              "float32: rocBLAS: float32 sums of float32 products; matrix units are not told: rocBLAS does not "
              "tell; Matrix Cores of gfx90a take float32; ");
}

TEST(Computed, ByOurOwnKernels) {
  const auto result = with("cuda", {}, {}, "Inside.SeveralProducts");
  expect_says(
      result,
      "\nfloat16: own, matmul_tiles: float32 sums of float16 products; no matrix units: no library computed it, "
      "and Catenary's own kernels use none\n");
}

TEST(Providers, TheFirstOfTheList) {
  expect_says(with("cuda", {"blas/cuda"}), "computed by cuBLASLt (13.0.2, ");
  expect_says(with("hip", {"blas/hip"}), "computed by hipBLASLt (0.10.0, ");
}

TEST(Providers, TheOneThatIsAskedFor) {
  expect_says(with("cuda", {"blas/cuda"}, {{"CATENARY_GPU_BLAS", "cublas"}}), "computed by cuBLAS (13.0.2, ");
  expect_says(with("hip", {"blas/hip"}, {{"CATENARY_GPU_BLAS", "rocBLAS"}}), "computed by rocBLAS (4.2.1, ");
  expect_says(with("cuda", {"blas/cuda"}, {{"CATENARY_GPU_BLAS", "own"}}), "computed by own");
  // files of another driver's libraries: no algorithm is chosen here
  expect_says(with("cuda", {"blas/cuda"}, {{"CATENARY_GPU_BLAS", "clblast"}}), "computed by cuBLASLt");
}

TEST(Providers, MissingRequestedLibrariesAreErrors) {
  expect_says(
      with("cuda", {}, {{"CATENARY_GPU_BLAS", "cublas"}}),
      "threw: CATENARY_GPU_BLAS=cublas: cuBLAS cannot be used on cuda:0: none of libcublas.so.13, libcublas.so.12, "
      "libcublas.so.11 was found");
  const os::ProcessResult unknown = with("cuda", {}, {{"CATENARY_GPU_BLAS", "mkl"}});
  EXPECT_EQ(unknown.exit_code, 2);
  EXPECT_EQ(unknown.errors,
            "CATENARY_GPU_BLAS=mkl: expected one of own, cublaslt, cublas, hipblaslt, rocblas, clblast\n");
}

TEST(Providers, RoundsFloat32OnlyWhenAsked) {
  for (const char* provider : {"cublaslt", "cublas"}) {
    expect_says(with("cuda", {"blas/cuda"}, {{"CATENARY_GPU_BLAS", provider}}), "float32 is kept");
    expect_says(with("cuda", {"blas/cuda"}, {{"CATENARY_GPU_BLAS", provider}, {"CATENARY_TF32", "1"}}),
                "float32 is rounded");
  }
  expect_says(with("hip", {"blas/hip"}, {{"CATENARY_TF32", "1"}}), "float32 is rounded");
  expect_says(with("hip", {"blas/hip"}), "float32 is kept");
}

/// Run like the test above: config.tf32 decides for the next product.
TEST(Inside, Tf32) {
  const float fine = 1 + 1.0f / 4096;  // does not fit into the 10 bits of TF32
  const Array a = full({8, 8}, fine, Dtype::float32), b = eye(8).astype(Dtype::float32);
  const auto tell = [&] {
    const float got = matmul(a, b)(0, 0).item<float>();
    std::printf("tf32 %d: %s, %s\n", static_cast<int>(bool{config.tf32}), got == fine ? "kept" : "rounded",
                last_computation(current_device(), "blas").value().text().c_str());
  };
  try {
    for (const bool tf32 : {false, true, false}) {
      const auto scope = using_config(config.tf32, tf32);
      tell();
    }
    tell();
  } catch (const Error& error) {
    std::printf("threw: %s\n", error.what());
  }
}

TEST(Tf32, IsASwitch) {
  const std::string off =
      "tf32 0: kept, cuBLASLt, algorithm 21, tile 20, stages 35: float32 sums of float32 products; no "
      "matrix units: TF32 off: config.tf32 is false, and Tensor Cores take float32 as TF32 alone\n";
  const std::string on =
      "tf32 1: rounded, cuBLASLt, algorithm 21, tile 20, stages 35: float32 sums of TF32 products, by "
      "Tensor Cores\n";
  expect_says(with("cuda", {"blas/cuda"}, {}, "Inside.Tf32"), off + on + off + off);
  // CATENARY_TF32 is the initial value of all threads
  expect_says(with("cuda", {"blas/cuda"}, {{"CATENARY_TF32", "1"}}, "Inside.Tf32"), off + on + off + on);
  // the variable of NVIDIA's libraries overrides both
  expect_says(
      with("cuda", {"blas/cuda"}, {{"NVIDIA_TF32_OVERRIDE", "0"}}, "Inside.Tf32"),
      "tf32 1: kept, cuBLASLt, algorithm 21, tile 20, stages 35: float32 sums of float32 products; no matrix units: "
      "TF32 off: NVIDIA_TF32_OVERRIDE is 0\n");
  const auto cublas = with("cuda", {"blas/cuda"}, {{"CATENARY_GPU_BLAS", "cublas"}}, "Inside.Tf32");
  expect_says(cublas, "tf32 0: kept, cuBLAS: float32 sums of float32 products; no matrix units: TF32 off: ");
  expect_says(cublas, "tf32 1: rounded, cuBLAS: float32 sums of float32 or TF32 products; matrix units are not told: ");
  const auto hip = with("hip", {"blas/hip"}, {}, "Inside.Tf32");
  expect_says(hip, "tf32 0: kept, hipBLASLt, solution 21: ");
  expect_says(hip, "tf32 1: rounded, hipBLASLt, solution 21: ");
}

/// Run like the test above: also a product that is added to c, which a trial must not change.
TEST(Inside, Autotune) {
  try {
    const Array a = ones({16, 24}, Dtype::float32), b = ones({24, 8}, Dtype::float32);
    for (const bool autotune : {false, true, true}) {
      const auto scope = using_config(config.autotune, autotune);
      const Array c = matmul(a, b);
      EXPECT_EQ(c.to_vector<float>(), std::vector<float>(16 * 8, 24));
      std::printf("autotune %d: %s\n", static_cast<int>(autotune),
                  last_computation(current_device(), "blas").value().text().c_str());
    }
    const auto scope = using_config(config.autotune, true);
    const Array sum = full({16, 8}, 1.0f, Dtype::float32);
    const View va = readable(a), vb = readable(b), vc = writable(sum);
    const auto matrices = [](View v) {
      v.shape = {1, v.shape[0], v.shape[1]};
      v.strides = {0, v.strides[0], v.strides[1]};
      return v;
    };
    compute(current_device(), primitives::Matmul{matrices(va), matrices(vb), matrices(vc), nullptr, true});
    EXPECT_EQ(sum.to_vector<float>(), std::vector<float>(16 * 8, 25));
  } catch (const Error& error) {
    std::printf("threw: %s\n", error.what());
  }
}

/// Counts how often the program printed a text.
int count(const os::ProcessResult& result, const std::string& words) {
  int n = 0;
  for (std::size_t at = 0; (at = result.errors.find(words, at)) != std::string::npos; at += words.size()) ++n;
  return n;
}

TEST(Autotune, TheFastestIsKept) {
  for (const auto& [vendor, name, word] :
       {std::tuple("cuda", "cuBLASLt", "algorithm"), std::tuple("hip", "hipBLASLt", "solution")}) {
    const tests::Folder folder;
    const std::vector<std::string> folders = {std::string("blas/") + vendor};
    const Environment environment = {{"CATENARY_CACHE_DIR", folder.path}, {"SIMGPU_BLAS", "slow"}};
    const std::string lists = std::string(name) + " lists its algorithms";
    const auto text = [&, name = name, word = word](int autotune, int number) {
      return "autotune " + std::to_string(autotune) + ": " + name + ", " + word + " " + std::to_string(number);
    };
    const auto first = with(vendor, folders, environment, "Inside.Autotune");
    expect_says(first, text(0, 21));
    expect_says(first, text(1, 22));
    EXPECT_EQ(count(first, lists), 2) << first.errors;  // once for each of two products
    const auto second = with(vendor, folders, environment, "Inside.Autotune");
    expect_says(second, text(1, 22));
    EXPECT_EQ(count(second, lists), 0) << second.errors;
    // another card or another driver measures again
    for (const auto& [variable, value] :
         Environment{{"SIMGPU_NAME", "Simulated other device"}, {"SIMGPU_DRIVER", "1"}}) {
      const auto other = with(vendor, folders, {environment[0], environment[1], {variable, value}}, "Inside.Autotune");
      EXPECT_EQ(count(other, lists), 2) << variable << other.errors;
    }

    // damaged files are reported in one line and measured again
    for (const std::string& file : os::list_directory(folder.path))
      os::write_file(folder.path + "/" + file, std::string_view("damaged"));
    const auto healed = with(vendor, folders, environment, "Inside.Autotune");
    expect_says(healed, text(1, 22));
    EXPECT_EQ(count(healed, lists), 2) << healed.errors;
    EXPECT_EQ(count(healed, "catenary: a cached file is not used and is made again: "), 1) << healed.errors;
    EXPECT_EQ(count(healed, " is damaged\n"), 1) << healed.errors;
  }
}

// Complete files with wrong content: another size, or no algorithm for the product.
TEST(Autotune, AChoiceThatIsNoneIsMadeAnew) {
  const tests::Folder folder;
  const Environment environment = {{"CATENARY_CACHE_DIR", folder.path}, {"SIMGPU_BLAS", "slow"}};
  const auto run = [&] { return with("cuda", {"blas/cuda"}, environment, "Inside.Autotune"); };
  EXPECT_EQ(count(run(), "cuBLASLt lists its algorithms"), 2);
  // the last two have the right size, but one of them wants more memory than allowed
  for (const std::string& other : {std::string(), std::string("xyz"), std::string(80, 'x'), std::string(80, '\0')}) {
    const std::string whole = "catenary kernel 1\n" + sha256(other) + "\n" + other;
    int spoilt = 0;
    for (const std::string& file : os::list_directory(folder.path)) {
      const std::string path = folder.path + "/" + file;
      if (os::file_size(path) > 400) continue;  // a kernel
      os::write_file(path, std::string_view(whole));
      ++spoilt;
    }
    EXPECT_EQ(spoilt, 2);
    const auto healed = run();
    expect_says(healed, "autotune 1: cuBLASLt, algorithm 22");
    EXPECT_EQ(count(healed, "catenary: a cached algorithm cannot be used and is chosen again: "), 1) << healed.errors;
    EXPECT_EQ(count(healed, "cuBLASLt lists its algorithms"), 2) << healed.errors;
  }
}

TEST(Autotune, WhereNoAlgorithmRunsTheNextLibraryComputes) {
  expect_says(with("cuda", {"blas/cuda"},
                   {{"SIMGPU_BLAS", "multiply"}, {"CATENARY_AUTOTUNE", "1"}, {"CATENARY_KERNEL_CACHE", "0"}}),
              "refused a product of float32 [2, 2, 3] x 1: none of its algorithms runs; the next provider takes it");
}

TEST(Providers, NoneIsFound) {
  const auto result = with("cuda", {});
  expect_says(result, "computed by own");
  expect_says(result, "blas cuda:0 cuBLASLt is not used: none of libcublasLt.so.13");
}

TEST(Providers, AHandleThatCannotBeMade) {
  const auto result = with("cuda", {"blas/cuda"}, {{"SIMGPU_BLAS", "create"}});
  expect_says(result, "computed by own");
  expect_says(result, "cublasLtCreate failed with status 1");
  expect_says(result, "cublasCreate failed with status 1");
  expect_says(with("hip", {"blas/hip"}, {{"SIMGPU_BLAS", "create"}}), "rocblas_create_handle failed with status 6");
}

TEST(Providers, AProductThatFailsGoesToTheNext) {
  const auto result = with("cuda", {"blas/cuda"}, {{"SIMGPU_BLAS", "multiply"}});
  expect_says(result, "computed by own");
  expect_says(result, "catenary: cuBLASLt on cuda:0");
  expect_says(result,
              "refused a product of float32 [2, 2, 3] x 1: it cannot multiply (status 13); the next provider takes it");
}

TEST(Providers, ALibraryThatLacksAFunction) {
  const auto result = with("cuda", {"blas/broken"});
  expect_says(result, "computed by own");
  expect_says(result, "cublasGemmStridedBatchedEx");
  // an older complete file is of more use than a newer damaged one
  expect_says(with("cuda", {"blas/broken", "blas/older"}, {{"CATENARY_GPU_BLAS", "cublas"}}), "computed by cuBLAS");
}

// Like the real rocBLAS, this one aborts the process if its kernels for the chip are missing.
TEST(Providers, NoKernelsForTheChip) {
  const auto result = with("hip", {"blas/hip"}, {{"SIMGPU_ARCH", "gfx1030"}});
  expect_says(result, "computed by own");
  expect_says(result, "blas hip:0 rocBLAS is not used: ");
  expect_says(result, "has no kernels for gfx1030 (TensileLibrary_*gfx1030*), without which it would end the process");
  // gfx90 must not match gfx90a
  expect_says(with("hip", {"blas/hip"}, {{"SIMGPU_ARCH", "gfx900"}}), "has no kernels for gfx900");
}

TEST(Providers, AFolderOfKernelsThatIsGiven) {
  const auto result =
      with("hip", {"blas/hip"}, {{"ROCBLAS_TENSILE_LIBPATH", "/nowhere"}, {"HIPBLASLT_TENSILE_LIBPATH", "/nowhere"}});
  expect_says(result, "computed by own");
  expect_says(result, "/nowhere has no kernels for gfx90a");
}

TEST(TensileFiles, AreThoseOfTheChip) {
  EXPECT_TRUE(gpu::has_tensile_files({"Kernels.so-000-gfx906.hsaco", "TensileLibrary_lazy_gfx906.dat"},
                                     "gfx906:sramecc+:xnack-"));
  EXPECT_TRUE(gpu::has_tensile_files({"TensileLibrary.dat", "TensileLibrary_gfx90a.co"}, "gfx90a"));
  EXPECT_TRUE(
      gpu::has_tensile_files({"TensileLibrary_Type_HH_Contraction_l_Alik_Bljk_Cijk_Dijk_gfx90a-xnack+.co"}, "gfx90a"));
  EXPECT_FALSE(gpu::has_tensile_files({"TensileLibrary_lazy_gfx1030.dat"}, "gfx103"));
  EXPECT_FALSE(gpu::has_tensile_files({"TensileLibrary_lazy_gfx90a.dat"}, "gfx90"));
  EXPECT_FALSE(gpu::has_tensile_files({"TensileLibrary.dat"}, "gfx900"));
  EXPECT_FALSE(gpu::has_tensile_files({"Kernels.so-000-gfx1031.hsaco"}, "gfx1031"));
  EXPECT_FALSE(gpu::has_tensile_files({"TensileLibrary_lazy_gfx1030.dat"}, ""));
  EXPECT_EQ(gpu::tensile_folders("/opt/rocm/lib/librocblas.so.4", "rocblas", "").front(),
            "/opt/rocm/lib/rocblas/library");
  EXPECT_EQ(gpu::tensile_folders("/x/librocblas.so.4", "rocblas", "/given"), std::vector<std::string>{"/given"});
}

}  // namespace
}  // namespace catenary
