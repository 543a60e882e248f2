// Products of integers and bools by plain blocked loops that vectorise, and conversions between 16-bit floats and
// float32.

#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstring>

#if defined(__F16C__)
#  include <immintrin.h>
#endif

#include "catenary/backends/cpu/gemm/gemm_kernel.h"
#include "catenary/backends/cpu/half_vectors.h"
#include "catenary/core/half.h"

namespace catenary::cpu::CT_SIMD_NAMESPACE {
namespace {

using std::int64_t;

struct Wrap {
  template <class T>
  static T add(T a, T b) {
    return static_cast<T>(a + b);
  }
  template <class T>
  static T multiply(T a, T b) {
    return static_cast<T>(a * b);
  }
};
struct Any {  // bytes of 0 and 1
  static std::uint8_t add(std::uint8_t a, std::uint8_t b) { return a | b; }
  static std::uint8_t multiply(std::uint8_t a, std::uint8_t b) { return a & b; }
};

// Sums a strip of C's row in `sums` while a contiguous copy of a block of B stays in the cache.
template <class T, class Ring, class From = T>
static void integer(const IntegerGemm& g) {
  constexpr int64_t kStrip = 1024 / sizeof(T), kDepth = 64;
  const From* a = static_cast<const From*>(g.a);
  const From* b = static_cast<const From*>(g.b);
  const T* bias_n = static_cast<const T*>(g.bias_n);
  const T* bias_m = static_cast<const T*>(g.bias_m);
  T* c = static_cast<T*>(g.c);
  alignas(64) T block[kDepth][kStrip];
  alignas(64) T sums[kStrip];
  for (int64_t j0 = 0; j0 < g.n; j0 += kStrip) {
    const int64_t n = std::min(kStrip, g.n - j0);
    int64_t p0 = 0;
    do {
      const int64_t depth = std::min(kDepth, g.k - p0);
      for (int64_t p = 0; p < depth; ++p)
        for (int64_t j = 0; j < n; ++j) block[p][j] = static_cast<T>(b[(p0 + p) * g.b_rs + (j0 + j) * g.b_cs]);
      for (int64_t i = 0; i < g.m; ++i) {
        T* row = c + i * g.c_rs + j0 * g.c_cs;
        if (p0 > 0 || g.accumulate) {
          for (int64_t j = 0; j < n; ++j) sums[j] = row[j * g.c_cs];
        } else {
          std::fill(sums, sums + n, T(0));
        }
        if (p0 == 0 && bias_n)
          for (int64_t j = 0; j < n; ++j) sums[j] = Ring::add(sums[j], bias_n[j0 + j]);
        if (p0 == 0 && bias_m)
          for (int64_t j = 0; j < n; ++j) sums[j] = Ring::add(sums[j], bias_m[i]);
        for (int64_t p = 0; p < depth; ++p) {
          const T x = static_cast<T>(a[i * g.a_rs + (p0 + p) * g.a_cs]);
          for (int64_t j = 0; j < n; ++j) sums[j] = Ring::add(sums[j], Ring::multiply(x, block[p][j]));
        }
        for (int64_t j = 0; j < n; ++j) row[j * g.c_cs] = sums[j];
      }
      p0 += kDepth;
    } while (p0 < g.k);
  }
}

}  // namespace

// Signedness matters only when numbers are widened, not for sums and products that wrap.
void gemm_integer(const IntegerGemm& g, Dtype from, Dtype to) {
  if (from == Dtype::bool_) return integer<std::uint8_t, Any>(g);
  if (from != to)
    return from == Dtype::int8 ? integer<std::uint32_t, Wrap, std::int8_t>(g)
                               : integer<std::uint32_t, Wrap, std::uint8_t>(g);
  switch (itemsize(to)) {
    case 1:
      return integer<std::uint8_t, Wrap>(g);
    case 2:
      return integer<std::uint16_t, Wrap>(g);
    case 4:
      return integer<std::uint32_t, Wrap>(g);
    default:
      return integer<std::uint64_t, Wrap>(g);
  }
}

void widen(const bfloat16* x, float* y, int64_t n) {
  for (int64_t i = 0; i < n; ++i) y[i] = std::bit_cast<float>(static_cast<std::uint32_t>(x[i].bits) << 16);
}

void widen(const float16* x, float* y, int64_t n) {
  int64_t i = 0;
#if defined(__F16C__)
  for (; i + 8 <= n; i += 8) _mm256_storeu_ps(y + i, from_halves(x + i));
  for (; i < n; ++i) y[i] = _cvtsh_ss(x[i].bits);
#else
  for (; i < n; ++i) y[i] = detail::half_to_float(x[i].bits);
#endif
}

void narrow(const float* x, bfloat16* y, int64_t n) {
  for (int64_t i = 0; i < n; ++i) {
    const std::uint32_t bits = std::bit_cast<std::uint32_t>(x[i]);
    const bool nan = (bits & 0x7fffffffu) > 0x7f800000u;
    y[i].bits = static_cast<std::uint16_t>((nan ? bits | 0x400000u : bits + 0x7fffu + ((bits >> 16) & 1u)) >> 16);
  }
}

void narrow(const float* x, float16* y, int64_t n) {
  int64_t i = 0;
#if defined(__F16C__)
  for (; i + 8 <= n; i += 8)
    _mm_storeu_si128(reinterpret_cast<__m128i*>(y + i),
                     _mm256_cvtps_ph(_mm256_loadu_ps(x + i), _MM_FROUND_TO_NEAREST_INT));
  for (; i < n; ++i) y[i].bits = _cvtss_sh(x[i], _MM_FROUND_TO_NEAREST_INT);
#else
  for (; i < n; ++i) y[i].bits = detail::float_to_half(x[i]);
#endif
}

}  // namespace catenary::cpu::CT_SIMD_NAMESPACE
