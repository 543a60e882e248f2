// rocBLAS: rocblas_gemm_strided_batched_ex.

#include "catenary/backends/gpu/blas/provider.h"
#include "catenary/backends/gpu/libraries.h"
#include "catenary/backends/gpu/stream_handles.h"
#include "catenary/core/format.h"

namespace catenary::gpu {

namespace {

using Handle = void*;

constexpr int kNone = 111, kTranspose = 112;                    // rocblas_operation
constexpr int kF16 = 150, kF32 = 151, kF64 = 152, kBf16 = 168;  // rocblas_datatype
constexpr int kStandard = 0;                                    // rocblas_gemm_algo
constexpr int kNotImplemented = 2, kPerformanceDegraded = 7;    // rocblas_status

class Rocblas final : public MatmulProvider {
 public:
  using Multiply = int(Handle, int, int, std::int32_t m, std::int32_t n, std::int32_t k, const void* alpha,
                       const void* a, int a_type, std::int32_t lda, std::int64_t stride_a, const void* b, int b_type,
                       std::int32_t ldb, std::int64_t stride_b, const void* beta, const void* c, int c_type,
                       std::int32_t ldc, std::int64_t stride_c, void* d, int d_type, std::int32_t ldd,
                       std::int64_t stride_d, std::int32_t batch, int compute_type, int algorithm,
                       std::int32_t solution, std::uint32_t flags);

  Rocblas(Context& context, const os::Library& library, Handle handle)
      : MatmulProvider(context),
        untold_(context, "rocBLAS"),
        handles_(handle, library.required<int(Handle*)>("rocblas_create_handle"),
                 library.required<int(Handle, Handle)>("rocblas_set_stream")),
        multiply_(library.required<Multiply>("rocblas_gemm_strided_batched_ex")) {
    char text[64] = "of an unknown version";
    if (auto* version = library.function<int(char*, std::size_t)>("rocblas_get_version_string"))
      version(text, sizeof text);
    detail_ = fmt::format("{}, {}", text, library.path());
  }

  std::string detail() const override { return detail_; }

  const Computation* multiply(const Gemm& g, std::string& why) override {
    if (!is_floating(g.dtype)) return nullptr;
    const bool is_double = g.dtype == Dtype::float64;
    const int type = is_double ? kF64 : g.dtype == Dtype::float16 ? kF16 : g.dtype == Dtype::bfloat16 ? kBf16 : kF32;
    const float one = 1, beta = g.accumulate ? 1 : 0;
    const double one64 = 1, beta64 = g.accumulate ? 1 : 0;
    void* c = g.address(g.c);
    const auto ldc = static_cast<std::int32_t>(g.c.ld);
    int status = handles_.with(context_.driver.queue(context_.index), [&](Handle handle) {
      return multiply_(handle, g.a.transposed ? kTranspose : kNone, g.b.transposed ? kTranspose : kNone,
                       static_cast<std::int32_t>(g.m), static_cast<std::int32_t>(g.n), static_cast<std::int32_t>(g.k),
                       is_double ? static_cast<const void*>(&one64) : &one, g.address(g.a), type,
                       static_cast<std::int32_t>(g.a.ld), g.a.stride, g.address(g.b), type,
                       static_cast<std::int32_t>(g.b.ld), g.b.stride,
                       is_double ? static_cast<const void*>(&beta64) : &beta, c, type, ldc, g.c.stride, c, type, ldc,
                       g.c.stride, static_cast<std::int32_t>(g.batch), is_double ? kF64 : kF32, kStandard, 0, 0);
    });
    if (status == kPerformanceDegraded) status = 0;  // succeeded with less memory than preferred
    if (status != 0 && status != kNotImplemented) why = fmt::format("it cannot multiply (status {})", status);
    return status == 0 ? untold_.of(g, false) : nullptr;
  }

 private:
  UntoldProducts untold_;
  StreamHandles handles_;
  std::string detail_;
  Multiply* const multiply_;
};

}  // namespace

const RocmLibrary& rocblas() {
  static const RocmLibrary library = {"rocBLAS",
                                      {{5, 5, "librocblas.so.3"},
                                       {5, 5, "librocblas.so.0"},
                                       {6, 6, "librocblas.so.4"},
                                       {7, 8, "librocblas.so.6"},
                                       {7, 8, "librocblas.so.5"}},
                                      "rocblas",
                                      "ROCBLAS_TENSILE_LIBPATH"};
  return library;
}

std::unique_ptr<Provider<Gemm>> open_rocblas(Context& context, std::string& why) {
  return open_rocm_library(context, rocblas(), why, [&](const os::Library& library, std::string& reason) {
    Handle handle = make_handle(context, library, "rocblas_create_handle", reason);
    return handle ? std::make_unique<Rocblas>(context, library, handle) : nullptr;
  });
}

}  // namespace catenary::gpu
