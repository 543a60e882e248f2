#pragma once
// Private to the *.simd.cpp files of products with quantised weights: the fields of a block, and the conversion of a
// sum to an element of the result.

#include <cstdint>
#include <cstring>
#include <type_traits>

#include "catenary/backends/cpu/gemm/gemm_elements.h"
#include "catenary/backends/cpu/gemm/gemm_kernel.h"
#include "catenary/backends/cpu/quantized/quantized.h"
#include "catenary/core/half.h"

namespace catenary::cpu::CT_SIMD_NAMESPACE {
namespace {

using std::uint8_t;

CT_INLINE float half_at(const uint8_t* p) {
  float16 half;
  std::memcpy(&half, p, sizeof(half));
  return widened(half);
}

// Header of an int8 row.
struct Head {
  float scale, zero;
};
CT_INLINE Head head_of(const QuantizedArgs& g, int64_t j) {
  Head head;
  std::memcpy(&head, g.w + j * g.row_bytes, sizeof(head));
  return head;
}

// Computes a * b + c with one rounding, in products only. Dequantised numbers are rounded after the multiplication, so
// that all devices agree.
#if defined(__AVX512F__)
CT_INLINE Vector<float> fused(Vector<float> a, Vector<float> b, Vector<float> c) { return _mm512_fmadd_ps(a, b, c); }
#elif defined(__AVX2__)
CT_INLINE Vector<float> fused(Vector<float> a, Vector<float> b, Vector<float> c) { return _mm256_fmadd_ps(a, b, c); }
#else
CT_INLINE Vector<float> fused(Vector<float> a, Vector<float> b, Vector<float> c) { return a * b + c; }
#endif
CT_INLINE Vector<double> fused(Vector<double> a, Vector<double> b, Vector<double> c) { return a * b + c; }

template <class T>
CT_INLINE T sum_of(Vector<T> x) {
  T sum = 0;
  for (int half = kLanes<T> / 2; half > 0; half /= 2)
    for (int i = 0; i < half; ++i) x[i] += x[i + half];
  sum = x[0];
  return sum;
}

CT_INLINE void finish(const QuantizedArgs& g, int64_t i, int64_t j, double sum) {
  const int64_t at = i * g.y_row + j * g.y_column;
  static_cast<double*>(g.y)[at] = sum + (g.bias ? static_cast<const double*>(g.bias)[j] : 0);
}
CT_INLINE void finish(const QuantizedArgs& g, int64_t i, int64_t j, float sum) {
  const int64_t at = i * g.y_row + j * g.y_column;
  const auto put = [&](auto element) __attribute__((always_inline)) {
    using E = decltype(element);
    const float with = g.bias ? sum + widened(static_cast<const E*>(g.bias)[j]) : sum;
    if constexpr (std::is_same_v<E, float>) {
      static_cast<E*>(g.y)[at] = with;
    } else {
      narrow(&with, static_cast<E*>(g.y) + at, 1);
    }
  };
  if (g.dtype == Dtype::float32) {
    put(0.f);
  } else if (g.dtype == Dtype::float16) {
    put(float16());
  } else {
    put(bfloat16());
  }
}

}  // namespace
}  // namespace catenary::cpu::CT_SIMD_NAMESPACE
