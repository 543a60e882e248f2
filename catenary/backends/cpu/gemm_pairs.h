#pragma once
// Private to the *.simd.cpp files of products and convolutions of 16-bit floats: panels, and who multiplies two of
// them.

#include <algorithm>
#include <cstdint>
#include <cstring>

#include "catenary/backends/cpu/gemm_elements.h"
#include "catenary/backends/cpu/gemm_micro.h"

namespace catenary::cpu::CT_SIMD_NAMESPACE {
namespace {

constexpr int64_t round_up(int64_t n, int64_t to) { return ceil_div(n, to) * to; }

// A panel of A, packed or where it lies; distances in elements.
template <class P>
struct Rows {
  const P* at = nullptr;
  int64_t stride = 0;  // from row to row
  int64_t below = 0;   // from the first 16 rows to the next
  int64_t step = 0;    // from one step of the depth to the next
};

#if defined(CT_SIMD_v4)

#  define CT_BFLOAT_UNITS __attribute__((target("avx512bf16")))
#  define CT_TILE_UNITS __attribute__((target("amx-tile,amx-bf16")))

// Panels are bfloat16 in pairs along the depth, as the instructions take them: of A 32 elements of 16 rows after each
// other, of B pairs of 16 columns. Both are filled with zeros up to whole tiles.
struct Pairs {
  using E = bfloat16;
  using Panel = bfloat16;
  static constexpr int64_t rows = 32, columns = 32, step = 32;
  static constexpr int64_t spill = 0;
  static constexpr int64_t tile = 16 * 32;

  // A few columns of the result do not pay for a copy of A.
  static bool in_place(const GemmArgs<float, E>& g, int64_t i, int64_t k) {
    return g.a_cs == 1 && g.n <= 2 * columns && i + rows <= g.m && k % step == 0;
  }
  static Rows<E> packed(const E* panel) { return {panel, 32, tile, 2 * tile}; }
  static Rows<E> placed(const E* x, int64_t rs) { return {x, rs, 16 * rs, step}; }

  // out[l] of 16 pairs: its pair i is the elements x[i * rs + p * cs] and x[i * rs + (p + 1) * cs] for p = p0 + 2 l,
  // where i < count and p < k, else zero.
  static void pair_lines(const E* x, int64_t rs, int64_t cs, int count, int64_t p0, int64_t k,
                         std::uint32_t (*out)[16]) {
    static constexpr std::uint16_t kOrder[32] = {0, 32, 1, 33, 2,  34, 3,  35, 4,  36, 5,  37, 6,  38, 7,  39,
                                                 8, 40, 9, 41, 10, 42, 11, 43, 12, 44, 13, 45, 14, 46, 15, 47};
    const __m512i interleave = _mm512_loadu_si512(kOrder);
    for (int l = 0; l < 16; ++l) {
      const int64_t p = p0 + 2 * l;
      if (rs == 1) {
        const auto line = [&](int64_t q) {
          return q < k ? _mm256_maskz_loadu_epi16(static_cast<__mmask16>((1u << count) - 1), x + q * cs)
                       : _mm256_setzero_si256();
        };
        _mm512_storeu_si512(out[l], _mm512_permutex2var_epi16(_mm512_castsi256_si512(line(p)), interleave,
                                                              _mm512_castsi256_si512(line(p + 1))));
        continue;
      }
      for (int i = 0; i < 16; ++i) {
        const auto element = [&](int64_t q) -> std::uint32_t {
          return i < count && q < k ? x[i * rs + q * cs].bits : 0;
        };
        out[l][i] = element(p) | element(p + 1) << 16;
      }
    }
  }

  // 32 elements of each of 16 rows whose elements are side by side: zero from `count` and from `k` on.
  static void whole_rows(const E* x, int64_t rs, int count, int64_t p0, int64_t k, std::uint32_t (*out)[16]) {
    const int64_t rest = std::min<int64_t>(32, k - p0);
    const __mmask32 mask = rest == 32 ? ~0u : (1u << rest) - 1;
    for (int i = 0; i < 16; ++i)
      _mm512_storeu_si512(out[i], i < count ? _mm512_maskz_loadu_epi16(mask, x + i * rs + p0) : _mm512_setzero_si512());
  }

  static void transpose(const std::uint32_t (*x)[16], E* out) {
    transpose_block(reinterpret_cast<const float*>(x), 16, 16, reinterpret_cast<float*>(out), 16);
  }

  static void pack_a(const E* x, int64_t rs, int64_t cs, int count, int64_t k, E* out) {
    pack(x, rs, cs, count, k, true, out);
  }
  static void pack_b(const E* x, int64_t rs, int64_t cs, int count, int64_t k, E* out) {
    pack(x, cs, rs, count, k, false, out);
  }

 private:
  // `count` rows (or columns) at the distance `across`, their elements at the distance `along`: as whole rows, or as
  // lines of pairs. What lies otherwise in memory is transposed.
  static void pack(const E* x, int64_t across, int64_t along, int count, int64_t k, bool as_rows, E* out) {
    alignas(64) std::uint32_t block[16][16];
    const bool transposed = as_rows != (along == 1);
    for (int64_t p = 0; p < k; p += step) {
      for (int half = 0; half < 2; ++half, out += tile) {
        auto* const lines = transposed ? block : reinterpret_cast<std::uint32_t(*)[16]>(out);
        const int some = std::clamp(count - 16 * half, 0, 16);
        if (along == 1) {
          whole_rows(x + 16 * half * across, across, some, p, k, lines);
        } else {
          pair_lines(x + 16 * half * across, across, along, some, p, k, lines);
        }
        if (transposed) transpose(block, out);
      }
    }
  }
};

// By AVX512_BF16: a vector of pairs of B times a pair of A.
struct DotPairs : Pairs {
  static void begin() {}
  static void end() {}
  CT_BFLOAT_UNITS static void multiply(Rows<E> a, const E* b, int64_t k, int m, int, float* c, int64_t ld,
                                       bool accumulate) {
    constexpr int kGroup = 8;
    for (int i = 0; i < m; i += kGroup) {
      __m512 sums[kGroup][2];
      CT_UNROLL for (int r = 0; r < kGroup; ++r) CT_UNROLL for (int v = 0; v < 2; ++v) sums[r][v] =
          accumulate ? _mm512_loadu_ps(c + (i + r) * ld + 16 * v) : _mm512_setzero_ps();
      const E* row = a.at + i / 16 * a.below + i % 16 * a.stride;
      for (int64_t p = 0; p < k; p += step, row += a.step) {
        const E* pairs = b + p * columns;
        for (int q = 0; q < 16; ++q) {
          const __m512bh left = reinterpret_cast<__m512bh>(_mm512_loadu_si512(pairs + q * 32)),
                         right = reinterpret_cast<__m512bh>(_mm512_loadu_si512(pairs + tile + q * 32));
          CT_UNROLL for (int r = 0; r < kGroup; ++r) {
            std::uint32_t pair;
            std::memcpy(&pair, row + r * a.stride + 2 * q, sizeof pair);
            const __m512bh x = reinterpret_cast<__m512bh>(_mm512_set1_epi32(static_cast<int>(pair)));
            sums[r][0] = _mm512_dpbf16_ps(sums[r][0], left, x);
            sums[r][1] = _mm512_dpbf16_ps(sums[r][1], right, x);
          }
        }
      }
      CT_UNROLL for (int r = 0; r < kGroup; ++r) CT_UNROLL for (int v = 0; v < 2; ++v)
          _mm512_storeu_ps(c + (i + r) * ld + 16 * v, sums[r][v]);
    }
  }
};

// By AMX: four tiles of sums, two of A and two of B.
struct TilePairs : Pairs {
  struct alignas(64) Setting {
    std::uint8_t palette = 1, start = 0, zero[14] = {};
    std::uint16_t row_bytes[16] = {64, 64, 64, 64, 64, 64, 64, 64};
    std::uint8_t rows[16] = {16, 16, 16, 16, 16, 16, 16, 16};
  };
  CT_TILE_UNITS static void begin() {
    static const Setting setting;
    _tile_loadconfig(&setting);
  }
  CT_TILE_UNITS static void end() { _tile_release(); }
  CT_TILE_UNITS static void multiply(Rows<E> a, const E* b, int64_t k, int, int, float* c, int64_t ld,
                                     bool accumulate) {
    if (accumulate) {
      _tile_loadd(0, c, ld * 4);
      _tile_loadd(1, c + 16, ld * 4);
      _tile_loadd(2, c + 16 * ld, ld * 4);
      _tile_loadd(3, c + 16 * ld + 16, ld * 4);
    } else {
      _tile_zero(0);
      _tile_zero(1);
      _tile_zero(2);
      _tile_zero(3);
    }
    const E* row = a.at;
    for (int64_t p = 0; p < k; p += step, row += a.step, b += 2 * tile) {
      _tile_loadd(4, row, a.stride * 2);
      _tile_loadd(6, b, 64);
      _tile_loadd(7, b + tile, 64);
      _tile_loadd(5, row + a.below, a.stride * 2);
      _tile_dpbf16ps(0, 4, 6);
      _tile_dpbf16ps(1, 4, 7);
      _tile_dpbf16ps(2, 5, 6);
      _tile_dpbf16ps(3, 5, 7);
    }
    _tile_stored(0, c, ld * 4);
    _tile_stored(1, c + 16, ld * 4);
    _tile_stored(2, c + 16 * ld, ld * 4);
    _tile_stored(3, c + 16 * ld + 16, ld * 4);
  }
};

#endif

}  // namespace
}  // namespace catenary::cpu::CT_SIMD_NAMESPACE
