#pragma once
// Private to the *.simd.cpp files of products and convolutions of float32 by AMX, which multiplies bfloat16 only. A
// float32 of 24 significant bits is exactly the sum of three bfloat16 of 8 bits: x = x₁ + x₂ + x₃. Of the nine products
// of two such sums, six are computed: x₁y₁ to x₁y₃ and the products of equal magnitude. The remaining three are at most
// 2⁻²⁴ of the first, like float32's rounding error of a product. (Henry, Tang and Heinecke, "Leveraging the bfloat16
// Artificial Intelligence Datatype For Higher-Precision Computations", 2019.)

#include "catenary/backends/cpu/gemm/gemm_pairs.h"

#if defined(CT_SIMD_v4)

namespace catenary::cpu::CT_SIMD_NAMESPACE {
namespace {

// Splits float32 into three bfloat16. Self::pair makes the words of two vectors.
template <class Self>
struct FloatWords {
  using E = float;
  struct Panel {
    bfloat16 of[3];
  };
  static constexpr int pieces = 3;
  // The elements in one lane of two vectors of a row share a word.
  static constexpr int64_t in_low(int64_t word) { return word; }
  static constexpr int64_t in_high(int64_t word) { return word + 16; }

  static void row(const float* x, int64_t n, auto& seen, __m512i* words) {
    Self::pair(load(x, n), load(x + 16, n - 16), seen, words);
  }
  static void lines(const float* low, int64_t n_low, const float* high, int64_t n_high, auto* seen,
                    __m512i (*words)[2]) {
    for (int h = 0; h < 2; ++h) {
      __m512i of[pieces];
      Self::pair(load(low + 16 * h, n_low - 16 * h), load(high + 16 * h, n_high - 16 * h), seen[h], of);
      for (int q = 0; q < pieces; ++q) words[q][h] = of[q];
    }
  }

  /// Loads the first n elements, then zeros.
  static __m512 load(const float* x, int64_t n) {
    return n >= 16 ? _mm512_loadu_ps(x) : _mm512_maskz_loadu_ps(static_cast<__mmask16>(first_bits(n)), x);
  }
  static __m512i high_halves() { return _mm512_set1_epi32(-65536); }
};

// Stores float32 unchanged in two halves, for numbers that cannot be split or whose pieces AMX would treat as zeros.
struct PlainWords : FloatWords<PlainWords> {
  using Plain = PlainWords;
  using Seen = BfloatWords::Seen;
  static void mark(bfloat16*) {}
  static void pair(__m512 low, __m512 high, Seen&, __m512i* words) {
    const __m512i a = _mm512_castps_si512(low), b = _mm512_castps_si512(high);
    words[0] = _mm512_or_si512(_mm512_srli_epi32(a, 16), _mm512_and_si512(b, high_halves()));
    words[1] = _mm512_or_si512(_mm512_andnot_si512(high_halves(), a), _mm512_slli_epi32(b, 16));
    words[2] = _mm512_setzero_si512();
  }
};

// Stores float32 in pieces.
struct PieceWords : FloatWords<PieceWords> {
  using Plain = PlainWords;
  static constexpr std::uint16_t kPlain = 0x7fff;    // a NaN, which never is a piece, marks a panel of PlainWords
  static constexpr int64_t kMark = 2 * 2 * 16 * 32;  // position of the mark: the first of the third pieces

  // AMX treats subnormal numbers as 0. So a row or column is split only if its smallest nonzero magnitude is at least
  // 2⁻¹⁰⁰ (no piece is subnormal) and its largest at least 2⁻⁵⁰ (few products of pieces are subnormal). Above 2⁶²,
  // products of first pieces, which are rounded up, may overflow.
  struct Seen {
    __m512i most = _mm512_setzero_si512(), least = _mm512_set1_epi32(-1);  // minus 1, so that 0 wraps to the maximum
    void see(__m512 x) {
      const __m512i bits = _mm512_castps_si512(_mm512_abs_ps(x));
      most = _mm512_max_epu32(most, bits);
      least = _mm512_min_epu32(least, _mm512_sub_epi32(bits, _mm512_set1_epi32(1)));
    }
    bool spoils_row() const { return spoils(_mm512_reduce_max_epu32(most), _mm512_reduce_min_epu32(least)); }
    bool spoils_any() const {
      alignas(64) std::uint32_t mosts[16], leasts[16];
      _mm512_store_si512(mosts, most);
      _mm512_store_si512(leasts, least);
      bool any = false;
      for (int i = 0; i < 16; ++i) any = any || spoils(mosts[i], leasts[i]);
      return any;
    }

   private:
    static constexpr std::uint32_t power_of_2(int n) { return static_cast<std::uint32_t>(127 + n) << 23; }
    static bool spoils(std::uint32_t most, std::uint32_t least) {
      return most != 0 && (most < power_of_2(-50) || most > power_of_2(62) || least + 1 < power_of_2(-100));
    }
  };
  static void mark(bfloat16* panel) { panel[kMark].bits = kPlain; }

 private:
  /// Rounds to 8 significant bits.
  static __m512 round(__m512 x) {
    const __m512i half = _mm512_set1_epi32(1 << 15);
    return _mm512_castsi512_ps(_mm512_and_si512(_mm512_add_epi32(_mm512_castps_si512(x), half), high_halves()));
  }

 public:
  static void pair(__m512 low, __m512 high, Seen& seen, __m512i* words) {
    seen.see(low);
    seen.see(high);
    for (int q = 0; q < pieces; ++q) {
      const __m512 a = q < 2 ? round(low) : low, b = q < 2 ? round(high) : high;
      words[q] = _mm512_or_si512(_mm512_srli_epi32(_mm512_castps_si512(a), 16), _mm512_castps_si512(b));
      low -= a;
      high -= b;
    }
  }
};

// Multiplies pieces by AMX.
struct SplitTiles : Pairs<PieceWords> {
  template <class G>
  static bool in_place(const G&, int64_t) {
    return false;
  }
  static Rows<bfloat16> placed(const E*, int64_t) { return {}; }
  static void begin() { TilePairs::begin(); }
  static void end() { TilePairs::end(); }

  CT_TILE_UNITS static void multiply(Rows<bfloat16> a, const Panel* b_panel, int64_t k, int, int, float* c, int64_t ld,
                                     bool accumulate) {
    const auto* b = reinterpret_cast<const bfloat16*>(b_panel);
    if (k > 0 && (is_plain(a.at) || is_plain(b))) return multiply_plain(a.at, b, k, c, ld, accumulate);
    TilePairs::load_sums(c, ld, accumulate);
    const bfloat16* row = a.at;
#  define CT_A(q)                        \
    _tile_loadd(4, row + (q)*piece, 64); \
    _tile_loadd(5, row + (q)*piece + tile, 64)
#  define CT_B(q)                      \
    _tile_loadd(6, b + (q)*piece, 64); \
    _tile_loadd(7, b + (q)*piece + tile, 64)
    // Smallest products first. Consecutive products share one operand.
    for (int64_t p = 0; p < k; p += step, row += kStep, b += kStep) {
      CT_A(0);
      CT_B(2);
      TilePairs::multiply_tiles();
      CT_B(1);
      TilePairs::multiply_tiles();
      CT_A(1);
      TilePairs::multiply_tiles();
      CT_B(0);
      TilePairs::multiply_tiles();
      CT_A(2);
      TilePairs::multiply_tiles();
      CT_A(0);
      TilePairs::multiply_tiles();
    }
#  undef CT_A
#  undef CT_B
    TilePairs::store_sums(c, ld);
  }

 private:
  static constexpr int64_t kStep = PieceWords::pieces * piece;

  static bool is_plain(const bfloat16* panel) { return panel[PieceWords::kMark].bits == PieceWords::kPlain; }

  /// Splits 16 words of a panel into the elements in their low and high halves.
  static void join(const bfloat16* words, bool plain, float* low, float* high) {
    __m512i w[3];
    for (int q = 0; q < 3; ++q) w[q] = _mm512_loadu_si512(words + q * piece);
    const __m512i top = PlainWords::high_halves();
    if (plain) {
      _mm512_storeu_si512(low, _mm512_or_si512(_mm512_slli_epi32(w[0], 16), _mm512_andnot_si512(top, w[1])));
      _mm512_storeu_si512(high, _mm512_or_si512(_mm512_and_si512(w[0], top), _mm512_srli_epi32(w[1], 16)));
      return;
    }
    __m512 l[3], h[3];
    for (int q = 0; q < 3; ++q) {
      l[q] = _mm512_castsi512_ps(_mm512_slli_epi32(w[q], 16));
      h[q] = _mm512_castsi512_ps(_mm512_and_si512(w[q], top));
    }
    _mm512_storeu_ps(low, l[0] + (l[1] + l[2]));
    _mm512_storeu_ps(high, h[0] + (h[1] + h[2]));
  }

  // Multiplies in float32: panels with NaN, infinite, huge or tiny values.
  static void multiply_plain(const bfloat16* a, const bfloat16* b, int64_t k, float* c, int64_t ld, bool accumulate) {
    const bool a_plain = is_plain(a), b_plain = is_plain(b);
    alignas(64) float left[rows][step], right[step][columns];
    for (int64_t p = 0; p < k; p += step, a += kStep, b += kStep) {
      for (int64_t i = 0; i < 32; ++i) {
        join(a + i / 16 * tile + i % 16 * 32, a_plain, left[i], left[i] + 16);
        join(b + i / 16 * tile + i % 16 * 32, b_plain, right[i % 16] + i / 16 * 16, right[i % 16 + 16] + i / 16 * 16);
      }
      for (int64_t i = 0; i < rows; ++i) {
        __m512 sums[2] = {};
        for (int v = 0; v < 2 && (accumulate || p > 0); ++v) sums[v] = _mm512_loadu_ps(c + i * ld + 16 * v);
        for (int64_t l = 0; l < std::min(step, k - p); ++l)
          for (int v = 0; v < 2; ++v) sums[v] += left[i][l] * _mm512_load_ps(right[l] + 16 * v);
        for (int v = 0; v < 2; ++v) _mm512_storeu_ps(c + i * ld + 16 * v, sums[v]);
      }
    }
  }
};

}  // namespace
}  // namespace catenary::cpu::CT_SIMD_NAMESPACE

#endif
