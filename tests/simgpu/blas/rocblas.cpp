// A stand-in for librocblas.so. Like the real one, it aborts the process if its kernels for the chip are missing. Its
// kernels lie in rocblas/library beside it.

#include <cstdio>
#include <filesystem>
#include <string>

#include "tests/simgpu/blas/product.h"

using namespace simgpu_blas;

namespace {

constexpr int kSuccess = 0, kInvalidHandle = 1, kNotImplemented = 2, kInvalidSize = 4, kInternalError = 6;

struct Context {
  std::uint64_t magic = 0x20cb1a5;
  Handle stream = nullptr;
};
Context* context_of(Handle handle) {
  auto* context = static_cast<Context*>(handle);
  return context && context->magic == 0x20cb1a5 ? context : nullptr;
}

}  // namespace

EXPORT int rocblas_create_handle(Handle* handle) {
  Dl_info self{};
  ::dladdr(reinterpret_cast<void*>(&rocblas_create_handle), &self);
  const char* arch = std::getenv("SIMGPU_ARCH");
  const std::string file = std::filesystem::path(self.dli_fname).parent_path().string() +
                           "/rocblas/library/TensileLibrary_lazy_" + (arch ? arch : "gfx90a") + ".dat";
  if (!std::filesystem::exists(file)) {
    std::fprintf(stderr, "rocBLAS error: Cannot read %s\n", file.c_str());
    std::abort();
  }
  if (fault("create")) return kInternalError;
  *handle = new Context;
  return kSuccess;
}
EXPORT int rocblas_get_version_string(char* text, std::size_t length) {
  std::snprintf(text, length, "4.2.1");
  return kSuccess;
}
EXPORT int rocblas_set_stream(Handle handle, Handle stream) {
  if (!context_of(handle)) return kInvalidHandle;
  context_of(handle)->stream = stream;
  return kSuccess;
}
EXPORT int rocblas_gemm_strided_batched_ex(Handle handle, int op_a, int op_b, std::int32_t m, std::int32_t n,
                                           std::int32_t k, const void* alpha, const void* a, int a_type,
                                           std::int32_t lda, std::int64_t a_stride, const void* b, int b_type,
                                           std::int32_t ldb, std::int64_t b_stride, const void* beta, const void* c,
                                           int c_type, std::int32_t ldc, std::int64_t c_stride, void* d, int d_type,
                                           std::int32_t ldd, std::int64_t d_stride, std::int32_t batch, int compute,
                                           int algorithm, std::int32_t, std::uint32_t flags) {
  const Context* context = context_of(handle);
  if (!context) return kInvalidHandle;
  if (fault("multiply")) return kInternalError;
  if (a_type != b_type || a_type != c_type || a_type != d_type || algorithm != 0 || flags != 0) return kNotImplemented;
  if (c != d || ldc != ldd || c_stride != d_stride) return kNotImplemented;  // the real one would accept it
  Product p;
  switch (a_type) {
    case 150:
      p.type = Type::f16;
      break;
    case 151:
      p.type = Type::f32;
      break;
    case 152:
      p.type = Type::f64;
      break;
    case 168:
      p.type = Type::bf16;
      break;
    default:
      return kNotImplemented;
  }
  if (compute != (p.type == Type::f64 ? 152 : 151)) return kNotImplemented;
  if (op_a < 111 || op_a > 112 || op_b < 111 || op_b > 112) return kInvalidSize;
  p.m = m;
  p.n = n;
  p.k = k;
  p.batch = batch;
  p.a = {a, lda, a_stride, op_a == 112};
  p.b = {b, ldb, b_stride, op_b == 112};
  p.c = {d, ldd, d_stride, false};
  p.alpha = load(alpha, 0, p.type == Type::f64 ? Type::f64 : Type::f32);
  p.beta = load(beta, 0, p.type == Type::f64 ? Type::f64 : Type::f32);
  if (!is_valid(p)) return kInvalidSize;
  return submit(p, context->stream) ? kSuccess : kInternalError;
}
