// GELU and its gradient in one pass, with fused multiply-add.

#include <algorithm>
#include <cstdint>

#include "catenary/backends/cpu/rows/row_vectors.h"
#include "catenary/backends/cpu/rows/rows.h"

namespace catenary::cpu::CT_SIMD_NAMESPACE {
namespace {

constexpr int64_t kPart = 1024;  // elements widened at a time

/// The normal distribution's cumulative function, within 6e-8: 1/2 + x times an even polynomial up to 5.5, where it
/// rounds to 0 or 1. (fit_math.py: normal)
CT_ROW_INLINE float cumulative(float x) {
  constexpr float kEnd = 5.5F;
  const float c = x > kEnd ? kEnd : x < -kEnd ? -kEnd : x;
  const float w = c * c * 0.0661156997F - 1.0F;
  float p = 0.000113726128F;
  p = p * w - 0.000285286398F;
  p = p * w + 0.000201298724F;
  p = p * w - 0.000358214078F;
  p = p * w + 0.0013792431F;
  p = p * w - 0.00265651802F;
  p = p * w + 0.00409791572F;
  p = p * w - 0.00665234262F;
  p = p * w + 0.0104575213F;
  p = p * w - 0.0150618451F;
  p = p * w + 0.0203101356F;
  p = p * w - 0.0260362942F;
  p = p * w + 0.03207656F;
  p = p * w - 0.0387937799F;
  p = p * w + 0.0477373526F;
  p = p * w - 0.0641723126F;
  p = p * w + 0.12855193F;
  const float y = 0.5F + c * p;
  return x > kEnd ? 1.0F : x < -kEnd ? 0.0F : y;
}
/// The derivative of x * cumulative(x).
CT_ROW_INLINE float slope(float x) {
  const float c = x > 14.0F ? 14.0F : x < -14.0F ? -14.0F : x;
  return cumulative(x) + c * exp_of_low(c * c * -0.5F) * 0.398942280F;
}

template <class E>
void run_gelu(const void* x, const void* gy, void* out, int64_t n) {
  alignas(64) float values[kPart], gradients[kPart];
  for (int64_t i = 0; i < n; i += kPart) {
    const int64_t m = std::min(kPart, n - i);
    const float* const from = row_as(static_cast<const E*>(x) + i, values, m);
    float* const to = results_of_row(static_cast<E*>(out) + i, values);
    if (gy) {
      const float* const grad = row_as(static_cast<const E*>(gy) + i, gradients, m);
      CT_INDEPENDENT for (int64_t j = 0; j < m; ++j) to[j] = grad[j] * slope(from[j]);
    } else {
      CT_INDEPENDENT for (int64_t j = 0; j < m; ++j) to[j] = from[j] * cumulative(from[j]);
    }
    finish_row(to, static_cast<E*>(out) + i, m);
  }
}

}  // namespace

GeluLoop gelu_loop(Dtype dtype) {
  switch (dtype) {
    case Dtype::float16:
      return run_gelu<float16>;
    case Dtype::bfloat16:
      return run_gelu<bfloat16>;
    case Dtype::float32:
      return run_gelu<float>;
    default:
      return nullptr;
  }
}

}  // namespace catenary::cpu::CT_SIMD_NAMESPACE
