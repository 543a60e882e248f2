#pragma once
// Private to the *.simd.cpp files of products and convolutions of 16-bit floats: panels, and the machines that multiply
// them.

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <limits>

#include "catenary/backends/cpu/gemm/gemm_elements.h"
#include "catenary/backends/cpu/gemm/gemm_micro.h"

namespace catenary::cpu::CT_SIMD_NAMESPACE {
namespace {

constexpr int64_t round_up(int64_t n, int64_t to) { return ceil_div(n, to) * to; }

// Sums of a block of C, stored by micro-tiles, because rows of a matrix would share sets of the L1 cache.
template <class M>
struct Sums {
  static constexpr int64_t tile = M::rows * M::columns;
  float* data;
  int64_t width;  // whole micro-tiles

  static constexpr int64_t size(int64_t rows, int64_t width) { return round_up(rows, M::rows) * width; }
  /// Returns the micro-tile of row i and column j, whose rows are M::columns apart.
  float* of(int64_t i, int64_t j) const { return data + (i / M::rows * (width / M::columns) + j / M::columns) * tile; }
  /// Copies columns [j, j + n) of row i, where j begins a micro-tile. Writes up to M::columns past the end of x.
  void row(int64_t i, int64_t j, int64_t n, float* x) const {
    const float* from = of(i, j) + i % M::rows * M::columns;
    for (int64_t l = 0; l < n; l += M::columns, from += tile) std::memcpy(x + l, from, M::columns * sizeof(float));
  }
};

// A panel of A, packed or in place. Distances are in elements.
template <class P>
struct Rows {
  const P* at = nullptr;
  int64_t stride = 0;  // from row to row
  int64_t below = 0;   // from the first 16 rows to the next
  int64_t step = 0;    // from one step of the depth to the next
  int64_t ahead = 0;   // in place: distance of prefetches along a row
};

#if defined(CT_SIMD_v4)

#  define CT_BFLOAT_UNITS __attribute__((target("avx512bf16")))
#  define CT_TILE_UNITS __attribute__((target("amx-tile,amx-bf16")))

// Interleaves two lines of 32 elements into two lines of 16 pairs.
struct PairUp {
  static constexpr std::uint16_t kLow[32] = {0, 32, 1, 33, 2,  34, 3,  35, 4,  36, 5,  37, 6,  38, 7,  39,
                                             8, 40, 9, 41, 10, 42, 11, 43, 12, 44, 13, 45, 14, 46, 15, 47};
  const __m512i low = _mm512_loadu_si512(kLow), high = _mm512_add_epi16(low, _mm512_set1_epi16(16));
  void operator()(__m512i even, __m512i odd, void* first, void* second) const {
    _mm512_storeu_si512(first, _mm512_permutex2var_epi16(even, low, odd));
    _mm512_storeu_si512(second, _mm512_permutex2var_epi16(even, high, odd));
  }
};

constexpr std::uint32_t first_bits(int64_t n) { return n >= 32 ? ~0u : n <= 0 ? 0 : (1u << n) - 1; }

// Arrangement of elements in the words of the instructions, with two bfloat16 in each. The 32 elements of a step of the
// depth are 16 words. Any two may share a word if A and B agree.
struct BfloatWords {
  using E = bfloat16;
  using Panel = bfloat16;
  using Plain = BfloatWords;
  static constexpr int pieces = 1;
  static constexpr int64_t in_low(int64_t word) { return 2 * word; }
  static constexpr int64_t in_high(int64_t word) { return 2 * word + 1; }
  /// Properties of a row or of 16 columns found during packing. Nothing is needed here.
  struct Seen {
    static bool spoils_row() { return false; }
    static bool spoils_any() { return false; }
  };
  static void mark(bfloat16*) {}

  /// Packs n elements along the depth, then zeros.
  static void row(const E* x, int64_t n, Seen&, __m512i* words) {
    words[0] = _mm512_maskz_loadu_epi16(first_bits(n), x);
  }
  /// Packs n elements of one line in the low halves and of another line in the high halves, then zeros: 16 words, and
  /// the next 16.
  static void lines(const E* low, int64_t n_low, const E* high, int64_t n_high, Seen*, __m512i (*words)[2]) {
    const PairUp pair_up;
    pair_up(_mm512_maskz_loadu_epi16(first_bits(n_low), low), _mm512_maskz_loadu_epi16(first_bits(n_high), high),
            &words[0][0], &words[0][1]);
  }
};

// Panels of words. A has tiles of 16 rows × one step, B tiles of 16 words × 16 columns, and both have two tiles per
// step for each piece of an element. Panels are padded with zeros to whole tiles.
template <class W>
struct Pairs {
  using E = typename W::E;
  using Panel = typename W::Panel;
  static constexpr int64_t rows = 32, columns = 32, step = 32;
  static constexpr int64_t spill = 0;
  static constexpr int64_t tile = 16 * 32, piece = 2 * tile;  // bfloat16
  static constexpr int64_t depth = 256;  // chosen so that a panel of A and one of B fit the nearest caches together

  static Rows<bfloat16> packed(const Panel* panel) {
    return {reinterpret_cast<const bfloat16*>(panel), 32, tile, W::pieces * piece};
  }

  /// Packs panels of `count` rows, or of `count` columns, each with whole steps.
  static void pack_a(const E* x, int64_t rs, int64_t cs, int64_t count, int64_t k, Panel* out) {
    pack<true>(x, rs, cs, count, k, reinterpret_cast<bfloat16*>(out));
  }
  static void pack_b(const E* x, int64_t rs, int64_t cs, int64_t count, int64_t k, Panel* out) {
    pack<false>(x, cs, rs, count, k, reinterpret_cast<bfloat16*>(out));
  }

  /// Packs `count` rows or columns of k elements, `across` apart, whose elements are `along` apart.
  template <bool as_rows>
  static void pack(const E* x, int64_t across, int64_t along, int64_t count, int64_t k, bfloat16* out) {
    if (along == 1) {
      pack_rows<as_rows>([&](int64_t i, int64_t p, int64_t, E*) { return x + i * across + p; }, count, k, out,
                         {x, across, along});
    } else if (across == 1) {
      pack_lines<as_rows>(x, along, count, k, out);
    } else {
      const auto gathered = [&](int64_t i, int64_t p, int64_t n, E* line) {
        for (int64_t l = 0; l < n; ++l) line[l] = x[i * across + (p + l) * along];
        return line;
      };
      pack_rows<as_rows>(gathered, count, k, out, {x, across, along});
    }
  }

 private:
  using Seen = typename W::Seen;
  struct Source {
    const E* x;
    int64_t across, along;
  };

  // Returns the tile of the first step and piece for the rows or columns from i on.
  static bfloat16* tile_at(bfloat16* out, int64_t i, int64_t k) {
    return out + i / 32 * ceil_div(k, step) * (W::pieces * piece) + i % 32 / 16 * tile;
  }
  static bfloat16* at_step(bfloat16* to, int64_t p, int q) { return to + p / step * (W::pieces * piece) + q * piece; }
  static void transpose(const __m512i* x, bfloat16* out) {
    transpose_block(reinterpret_cast<const float*>(x), 16, 16, reinterpret_cast<float*>(out), 16);
  }
  // Packs the panel of row or column i again, as plain values, because splitting into pieces would lose information.
  template <bool as_rows>
  static void pack_plain(Source of, int64_t i, int64_t count, int64_t k, bfloat16* out) {
    bfloat16* const panel = tile_at(out, i, k);
    Pairs<typename W::Plain>::template pack<as_rows>(of.x + i * of.across, of.across, of.along,
                                                     std::min<int64_t>(32, count - i), k, panel);
    W::mark(panel);
  }

  // Packs rows as rows, or transposed to lines of words. read(i, p, n, line) returns the address of n contiguous
  // elements of row i from p on. Rows that are contiguous in memory are read sequentially for the hardware prefetcher.
  template <bool as_rows, class Read>
  static void pack_rows(const Read& read, int64_t count, int64_t k, bfloat16* out, Source of) {
    constexpr int64_t kAhead = as_rows ? 2 : 16;
    __m512i block[W::pieces][16], words[W::pieces];
    E line[step];
    bool spoils = false;
    for (int64_t i0 = 0; i0 < round_up(count, 32); i0 += 16) {
      bfloat16* const to = tile_at(out, i0, k);
      Seen seen[16];
      const auto row = [&](int64_t l, int64_t p) {
        const int64_t i = i0 + l, n = i < count ? std::min(step, k - p) : 0;
        if (of.along == 1 && i + kAhead < count) _mm_prefetch(of.x + (i + kAhead) * of.across + p, _MM_HINT_T1);
        W::row(n ? read(i, p, n, line) : line, n, seen[l], words);
      };
      if constexpr (as_rows) {
        for (int64_t l = 0; l < 16; ++l) {
          for (int64_t p = 0; p < k; p += step) {
            row(l, p);
            for (int q = 0; q < W::pieces; ++q) _mm512_storeu_si512(at_step(to, p, q) + l * 32, words[q]);
          }
        }
      } else {
        for (int64_t p = 0; p < k; p += step) {
          for (int64_t l = 0; l < 16; ++l) {
            row(l, p);
            for (int q = 0; q < W::pieces; ++q) block[q][l] = words[q];
          }
          for (int q = 0; q < W::pieces; ++q) transpose(block[q], at_step(to, p, q));
        }
      }
      for (const Seen& of_row : seen) spoils = spoils || of_row.spoils_row();
      if (i0 % 32 == 0) continue;
      if (spoils) pack_plain<as_rows>(of, i0 - 16, count, k, out);
      spoils = false;
    }
  }

  // Packs lines of `count` contiguous elements, `along` apart, as lines of words, or transposed as rows. Takes a few
  // panels at a time, because distant lines of memory are slow to access.
  template <bool as_rows>
  static void pack_lines(const E* x, int64_t along, int64_t count, int64_t k, bfloat16* out) {
    constexpr int64_t kPanels = 4, kAhead = 16;
    __m512i block[W::pieces][2 * kPanels][16], words[W::pieces][2];
    for (int64_t i0 = 0; i0 < count; i0 += 32 * kPanels) {
      const int64_t panels = std::min(kPanels, ceil_div(count - i0, 32));
      Seen seen[kPanels][2];
      for (int64_t p = 0; p < k; p += step) {
        for (int64_t l = 0; l < 16; ++l) {
          const int64_t low = p + W::in_low(l), high = p + W::in_high(l);
          for (int64_t i = 0; i < panels; ++i) {
            const int64_t first = i0 + 32 * i;
            const E *const a = x + low * along + first, *const b = x + high * along + first;
            if (high + kAhead < k) {
              for (int64_t byte = 0; byte < static_cast<int64_t>(32 * sizeof(E)); byte += 64) {
                _mm_prefetch(reinterpret_cast<const char*>(a + kAhead * along) + byte, _MM_HINT_T1);
                _mm_prefetch(reinterpret_cast<const char*>(b + kAhead * along) + byte, _MM_HINT_T1);
              }
            }
            W::lines(a, low < k ? count - first : 0, b, high < k ? count - first : 0, seen[i], words);
            for (int q = 0; q < W::pieces; ++q) {
              if constexpr (as_rows) {
                block[q][2 * i][l] = words[q][0];
                block[q][2 * i + 1][l] = words[q][1];
              } else {
                bfloat16* const to = at_step(tile_at(out, first, k), p, q) + l * 32;
                _mm512_storeu_si512(to, words[q][0]);
                _mm512_storeu_si512(to + tile, words[q][1]);
              }
            }
          }
        }
        for (int64_t i = 0; i < 2 * panels && as_rows; ++i)
          for (int q = 0; q < W::pieces; ++q) transpose(block[q][i], at_step(tile_at(out, i0 + 16 * i, k), p, q));
      }
      for (int64_t i = 0; i < panels; ++i)
        if (seen[i][0].spoils_any() || seen[i][1].spoils_any())
          pack_plain<as_rows>({x, 1, along}, i0 + 32 * i, count, k, out);
    }
  }
};

// Panels of bfloat16.
struct BfloatPairs : Pairs<BfloatWords> {
  // With few result columns, a copy of A does not pay.
  template <class G>
  static bool in_place(const G& g, int64_t k) {
    return g.a_cs == 1 && g.n <= 2 * columns && k > 0 && k % step == 0;
  }
  static Rows<E> placed(const E* x, int64_t rs) { return {x, rs, 16 * rs, step, 1024}; }
};

// By AVX512_BF16: multiplies a vector of pairs of B by a pair of A.
struct DotPairs : BfloatPairs {
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
struct TilePairs : BfloatPairs {
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
  /// Tiles 0 to 3 are the sums of 32 rows and columns, 4 and 5 belong to A, 6 and 7 to B.
  CT_TILE_UNITS CT_INLINE void load_sums(const float* c, int64_t ld, bool accumulate) {
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
  }
  CT_TILE_UNITS CT_INLINE void multiply_tiles() {
    _tile_dpbf16ps(0, 4, 6);
    _tile_dpbf16ps(1, 4, 7);
    _tile_dpbf16ps(2, 5, 6);
    _tile_dpbf16ps(3, 5, 7);
  }
  CT_TILE_UNITS CT_INLINE void store_sums(float* c, int64_t ld) {
    _tile_stored(0, c, ld * 4);
    _tile_stored(1, c + 16, ld * 4);
    _tile_stored(2, c + 16 * ld, ld * 4);
    _tile_stored(3, c + 16 * ld + 16, ld * 4);
  }
  CT_TILE_UNITS static void multiply(Rows<E> a, const E* b, int64_t k, int, int, float* c, int64_t ld,
                                     bool accumulate) {
    load_sums(c, ld, accumulate);
    const E* row = a.at;
    for (int64_t p = 0; p < k; p += step, row += a.step, b += 2 * tile) {
      if (a.ahead && p + a.ahead < k)
        for (int64_t i = 0; i < rows; ++i) _mm_prefetch(row + i * a.stride + a.ahead, _MM_HINT_T1);
      _tile_loadd(4, row, a.stride * 2);
      _tile_loadd(6, b, 64);
      _tile_loadd(7, b + tile, 64);
      _tile_loadd(5, row + a.below, a.stride * 2);
      multiply_tiles();
    }
    store_sums(c, ld);
  }
};

#endif

}  // namespace
}  // namespace catenary::cpu::CT_SIMD_NAMESPACE
