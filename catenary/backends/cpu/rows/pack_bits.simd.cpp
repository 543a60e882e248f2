// Bits of a row packed into bytes, and back.

#include <array>
#include <cstdint>
#include <cstring>

#if defined(__SSSE3__)
#  include <immintrin.h>
#endif

#include "catenary/backends/cpu/rows/rows.h"

namespace catenary::cpu::CT_SIMD_NAMESPACE {
namespace {

using std::int64_t;

/// Packs eight elements: sets the bit of each that is not 0.
std::uint8_t packed_eight(std::uint64_t eight, bool is_little) {
  constexpr std::uint64_t kLow = 0x7f7f7f7f7f7f7f7fu, kOnes = 0x0101010101010101u;
  const std::uint64_t bits = ((((eight & kLow) + kLow) | eight) >> 7) & kOnes;
  // the product moves bit 8i of eight elements to bit 56 + i, or 63 - i
  return static_cast<std::uint8_t>(bits * (is_little ? 0x0102040810204080u : 0x8040201008040201u) >> 56);
}

#if defined(__SSSE3__)
/// Packs sixteen elements.
std::uint16_t packed_sixteen(const std::uint8_t* from, __m128i order) {
  const __m128i x = _mm_shuffle_epi8(_mm_loadu_si128(reinterpret_cast<const __m128i*>(from)), order);
  const int zeros = _mm_movemask_epi8(_mm_cmpeq_epi8(x, _mm_setzero_si128()));
  return static_cast<std::uint16_t>(~zeros);
}
#endif

}  // namespace

void pack_bits(const std::uint8_t* from, std::uint8_t* to, int64_t n, bool is_little) {
  int64_t i = 0;
#if defined(__SSSE3__)
  const __m128i order = is_little ? _mm_setr_epi8(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15)
                                  : _mm_setr_epi8(7, 6, 5, 4, 3, 2, 1, 0, 15, 14, 13, 12, 11, 10, 9, 8);
  for (; i + 64 <= n; i += 64) {
    std::uint64_t bits = 0;
    for (int k = 0; k < 4; ++k) bits |= std::uint64_t{packed_sixteen(from + i + 16 * k, order)} << (16 * k);
    std::memcpy(to + i / 8, &bits, 8);
  }
#endif
  for (; i < n; i += 8) {
    std::uint64_t eight = 0;
    if (i + 8 <= n) {
      std::memcpy(&eight, from + i, 8);
    } else {
      std::memcpy(&eight, from + i, static_cast<std::size_t>(n - i));
    }
    to[i / 8] = packed_eight(eight, is_little);
  }
}

void unpack_bits(const std::uint8_t* from, std::uint8_t* to, int64_t bytes, bool is_little) {
  static const auto tables = [] {
    std::array<std::array<std::uint64_t, 256>, 2> all{};
    for (std::uint64_t byte = 0; byte < 256; ++byte)
      for (int i = 0; i < 8; ++i) {
        all[0][byte] |= (byte >> (7 - i) & 1) << (8 * i);
        all[1][byte] |= (byte >> i & 1) << (8 * i);
      }
    return all;
  }();
  const std::array<std::uint64_t, 256>& bits = tables[is_little ? 1 : 0];
  for (int64_t i = 0; i < bytes; ++i) std::memcpy(to + 8 * i, &bits[from[i]], 8);
}

}  // namespace catenary::cpu::CT_SIMD_NAMESPACE
