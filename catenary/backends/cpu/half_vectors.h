#pragma once
// Private to *.simd.cpp files: converts eight float16 at a time with the level's instructions. GCC compiles
// half_bits.h's functions to more than ten instructions, and does not vectorise to_half for AVX2.

#if defined(__F16C__)
#  include <immintrin.h>

namespace catenary::cpu {
namespace {

inline __m256 from_halves(const void* h) { return _mm256_cvtph_ps(_mm_loadu_si128(static_cast<const __m128i*>(h))); }

// Rounds like to_half, with its bits for NaN.
inline __m128i to_halves(__m256 x) {
  const __m128i half = _mm256_cvtps_ph(x, _MM_FROUND_TO_NEAREST_INT);
  const __m256i wide_nan = _mm256_castps_si256(_mm256_cmp_ps(x, x, _CMP_UNORD_Q));
  const __m128i is_nan = _mm_packs_epi32(_mm256_castsi256_si128(wide_nan), _mm256_extractf128_si256(wide_nan, 1));
  const __m128i sign = _mm_and_si128(half, _mm_set1_epi16(static_cast<short>(0x8000)));
  return _mm_blendv_epi8(half, _mm_or_si128(sign, _mm_set1_epi16(0x7e00)), is_nan);
}

}  // namespace
}  // namespace catenary::cpu
#endif
