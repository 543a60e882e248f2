// Products of many rows with quantised weights where x may be rounded to 8 bits (config.int8_products), compiled for
// each instruction set (see core/cpu_features.h). Each lane holds a row of w, so that the block sums of all rows are
// converted to floats at once.

#include "catenary/backends/cpu/quantized/quantized_byte_vectors.h"
#include "catenary/backends/cpu/quantized/quantized_decoders.h"

namespace catenary::cpu::CT_SIMD_NAMESPACE {
namespace {

#if defined(__AVX2__)

// ---- the kinds of has_panels: a block of 32 weights as bytes ----

template <Quantization kind>
struct PanelForm;

template <>
struct PanelForm<Quantization::q8_0> : Layout<Quantization::q8_0> {
  static constexpr int offset = kRaised;
  [[maybe_unused]] static constexpr bool is_signed = true;
  CT_INLINE void unpack(const uint8_t* w, uint8_t* to) {
    const __m256i numbers = _mm256_loadu_si256(reinterpret_cast<const __m256i_u*>(w + 2));
    const __m256i raised = kRaised ? _mm256_xor_si256(numbers, _mm256_set1_epi8(-128)) : numbers;
    _mm256_store_si256(reinterpret_cast<__m256i*>(to), raised);
  }
};

template <>
struct PanelForm<Quantization::q4_0> : Layout<Quantization::q4_0> {
  static constexpr int offset = 8;
  [[maybe_unused]] static constexpr bool is_signed = false;
  CT_INLINE void unpack(const uint8_t* w, uint8_t* to) {
    const __m128i packed = sixteen(w + 2), low = _mm_set1_epi8(15);
    _mm_store_si128(reinterpret_cast<__m128i*>(to), _mm_and_si128(packed, low));
    _mm_store_si128(reinterpret_cast<__m128i*>(to + 16), _mm_and_si128(_mm_srli_epi16(packed, 4), low));
  }
};

// ---- x: a row's bytes, then for each block a scale, then its initial sums, which correct the offset ----

static int64_t x_bytes(int64_t blocks) { return ceil_div(blocks * 40, 64) * 64; }

template <class Kind>
static bool round_row(int64_t blocks, const float* x, void* out) {
  auto* bytes = static_cast<int8_t*>(out);
  auto* scales = reinterpret_cast<float*>(bytes + 32 * blocks);
  auto* first = reinterpret_cast<std::int32_t*>(scales + blocks);
  for (int64_t b = 0; b < blocks; ++b) {
    if (!round_block(x + 32 * b, bytes + 32 * b, scales[b], first[b])) return false;
    first[b] *= -Kind::offset;
  }
  return true;
}

// ---- w: L rows as [blocks, 8 groups of four bytes, L], then [blocks, L] scales ----

constexpr int kTogether = L / 8;  // blocks in a square of four-byte groups
static int64_t fours_bytes(int64_t blocks) { return ceil_div(blocks, kTogether) * kTogether * 8 * kBytes; }
static int64_t panel_bytes(int64_t blocks) {
  return fours_bytes(blocks) + blocks * L * static_cast<int64_t>(sizeof(float));
}

// Packs `count` rows from row j on, and zeros in the other lanes.
template <class Kind>
static void pack(const QuantizedArgs& g, int64_t j, int count, uint8_t* fours, float* scales) {
  alignas(64) uint8_t lines[L][kBytes];
  for (int64_t b = 0; b < g.blocks; b += kTogether) {
    for (int l = 0; l < L; ++l) {
      for (int t = 0; t < kTogether; ++t) {
        const bool is_there = l < count && b + t < g.blocks;
        const uint8_t* block = g.w + (j + l) * g.row_bytes + (b + t) * Kind::bytes;
        if (is_there) {
          Kind::unpack(block, lines[l] + 32 * t);
        } else {
          std::memset(lines[l] + 32 * t, 0, 32);
        }
        if (b + t < g.blocks) scales[(b + t) * L + l] = is_there ? half_at(block) : 0.f;
      }
    }
    transpose_block(reinterpret_cast<const float*>(lines), L, L, reinterpret_cast<float*>(fours + b * 8 * kBytes), L);
  }
}

// ---- products ----

CT_INLINE Ints four_in_all_lanes(const int8_t* x) {
  std::int32_t four;
  std::memcpy(&four, x, sizeof(four));
#  if defined(__AVX512F__)
  return _mm512_set1_epi32(four);
#  else
  return _mm256_set1_epi32(four);
#  endif
}

// Multiplies a block of each row of w by the block of kM rows of x.
template <class Kind, int kM>
CT_INLINE CT_BYTE_UNITS void add_block(const uint8_t* w, const int8_t* x, int64_t x_row, Ints (&sums)[kM]) {
#  if defined(__AVX512F__)
  CT_UNROLL for (int e = 0; e < 8; ++e) {
    const Ints numbers = whole_bytes(w + e * kBytes);
    CT_UNROLL for (int r = 0; r < kM; ++r) sums[r] = dot(sums[r], numbers, four_in_all_lanes(x + r * x_row + 4 * e));
  }
#  else
  if constexpr (Kind::is_signed) {
    CT_UNROLL for (int e = 0; e < 8; ++e) {
      const Ints numbers = whole_bytes(w + e * kBytes);
      CT_UNROLL for (int r = 0; r < kM; ++r) sums[r] =
          dot_signed(sums[r], numbers, four_in_all_lanes(x + r * x_row + 4 * e));
    }
  } else {  // weights are at most 15, so sums of sixteen products with bytes fit 16 bits
    Ints pairs[kM];
    CT_UNROLL for (int r = 0; r < kM; ++r) pairs[r] = _mm256_setzero_si256();
    CT_UNROLL for (int e = 0; e < 8; ++e) {
      const Ints numbers = whole_bytes(w + e * kBytes);
      CT_UNROLL for (int r = 0; r < kM; ++r) pairs[r] =
          _mm256_add_epi16(pairs[r], _mm256_maddubs_epi16(numbers, four_in_all_lanes(x + r * x_row + 4 * e)));
    }
    CT_UNROLL for (int r = 0; r < kM; ++r) sums[r] = by_fours(sums[r], pairs[r]);
  }
#  endif
}

template <class Kind, int kM>
static CT_BYTE_UNITS void multiply(const QuantizedArgs& g, int64_t i, int64_t j, int count, const uint8_t* fours,
                                   const float* w_scales) {
  const auto* x = static_cast<const int8_t*>(g.x) + i * g.x_row;
  Vector<float> sums[kM] = {};
  for (int64_t b = 0; b < g.blocks; ++b) {
    const int8_t* of_block = x + 32 * g.blocks + 4 * b;  // the block's scale, with its initial sums as far behind
    Ints dots[kM];
    CT_UNROLL for (int r = 0; r < kM; ++r) dots[r] = four_in_all_lanes(of_block + 4 * g.blocks + r * g.x_row);
    add_block<Kind, kM>(fours + b * 8 * kBytes, x + 32 * b, g.x_row, dots);
    const Vector<float> scales = load(w_scales + b * L);
    CT_UNROLL for (int r = 0; r < kM; ++r) {
      float scale;
      std::memcpy(&scale, of_block + r * g.x_row, sizeof(scale));
      sums[r] = fused(as_floats(dots[r]), scales * splat(scale), sums[r]);
    }
  }
  for (int r = 0; r < kM; ++r)
    for (int l = 0; l < count; ++l) finish(g, i + r, j + l, static_cast<float>(sums[r][l]));
}

template <class Kind>
static void rows(const QuantizedArgs& g, int64_t begin, int64_t end, void* memory) {
  auto* fours = static_cast<uint8_t*>(memory);
  auto* scales = reinterpret_cast<float*>(fours + fours_bytes(g.blocks));
  for (int64_t j = begin; j < end; j += L) {
    const int count = static_cast<int>(std::min<int64_t>(L, end - j));
    pack<Kind>(g, j, count, fours, scales);
    int64_t i = 0;
    for (; i + 4 <= g.m; i += 4) multiply<Kind, 4>(g, i, j, count, fours, scales);
    for (; i < g.m; ++i) multiply<Kind, 1>(g, i, j, count, fours, scales);
  }
}

// Calls f with the form of a kind of has_panels.
template <class F>
CT_INLINE auto visit_panels(Quantization kind, F&& f) {
  return kind == Quantization::q4_0 ? f(PanelForm<Quantization::q4_0>()) : f(PanelForm<Quantization::q8_0>());
}
static bool round_x(Quantization kind, int64_t blocks, const float* x, void* out) {
  return visit_panels(kind, [&](auto form) { return round_row<decltype(form)>(blocks, x, out); });
}
static void rounded_rows(const QuantizedArgs& g, int64_t begin, int64_t end, void* memory) {
  visit_panels(g.kind, [&](auto form) { rows<decltype(form)>(g, begin, end, memory); });
}

#endif

}  // namespace

#if defined(__AVX2__)
const PanelLevel panel_level{L, x_bytes, round_x, panel_bytes, rounded_rows};
#else
const PanelLevel panel_level{0, nullptr, nullptr, nullptr, nullptr};
#endif

}  // namespace catenary::cpu::CT_SIMD_NAMESPACE
