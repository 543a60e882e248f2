#pragma once
// Private to the *.simd.cpp files of products with quantised weights and x rounded to 8 bits: vectors of bytes, and the
// conversion of 32 floats to bytes.

#include <algorithm>
#include <bit>

#include "catenary/backends/cpu/quantized/quantized_blocks.h"

namespace catenary::cpu::CT_SIMD_NAMESPACE {
namespace {

#if defined(__AVX2__)

using std::int8_t;

// ---- vectors of bytes, and of sums of four ----

constexpr int L = kLanes<float>, kBytes = 4 * L;
constexpr bool kWide = L == 16;  // 512 bits

#  if defined(__AVX512F__)
#    define CT_BYTE_UNITS __attribute__((target("avx512vnni")))
using Ints = __m512i;
// Added to signed weights to make them nonnegative.
constexpr int kRaised = 128;
CT_INLINE Ints whole_bytes(const void* p) { return _mm512_loadu_si512(p); }
CT_INLINE Ints two_of(const void* p, const void* q) {
  return _mm512_inserti64x4(_mm512_castsi256_si512(whole(p)), whole(q), 1);
}
CT_INLINE Ints both(const void* p) { return _mm512_broadcast_i64x4(whole(p)); }
CT_INLINE Ints low_bits(Ints x) { return _mm512_and_si512(x, _mm512_set1_epi8(15)); }
CT_INLINE Ints high_bits(Ints x) { return low_bits(_mm512_srli_epi16(x, 4)); }
CT_INLINE Vector<float> as_floats(Ints x) { return _mm512_cvtepi32_ps(x); }
/// Adds u * s in groups of four to sum. u must be nonnegative.
CT_INLINE CT_BYTE_UNITS Ints dot(Ints sum, Ints u, Ints s) { return _mm512_dpbusd_epi32(sum, u, s); }
CT_INLINE CT_BYTE_UNITS Ints dot(Ints sum, Ints u, Ints s, Ints v, Ints t) {
  return _mm512_dpbusd_epi32(_mm512_dpbusd_epi32(sum, u, s), v, t);
}
/// Does dot for signed w, which it raises.
CT_INLINE CT_BYTE_UNITS Ints dot_signed(Ints sum, Ints w, Ints s) {
  return _mm512_dpbusd_epi32(sum, _mm512_xor_si512(w, _mm512_set1_epi8(-128)), s);
}
#  else
#    define CT_BYTE_UNITS
using Ints = __m256i;
constexpr int kRaised = 0;
CT_INLINE Ints whole_bytes(const void* p) { return _mm256_loadu_si256(static_cast<const __m256i_u*>(p)); }
CT_INLINE Ints low_bits(Ints x) { return _mm256_and_si256(x, _mm256_set1_epi8(15)); }
CT_INLINE Ints high_bits(Ints x) { return low_bits(_mm256_srli_epi16(x, 4)); }
CT_INLINE Vector<float> as_floats(Ints x) { return _mm256_cvtepi32_ps(x); }
CT_INLINE Ints by_fours(Ints sum, Ints pairs) {
  return _mm256_add_epi32(sum, _mm256_madd_epi16(pairs, _mm256_set1_epi16(1)));
}
// Sums of two products fit 16 bits, since u is at most 128 and s at most 127. With two vectors, u is at most 15.
CT_INLINE Ints dot(Ints sum, Ints u, Ints s) { return by_fours(sum, _mm256_maddubs_epi16(u, s)); }
CT_INLINE Ints dot(Ints sum, Ints u, Ints s, Ints v, Ints t) {
  return by_fours(sum, _mm256_add_epi16(_mm256_maddubs_epi16(u, s), _mm256_maddubs_epi16(v, t)));
}
CT_INLINE Ints dot_signed(Ints sum, Ints w, Ints s) { return dot(sum, _mm256_abs_epi8(w), _mm256_sign_epi8(s, w)); }
#  endif
CT_INLINE __m128i sixteen(const void* p) { return _mm_loadu_si128(static_cast<const __m128i_u*>(p)); }

// Converts 32 floats to bytes and a scale. Returns false for an inf or a NaN.
inline bool round_block(const float* x, int8_t* bytes, float& scale, std::int32_t& sum) {
  const __m256i magnitude = _mm256_set1_epi32(0x7fffffff);
  __m256i most = _mm256_setzero_si256();  // bits of nonnegative floats are ordered like the floats
  for (int i = 0; i < 32; i += 8)
    most = _mm256_max_epi32(most,
                            _mm256_and_si256(magnitude, _mm256_loadu_si256(reinterpret_cast<const __m256i_u*>(x + i))));
  alignas(32) std::int32_t lanes[8];
  _mm256_store_si256(reinterpret_cast<__m256i*>(lanes), most);
  std::int32_t bits = 0;
  for (const std::int32_t lane : lanes) bits = std::max(bits, lane);
  if (bits >= 0x7f800000) return false;
  const auto largest = std::bit_cast<float>(bits);
  if (largest < 1e-36f) {  // the quotient would be infinite
    std::memset(bytes, 0, 32);
    scale = 0, sum = 0;
    return true;
  }
  scale = largest / 127;
  const __m256 by = _mm256_set1_ps(127 / largest);
  __m256i words[4];
  for (int i = 0; i < 4; ++i) words[i] = _mm256_cvtps_epi32(_mm256_mul_ps(by, _mm256_loadu_ps(x + 8 * i)));
  const __m256i packed =
      _mm256_packs_epi16(_mm256_packs_epi32(words[0], words[1]), _mm256_packs_epi32(words[2], words[3]));
  const __m256i all = _mm256_permutevar8x32_epi32(packed, _mm256_setr_epi32(0, 4, 1, 5, 2, 6, 3, 7));
  _mm256_storeu_si256(reinterpret_cast<__m256i_u*>(bytes), all);
  sum = 0;
  for (int i = 0; i < 32; ++i) sum += bytes[i];
  return true;
}

#endif

}  // namespace
}  // namespace catenary::cpu::CT_SIMD_NAMESPACE
