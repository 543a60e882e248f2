// A stand-in for libcublas.so. SIM_WITHOUT_PRODUCT leaves out the function that multiplies.

#include "tests/simgpu/blas/product.h"

using namespace simgpu_blas;

namespace {

constexpr int kSuccess = 0, kNotInitialized = 1, kInvalidValue = 7, kExecutionFailed = 13, kNotSupported = 15;

struct Context {
  std::uint64_t magic = 0xc0b1a5;
  Handle stream = nullptr;
  int math = 0;
};
Context* context_of(Handle handle) {
  auto* context = static_cast<Context*>(handle);
  return context && context->magic == 0xc0b1a5 ? context : nullptr;
}

}  // namespace

EXPORT int cublasCreate_v2(Handle* handle) {
  if (fault("create")) return kNotInitialized;
  *handle = new Context;
  return kSuccess;
}
EXPORT int cublasGetVersion_v2(Handle, int* version) {
  *version = 130002;
  return kSuccess;
}
EXPORT int cublasSetStream_v2(Handle handle, Handle stream) {
  if (!context_of(handle)) return kNotInitialized;
  context_of(handle)->stream = stream;
  return kSuccess;
}
EXPORT int cublasSetMathMode(Handle handle, int mode) {
  if (!context_of(handle)) return kNotInitialized;
  context_of(handle)->math = mode;
  return kSuccess;
}
#ifndef SIM_WITHOUT_PRODUCT
EXPORT int cublasGemmStridedBatchedEx(Handle handle, int op_a, int op_b, int m, int n, int k, const void* alpha,
                                      const void* a, int a_type, int lda, long long a_stride, const void* b, int b_type,
                                      int ldb, long long b_stride, const void* beta, void* c, int c_type, int ldc,
                                      long long c_stride, int batch, int compute, int algorithm) {
  const Context* context = context_of(handle);
  if (!context) return kNotInitialized;
  if (fault("multiply")) return kExecutionFailed;
  if (a_type != b_type || a_type != c_type || algorithm != -1) return kNotSupported;
  Product p;
  if (!of_cuda_data_type(a_type, p.type)) return kNotSupported;
  if (compute != (p.type == Type::f64 ? 70 : 68) && !(p.type == Type::f32 && compute == 77)) return kNotSupported;
  if (op_a < 0 || op_a > 1 || op_b < 0 || op_b > 1) return kInvalidValue;
  p.m = m;
  p.n = n;
  p.k = k;
  p.batch = batch;
  p.a = {a, lda, a_stride, op_a == 1};
  p.b = {b, ldb, b_stride, op_b == 1};
  p.c = {c, ldc, c_stride, false};
  p.alpha = load(alpha, 0, p.type == Type::f64 ? Type::f64 : Type::f32);
  p.beta = load(beta, 0, p.type == Type::f64 ? Type::f64 : Type::f32);
  p.short_mantissa = compute == 77 && !tf32_is_forbidden();
  if (!is_valid(p)) return kInvalidValue;
  return submit(p, context->stream) ? kSuccess : kExecutionFailed;
}
#endif
