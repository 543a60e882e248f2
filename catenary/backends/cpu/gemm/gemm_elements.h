#pragma once
// Private to the *.simd.cpp files of the CPU's products and convolutions: access to elements whose type in memory may
// be narrower than the type of the computation. They are widened while they are loaded or packed, so no operand is
// converted as a whole.

#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include "catenary/backends/cpu/gemm/gemm_micro.h"
#include "catenary/core/half.h"

namespace catenary::cpu::CT_SIMD_NAMESPACE {
namespace {

CT_INLINE float widened(float x) { return x; }
CT_INLINE double widened(double x) { return x; }
CT_INLINE float widened(bfloat16 x) { return std::bit_cast<float>(static_cast<std::uint32_t>(x.bits) << 16); }
CT_INLINE float widened(float16 x) {
#if defined(__F16C__)
  return _cvtsh_ss(x.bits);
#else
  return detail::half_to_float(x.bits);
#endif
}

// Loads a vector of the computation's type from as many elements in memory.
CT_INLINE Vector<float> load_wide(const float* p) { return load(p); }
CT_INLINE Vector<double> load_wide(const double* p) { return load(p); }
#if defined(__AVX512F__)
CT_INLINE Vector<float> wide_bfloat(__m256i x) {
  return reinterpret_cast<Vector<float>>(_mm512_slli_epi32(_mm512_cvtepu16_epi32(x), 16));
}
CT_INLINE __m256i whole(const void* p) { return _mm256_loadu_si256(static_cast<const __m256i_u*>(p)); }
CT_INLINE Vector<float> load_wide(const bfloat16* p) { return wide_bfloat(whole(p)); }
CT_INLINE Vector<float> load_wide(const float16* p) { return _mm512_cvtph_ps(whole(p)); }
CT_INLINE Vector<float> load_wide_some(const bfloat16* p, int n) {
  return wide_bfloat(_mm256_maskz_loadu_epi16(static_cast<__mmask16>((1u << n) - 1), p));
}
CT_INLINE Vector<float> load_wide_some(const float16* p, int n) {
  return _mm512_cvtph_ps(_mm256_maskz_loadu_epi16(static_cast<__mmask16>((1u << n) - 1), p));
}
#else
#  if defined(__AVX2__)
CT_INLINE __m128i whole(const void* p) { return _mm_loadu_si128(static_cast<const __m128i_u*>(p)); }
CT_INLINE Vector<float> load_wide(const bfloat16* p) {
  return reinterpret_cast<Vector<float>>(_mm256_slli_epi32(_mm256_cvtepu16_epi32(whole(p)), 16));
}
CT_INLINE Vector<float> load_wide(const float16* p) { return _mm256_cvtph_ps(whole(p)); }
#  else
template <class E>
CT_INLINE Vector<float> load_each(const E* p) {
  Vector<float> x;
  for (int i = 0; i < kLanes<float>; ++i) x[i] = widened(p[i]);
  return x;
}
CT_INLINE Vector<float> load_wide(const bfloat16* p) { return load_each(p); }
CT_INLINE Vector<float> load_wide(const float16* p) { return load_each(p); }
#  endif
template <class E>
CT_INLINE Vector<float> load_wide_some(const E* p, int n) {
  E some[kLanes<float>] = {};
  std::memcpy(some, p, static_cast<std::size_t>(n) * sizeof(E));
  return load_wide(some);
}
#endif
CT_INLINE Vector<float> load_wide_some(const float* p, int n) { return load_some(p, n); }
CT_INLINE Vector<double> load_wide_some(const double* p, int n) { return load_some(p, n); }

// Loads the even or odd lanes of twice as many bfloat16: one instruction widens them, while adjacent lanes take two.
// The order does not matter for sums of products if both factors are read this way.
template <class E>
constexpr bool kByParity = std::is_same_v<E, bfloat16>&& kVectorBytes >= 32;
#if defined(__AVX512F__)
template <bool kOdd>
CT_INLINE Vector<float> wide_of_pairs(__m512i x) {
  return reinterpret_cast<Vector<float>>(kOdd ? _mm512_and_si512(x, _mm512_set1_epi32(-65536))
                                              : _mm512_slli_epi32(x, 16));
}
template <bool kOdd>
CT_INLINE Vector<float> load_pairs(const bfloat16* p) {
  return wide_of_pairs<kOdd>(_mm512_loadu_si512(p));
}
template <bool kOdd>
CT_INLINE Vector<float> load_pairs_some(const bfloat16* p, int n) {
  return wide_of_pairs<kOdd>(_mm512_maskz_loadu_epi16(static_cast<__mmask32>((std::uint64_t{1} << n) - 1), p));
}
#elif defined(__AVX2__)
template <bool kOdd>
CT_INLINE Vector<float> load_pairs(const bfloat16* p) {
  const __m256i x = _mm256_loadu_si256(reinterpret_cast<const __m256i_u*>(p));
  return reinterpret_cast<Vector<float>>(kOdd ? _mm256_and_si256(x, _mm256_set1_epi32(-65536))
                                              : _mm256_slli_epi32(x, 16));
}
template <bool kOdd>
CT_INLINE Vector<float> load_pairs_some(const bfloat16* p, int n) {
  bfloat16 some[2 * kLanes<float>] = {};
  std::memcpy(some, p, static_cast<std::size_t>(n) * sizeof(bfloat16));
  return load_pairs<kOdd>(some);
}
#endif

// ---- packing ----

// out[p * kWidth + i] = x[i * rs + p * cs], widened, for i < rows, p < k. Lanes between `rows` and the next whole
// vector become zero. If kWidth is not a multiple of the lanes, a store spills into the next line, which is written
// later. The order of the loops relies on this, and up to one vector past the end is overwritten.
template <class T, int kWidth, class E>
static void pack_panel(const E* x, int64_t rs, int64_t cs, int rows, int64_t k, T* out) {
  constexpr int L = kLanes<T>;
  if (kWidth % L == 0 && rs == 1 && rows == kWidth) {  // whole lines, possibly far apart
    for (int64_t p = 0; p < k; ++p) {
      CT_UNROLL for (int i = 0; i < kWidth; i += L) store(out + p * kWidth + i, load_wide(x + p * cs + i));
    }
    return;
  }
  for (int i = (rows - 1) / L * L; i >= 0; i -= L) {
    const int lanes = std::min(rows - i, L);
    const E* from = x + i * rs;
    T* to = out + i;
    if (rs == 1 && lanes == L) {
      for (int64_t p = 0; p < k; ++p) store(to + p * kWidth, load_wide(from + p * cs));
    } else if (rs == 1) {
      for (int64_t p = 0; p < k; ++p) store(to + p * kWidth, load_wide_some(from + p * cs, lanes));
    } else {
      int64_t p = 0;
      if (cs == 1) {
        if constexpr (!std::is_same_v<E, T>) {
          alignas(64) T block[L * L] = {};
          for (; p + L <= k; p += L) {
            for (int r = 0; r < lanes; ++r) store(block + r * L, load_wide(from + r * rs + p));
            transpose_block(block, L, L, to + p * kWidth, kWidth);
          }
        } else if (lanes == L) {
          for (; p + L <= k; p += L) transpose_block(from + p, rs, L, to + p * kWidth, kWidth);
        } else {
          for (; p + L <= k; p += L) transpose_block(from + p, rs, lanes, to + p * kWidth, kWidth);
        }
      }
      for (; p < k; ++p) {
        for (int r = 0; r < std::min(L, kWidth - i); ++r)
          to[p * kWidth + r] = r < lanes ? widened(from[r * rs + p * cs]) : T(0);
      }
    }
  }
}

}  // namespace
}  // namespace catenary::cpu::CT_SIMD_NAMESPACE
