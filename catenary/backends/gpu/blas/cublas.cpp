// cuBLAS: cublasGemmStridedBatchedEx.

#include "catenary/backends/gpu/blas/provider.h"
#include "catenary/backends/gpu/libraries.h"
#include "catenary/backends/gpu/stream_handles.h"
#include "catenary/core/config.h"
#include "catenary/core/format.h"

namespace catenary::gpu {

namespace {

using Handle = void*;

constexpr int kNone = 0, kTranspose = 1;                              // cublasOperation_t
constexpr int kF32 = 0, kF64 = 1, kF16 = 2, kBf16 = 14;               // cudaDataType
constexpr int kComputeF32 = 68, kComputeF64 = 70, kComputeTf32 = 77;  // cublasComputeType_t
constexpr int kDefaultAlgorithm = -1, kNoSumsIn16Bits = 16;           // cublasGemmAlgo_t, cublasMath_t
constexpr int kNotSupported = 15, kArchMismatch = 8;                  // cublasStatus_t

class Cublas final : public MatmulProvider {
 public:
  using Multiply = int(Handle, int, int, int m, int n, int k, const void* alpha, const void* a, int a_type, int lda,
                       long long stride_a, const void* b, int b_type, int ldb, long long stride_b, const void* beta,
                       void* c, int c_type, int ldc, long long stride_c, int batch, int compute_type, int algorithm);

  Cublas(Context& context, const os::Library& library, Handle handle, const std::string& version)
      : MatmulProvider(context),
        untold_(context, "cuBLAS"),
        handles_(
            handle, library.required<int(Handle*)>("cublasCreate_v2"),
            [set_math = library.required<int(Handle, int)>("cublasSetMathMode"),
             set_stream = library.required<int(Handle, Handle)>("cublasSetStream_v2")](Handle made, Handle stream) {
              const int status = set_math(made, kNoSumsIn16Bits);
              return status == 0 ? set_stream(made, stream) : status;
            }),
        detail_(fmt::format("{}, {}", version, library.path())),
        multiply_(library.required<Multiply>("cublasGemmStridedBatchedEx")) {}

  std::string detail() const override { return detail_; }

  const Computation* multiply(const Gemm& g, std::string& why) override {
    if (!is_floating(g.dtype)) return nullptr;
    const bool is_double = g.dtype == Dtype::float64;
    const int type = is_double ? kF64 : g.dtype == Dtype::float16 ? kF16 : g.dtype == Dtype::bfloat16 ? kBf16 : kF32;
    const bool tf32 = type == kF32 && config.tf32;
    const int compute = is_double ? kComputeF64 : tf32 ? kComputeTf32 : kComputeF32;
    const float one = 1, beta = g.accumulate ? 1 : 0;
    const double one64 = 1, beta64 = g.accumulate ? 1 : 0;
    const int status = handles_.with(context_.driver.queue(context_.index), [&](Handle handle) {
      return multiply_(handle, g.a.transposed ? kTranspose : kNone, g.b.transposed ? kTranspose : kNone,
                       static_cast<int>(g.m), static_cast<int>(g.n), static_cast<int>(g.k),
                       is_double ? static_cast<const void*>(&one64) : &one, g.address(g.a), type,
                       static_cast<int>(g.a.ld), g.a.stride, g.address(g.b), type, static_cast<int>(g.b.ld), g.b.stride,
                       is_double ? static_cast<const void*>(&beta64) : &beta, g.address(g.c), type,
                       static_cast<int>(g.c.ld), g.c.stride, static_cast<int>(g.batch), compute, kDefaultAlgorithm);
    });
    if (status != 0 && status != kNotSupported && status != kArchMismatch)
      why = fmt::format("it cannot multiply (status {})", status);
    return status == 0 ? untold_.of(g, tf32) : nullptr;
  }

 private:
  UntoldProducts untold_;
  StreamHandles handles_;
  const std::string detail_;
  Multiply* const multiply_;
};

}  // namespace

std::unique_ptr<Provider<Gemm>> open_cublas(Context& context, std::string& why) {
  return open_cuda_library(context, "cublas", why, [&](const os::Library& library, std::string& reason) {
    std::unique_ptr<MatmulProvider> provider;
    if (Handle handle = make_handle(context, library, "cublasCreate_v2", reason)) {
      int version = 0;
      library.required<int(Handle, int*)>("cublasGetVersion_v2")(handle, &version);
      provider =
          std::make_unique<Cublas>(context, library, handle, cuda_library_version(static_cast<std::size_t>(version)));
    }
    return provider;
  });
}

}  // namespace catenary::gpu
