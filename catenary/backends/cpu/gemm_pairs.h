#pragma once
// Private to the *.simd.cpp files of products and convolutions of 16-bit floats: panels, and who multiplies two of
// them.

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <limits>

#include "catenary/backends/cpu/gemm_elements.h"
#include "catenary/backends/cpu/gemm_micro.h"

namespace catenary::cpu::CT_SIMD_NAMESPACE {
namespace {

constexpr int64_t round_up(int64_t n, int64_t to) { return ceil_div(n, to) * to; }

// The sums of a block of C, micro-tiles one after the other: rows of a matrix would share sets of the first-level
// cache.
template <class M>
struct Sums {
  static constexpr int64_t tile = M::rows * M::columns;
  float* data;
  int64_t width;  // whole micro-tiles

  static constexpr int64_t size(int64_t rows, int64_t width) { return round_up(rows, M::rows) * width; }
  /// The micro-tile of row i and column j, whose rows are M::columns apart.
  float* of(int64_t i, int64_t j) const { return data + (i / M::rows * (width / M::columns) + j / M::columns) * tile; }
  /// Columns [j, j + n) of row i, j the first of a micro-tile; up to M::columns past the end of x are written.
  void row(int64_t i, int64_t j, int64_t n, float* x) const {
    const float* from = of(i, j) + i % M::rows * M::columns;
    for (int64_t l = 0; l < n; l += M::columns, from += tile) std::memcpy(x + l, from, M::columns * sizeof(float));
  }
};

// A panel of A, packed or where it lies; distances in elements.
template <class P>
struct Rows {
  const P* at = nullptr;
  int64_t stride = 0;  // from row to row
  int64_t below = 0;   // from the first 16 rows to the next
  int64_t step = 0;    // from one step of the depth to the next
  int64_t ahead = 0;   // where it lies: how far along a row memory is asked for
};

#if defined(CT_SIMD_v4)

#  define CT_BFLOAT_UNITS __attribute__((target("avx512bf16")))
#  define CT_TILE_UNITS __attribute__((target("amx-tile,amx-bf16")))

// Two lines of 32 elements as two of 16 pairs, one element of each.
struct PairUp {
  static constexpr std::uint16_t kLow[32] = {0, 32, 1, 33, 2,  34, 3,  35, 4,  36, 5,  37, 6,  38, 7,  39,
                                             8, 40, 9, 41, 10, 42, 11, 43, 12, 44, 13, 45, 14, 46, 15, 47};
  const __m512i low = _mm512_loadu_si512(kLow), high = _mm512_add_epi16(low, _mm512_set1_epi16(16));
  void operator()(__m512i even, __m512i odd, void* first, void* second) const {
    _mm512_storeu_si512(first, _mm512_permutex2var_epi16(even, low, odd));
    _mm512_storeu_si512(second, _mm512_permutex2var_epi16(even, high, odd));
  }
};

// Panels are bfloat16 in pairs along the depth, as the instructions take them: of A 32 elements of 16 rows after each
// other, of B pairs of 16 columns. Both are filled with zeros up to whole tiles.
struct Pairs {
  using E = bfloat16;
  using Panel = bfloat16;
  static constexpr int64_t rows = 32, columns = 32, step = 32;
  static constexpr int64_t spill = 0;
  static constexpr int64_t tile = 16 * 32;
  static constexpr int64_t depth = 256;  // of which a panel of A and one of B share the first-level cache

  // A few columns of the result do not pay for a copy of A.
  template <class G>
  static bool in_place(const G& g, int64_t k) {
    return g.a_cs == 1 && g.n <= 2 * columns && k > 0 && k % step == 0;
  }
  static Rows<E> packed(const E* panel) { return {panel, 32, tile, 2 * tile}; }
  static Rows<E> placed(const E* x, int64_t rs) { return {x, rs, 16 * rs, step, 1024}; }

  /// Panels of `count` rows, one after the other, of `count` columns likewise: each of them of whole steps.
  static void pack_a(const E* x, int64_t rs, int64_t cs, int64_t count, int64_t k, E* out) {
    if (cs == 1) {
      copy_rows(x, rs, count, k, out);
    } else if (rs == 1) {
      pair_lines<true>(x, cs, count, k, out);
    } else {
      pair_elements<true>(x, rs, cs, count, k, out);
    }
  }
  static void pack_b(const E* x, int64_t rs, int64_t cs, int64_t count, int64_t k, E* out) {
    if (cs == 1) {
      pair_lines<false>(x, rs, count, k, out);
    } else if (rs == 1) {
      transpose_rows(x, cs, count, k, out);
    } else {
      pair_elements<false>(x, cs, rs, count, k, out);
    }
  }

 private:
  static std::uint32_t first(int64_t n) { return n >= 32 ? ~0u : n <= 0 ? 0 : (1u << n) - 1; }
  static void transpose(const std::uint32_t (*x)[16], E* out) {
    transpose_block(reinterpret_cast<const float*>(x), 16, 16, reinterpret_cast<float*>(out), 16);
  }

  // Rows whose elements are side by side, as rows. Each is read on and on, as processors look ahead.
  static void copy_rows(const E* x, int64_t rs, int64_t count, int64_t k, E* out) {
    const int64_t whole = round_up(k, step);
    for (int64_t i = 0; i < round_up(count, rows); ++i) {
      E* const to = out + i / 32 * 32 * whole + i % 32 / 16 * tile + i % 16 * 32;
      const E* const from = x + i * rs;
      const bool next = i + 2 < count;
      for (int64_t p = 0; p < whole; p += step) {
        if (next) _mm_prefetch(from + 2 * rs + p, _MM_HINT_T1);
        _mm512_storeu_si512(to + p * 32,
                            i < count ? _mm512_maskz_loadu_epi16(first(k - p), from + p) : _mm512_setzero_si512());
      }
    }
  }

  // The same, as lines of pairs.
  static void transpose_rows(const E* x, int64_t rs, int64_t count, int64_t k, E* out) {
    alignas(64) std::uint32_t block[16][16];
    const int64_t whole = round_up(k, step);
    for (int64_t i0 = 0; i0 < round_up(count, columns); i0 += 16) {
      E* const to = out + i0 / 32 * 32 * whole + i0 % 32 / 16 * tile;
      for (int64_t p = 0; p < whole; p += step) {
        for (int64_t i = 0; i < 16; ++i) {
          if (i0 + i + 16 < count) _mm_prefetch(x + (i0 + i + 16) * rs + p, _MM_HINT_T1);
          _mm512_store_si512(block[i], i0 + i < count ? _mm512_maskz_loadu_epi16(first(k - p), x + (i0 + i) * rs + p)
                                                      : _mm512_setzero_si512());
        }
        transpose(block, to + p * 32);
      }
    }
  }

  // `count` elements side by side, and the next ones `along` further on: as lines of pairs, or transposed as rows. A
  // few panels at a time, as lines of memory that lie far apart are slow to reach.
  template <bool as_rows>
  static void pair_lines(const E* x, int64_t along, int64_t count, int64_t k, E* out) {
    constexpr int64_t kPanels = 4, kAhead = 16;
    const PairUp pair_up;
    const int64_t whole = round_up(k, step);
    alignas(64) std::uint32_t block[2 * kPanels][16][16];
    for (int64_t i0 = 0; i0 < count; i0 += 32 * kPanels) {
      const int64_t panels = std::min(kPanels, ceil_div(count - i0, 32));
      for (int64_t p = 0; p < whole; p += step) {
        for (int64_t l = 0; l < 16; ++l) {
          const int64_t q = p + 2 * l;
          const E *const even = x + q * along + i0, *const odd = even + along;
          for (int64_t i = 0; i < panels; ++i) {
            if (q + kAhead < k) {
              _mm_prefetch(even + kAhead * along + 32 * i, _MM_HINT_T1);
              _mm_prefetch(odd + kAhead * along + 32 * i, _MM_HINT_T1);
            }
            const std::uint32_t mask = first(count - i0 - 32 * i);
            const __m512i a = _mm512_maskz_loadu_epi16(q < k ? mask : 0, even + 32 * i),
                          b = _mm512_maskz_loadu_epi16(q + 1 < k ? mask : 0, odd + 32 * i);
            E* const to = out + (i0 + 32 * i) * whole + p * 32 + l * 32;
            if (as_rows) {
              pair_up(a, b, block[2 * i][l], block[2 * i + 1][l]);
            } else {
              pair_up(a, b, to, to + tile);
            }
          }
        }
        for (int64_t i = 0; i < 2 * panels && as_rows; ++i)
          transpose(block[i], out + (i0 + i / 2 * 32) * whole + p * 32 + i % 2 * tile);
      }
    }
  }

  // What lies otherwise.
  template <bool as_rows>
  static void pair_elements(const E* x, int64_t across, int64_t along, int64_t count, int64_t k, E* out) {
    const int64_t whole = round_up(k, step);
    const auto element = [&](int64_t i, int64_t p) -> std::uint32_t {
      return i < count && p < k ? x[i * across + p * along].bits : 0;
    };
    for (int64_t i0 = 0; i0 < round_up(count, 32); i0 += 16) {
      for (int64_t p = 0; p < whole; p += step) {
        auto* const to =
            reinterpret_cast<std::uint32_t(*)[16]>(out + i0 / 32 * 32 * whole + p * 32 + i0 % 32 / 16 * tile);
        for (int64_t l = 0; l < 16; ++l)
          for (int64_t i = 0; i < 16; ++i)
            to[as_rows ? i : l][as_rows ? l : i] = element(i0 + i, p + 2 * l) | element(i0 + i, p + 2 * l + 1) << 16;
      }
    }
  }
};

// By AVX512_BF16: a vector of pairs of B times a pair of A.
struct DotPairs : Pairs {
  static constexpr int64_t columns_in_place = std::numeric_limits<int64_t>::max();
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
  static constexpr int64_t columns_in_place = 5;
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
      if (a.ahead && p + a.ahead < k)
        for (int64_t i = 0; i < rows; ++i) _mm_prefetch(row + i * a.stride + a.ahead, _MM_HINT_T1);
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
