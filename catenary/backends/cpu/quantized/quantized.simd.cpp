// Products of few rows with quantised weights, compiled for each instruction set (see core/cpu_features.h). Weights of
// a few bits are converted to floats in registers and multiplied by x there.
#include <cstring>
#include <type_traits>
#include <utility>

#include "catenary/backends/cpu/quantized/quantized_decoders.h"

namespace catenary::cpu::CT_SIMD_NAMESPACE {
namespace {

// Partial sums of rows [j, j0 + count) of w with kM rows of x from row i on.
template <class T, int kM>
struct Sums {
  Vector<T> of[kM];
  T minima[kM];
};

// Distance of prefetches in w, since hardware prefetchers stop at page boundaries.
constexpr int kAhead = 1536;

// Multiplies blocks [b0, b1) of row j of w by kM rows of x.
template <class T, class Kind, int kM>
CT_INLINE void add_blocks(const QuantizedArgs& g, int64_t i, int64_t j, int64_t b0, int64_t b1, Sums<T, kM>& sums) {
  constexpr int L = kLanes<T>, kGroups = Kind::elements / Kind::group;
  const T* x = static_cast<const T*>(g.x) + i * g.x_row + b0 * Kind::elements;
  const uint8_t* w = g.w + j * g.row_bytes + Kind::head + b0 * Kind::bytes;
  const T zero = Kind::has_zero ? head_of(g, j).zero : 0;
  Sums<T, kM> now = sums;
  alignas(64) int8_t room[Kind::elements];
  for (int64_t b = b0; b < b1; ++b, w += Kind::bytes, x += Kind::elements) {
    __builtin_prefetch(w + kAhead);
    Scales scales;
    Kind::open(w, room, scales);
    CT_UNROLL for (int group = 0; group < kGroups; ++group) {
      Vector<T> sum[kM];
      CT_UNROLL for (int p = 0; p < Kind::group; p += L) {
        Vector<T> weights = Kind::template vector<T>(w, room, group, p);
        if constexpr (Kind::has_zero) weights -= splat(zero);
        CT_UNROLL for (int r = 0; r < kM; ++r) {
          const Vector<T> values = load(x + r * g.x_row + group * Kind::group + p);
          sum[r] = p == 0 ? weights * values : fused(weights, values, sum[r]);
        }
      }
      CT_UNROLL for (int r = 0; r < kM; ++r) {
        if constexpr (Kind::has_zero) {
          now.of[r] += sum[r];
        } else {
          now.of[r] = fused(splat(static_cast<T>(scales.of[group])), sum[r], now.of[r]);
        }
        if constexpr (Kind::has_minima)
          now.minima[r] += static_cast<T>(scales.minima[group]) *
                           static_cast<T>(g.x_sums[(i + r) * g.blocks * kGroups + b * kGroups + group]);
      }
    }
  }
  sums = now;
}

// ---- 4-bit weights by words ----

// With AVX2, no table of 16 floats fits a register, so eight words with eight 4-bit weights each are read at a time. A
// mask extracts one weight of each word in place, that is, multiplied by a power of 16, and x is reordered and divided
// by that power instead. A vector of weights then costs a mask, a conversion and a product.
#if defined(__AVX2__) && !defined(__AVX512F__)
using Q4_0 = Decoder<Quantization::q4_0>;
using Q4_K = Decoder<Quantization::q4_k>;
template <class T, class Kind>
constexpr bool kByWords = std::is_same_v<T, float> && (std::is_same_v<Kind, Q4_0> || std::is_same_v<Kind, Q4_K>);

template <int place>
CT_INLINE Vector<float> cut(__m256i words) {
  if constexpr (place == 7) return _mm256_cvtepi32_ps(_mm256_srli_epi32(words, 28));  // the position of the sign bit
  return _mm256_cvtepi32_ps(_mm256_and_si256(words, _mm256_set1_epi32(15 << 4 * place)));
}
CT_INLINE __m128i sixteen_bytes(const uint8_t* p) { return _mm_loadu_si128(reinterpret_cast<const __m128i_u*>(p)); }

// sum[r] += products of the weights at positions kFirst, kFirst + kStep, … and x's vectors.
template <int kFirst, int kStep, int kM>
CT_INLINE void add_places(__m256i words, const float* x, int64_t x_row, Vector<float> (&sum)[kM]) {
  if constexpr (kFirst < 8) {
    const Vector<float> weights = cut<kFirst>(words);
    CT_UNROLL for (int r = 0; r < kM; ++r) sum[r] = fused(weights, load(x + r * x_row + 8 * kFirst), sum[r]);
    add_places<kFirst + kStep, kStep, kM>(words, x, x_row, sum);
  }
}

// Q4_0: two blocks are the halves of a vector. For two blocks, x has the correction for the weights' offset of 8, then
// its 64 elements. The elements of a remaining single block follow at the end.
constexpr int64_t kPair = 72;
template <class Kind, int kM>
CT_INLINE void add_words(const QuantizedArgs& g, int64_t i, int64_t j, int64_t b0, int64_t b1, Sums<float, kM>& sums) {
  const uint8_t* w = g.w + j * g.row_bytes + b0 * Kind::bytes;
  Sums<float, kM> now = sums;
  if constexpr (std::is_same_v<Kind, Q4_0>) {
    const float* x = static_cast<const float*>(g.x) + i * g.x_row + b0 / 2 * kPair;
    int64_t b = b0;
    for (; b + 2 <= b1; b += 2, w += 36, x += kPair) {
      __builtin_prefetch(w + kAhead);
      const __m256i words =
          _mm256_inserti128_si256(_mm256_castsi128_si256(sixteen_bytes(w + 2)), sixteen_bytes(w + 20), 1);
      std::int16_t first, second;
      std::memcpy(&first, w, 2);
      std::memcpy(&second, w + 18, 2);
      const Vector<float> scale = _mm256_cvtph_ps(_mm_blend_epi32(_mm_set1_epi16(first), _mm_set1_epi16(second), 12));
      Vector<float> sum[kM];
      CT_UNROLL for (int r = 0; r < kM; ++r) sum[r] = load(x + r * g.x_row);
      add_places<0, 1>(words, x + 8, g.x_row, sum);
      CT_UNROLL for (int r = 0; r < kM; ++r) now.of[r] = fused(scale, sum[r], now.of[r]);
    }
    if (b < b1) {
      CT_UNROLL for (int r = 0; r < kM; ++r) {
        for (int p = 0; p < 32; p += 8)
          now.of[r] =
              fused(splat(half_at(w)) * Q4_0::vector<float>(w, nullptr, 0, p), load(x + r * g.x_row + p), now.of[r]);
      }
    }
  } else {  // Q4_K: the lower 4 bits of 32 bytes are a group, the upper 4 bits the next
    const float* x = static_cast<const float*>(g.x) + i * g.x_row + b0 * 256;
    for (int64_t b = b0; b < b1; ++b, w += Kind::bytes) {
      Scales scales;
      Kind::open(w, nullptr, scales);
      CT_UNROLL for (int group = 0; group < 8; group += 2, x += 64) {
        const __m256i words = _mm256_loadu_si256(reinterpret_cast<const __m256i_u*>(w + 16 + 16 * group));
        Vector<float> lower[kM] = {}, upper[kM] = {};
        add_places<0, 2>(words, x, g.x_row, lower);
        add_places<1, 2>(words, x, g.x_row, upper);
        CT_UNROLL for (int r = 0; r < kM; ++r) {
          now.of[r] = fused(splat(scales.of[group]), lower[r], now.of[r]);
          now.of[r] = fused(splat(scales.of[group + 1]), upper[r], now.of[r]);
          const double* x_sums = g.x_sums + (i + r) * g.blocks * 8 + b * 8 + group;
          now.minima[r] += scales.minima[group] * static_cast<float>(x_sums[0]) +
                           scales.minima[group + 1] * static_cast<float>(x_sums[1]);
        }
      }
    }
  }
  sums = now;
}

// Reorders x's 64 elements for add_places. Bytes come in runs: the elements of a run's lower 4 bits precede those for
// its upper 4 bits.
static void order_pair(const float* x, int run, float* out) {
  for (int place = 0; place < 8; ++place) {
    const float scale = place == 7 ? 1 : 1 / static_cast<float>(1 << 4 * place);
    for (int lane = 0; lane < 8; ++lane) {
      const int byte = 4 * lane + place / 2;
      out[8 * place + lane] = scale * x[byte / run * 2 * run + byte % run + place % 2 * run];
    }
  }
}
static void order(Quantization kind, int64_t blocks, const float* x, float* out) {
  if (kind == Quantization::q4_k) {
    for (int64_t p = 0; p < 4 * blocks; ++p) order_pair(x + 64 * p, 32, out + 64 * p);
    return;
  }
  for (int64_t p = 0; p < blocks / 2; ++p, x += 64, out += kPair) {
    for (int lane = 0; lane < 8; ++lane) out[lane] = 0;
    for (int e = 0; e < 64; ++e) out[e / 32 * 4] -= 8 * x[e];
    order_pair(x, 16, out + 8);
  }
  if (blocks % 2) std::memcpy(out, x, 32 * sizeof(float));
}
static int64_t ordered_row(Quantization kind, int64_t blocks) {
  if (kind == Quantization::q4_k) return 256 * blocks;
  return kind == Quantization::q4_0 ? blocks / 2 * kPair + blocks % 2 * 32 : 0;
}
#else
template <class T, class Kind>
constexpr bool kByWords = false;
template <class Kind, int kM>
CT_INLINE void add_words(const QuantizedArgs&, int64_t, int64_t, int64_t, int64_t, Sums<float, kM>&) {}
static void order(Quantization, int64_t, const float*, float*) {}
static int64_t ordered_row(Quantization, int64_t) { return 0; }
#endif

// Multiplies some rows of w by as many columns of x at a time as the L1 cache holds.
template <class T, class Kind, int kM>
static void some_rows(const QuantizedArgs& g, int64_t i, int64_t begin, int64_t end) {
  constexpr int64_t kRows = 16, kColumns = (kM == 1 ? 32768 : 16384) / (kM * sizeof(T)),
                    kBlocks = kColumns / Kind::elements;
  Sums<T, kM> sums[kRows];
  for (int64_t j0 = begin; j0 < end; j0 += kRows) {
    const int64_t count = std::min(kRows, end - j0);
    for (int64_t j = 0; j < count; ++j) sums[j] = {};
    for (int64_t b = 0; b < g.blocks; b += kBlocks)
      for (int64_t j = 0; j < count; ++j) {
        const int64_t b1 = std::min(b + kBlocks, g.blocks);
        if constexpr (kByWords<T, Kind>) {
          add_words<Kind, kM>(g, i, j0 + j, b, b1, sums[j]);
        } else {
          add_blocks<T, Kind, kM>(g, i, j0 + j, b, b1, sums[j]);
        }
      }
    for (int64_t j = 0; j < count; ++j) {
      const T scale = Kind::has_zero ? static_cast<T>(head_of(g, j0 + j).scale) : T(1);
      CT_UNROLL for (int r = 0; r < kM; ++r)
          finish(g, i + r, j0 + j, static_cast<T>(scale * sum_of<T>(sums[j].of[r]) - sums[j].minima[r]));
    }
  }
}

template <class T, class Kind>
static void rows(const QuantizedArgs& g, int64_t begin, int64_t end) {
  int64_t i = 0;
  for (; i + 4 <= g.m; i += 4) some_rows<T, Kind, 4>(g, i, begin, end);
  if (i + 2 <= g.m) some_rows<T, Kind, 2>(g, i, begin, end), i += 2;
  if (i < g.m) some_rows<T, Kind, 1>(g, i, begin, end);
}

template <class Kind>
static void floats(const uint8_t* row, int64_t columns, float* out) {
  constexpr int L = kLanes<float>;
  Head head{1, 0};
  if constexpr (Kind::has_zero) std::memcpy(&head, row, sizeof(head));
  row += Kind::head;
  alignas(64) int8_t room[Kind::elements];
  const auto block = [&](float* to) __attribute__((always_inline)) {
    Scales scales;
    Kind::open(row, room, scales);
    CT_UNROLL for (int group = 0; group < Kind::elements / Kind::group; ++group) {
      CT_UNROLL for (int p = 0; p < Kind::group; p += L) {
        Vector<float> x = Kind::template vector<float>(row, room, group, p);
        if constexpr (Kind::has_zero) {
          x = splat(head.scale) * (x - splat(head.zero));
        } else {
          x = splat(scales.of[group]) * x;
        }
        if constexpr (Kind::has_minima) x -= splat(scales.minima[group]);
        store(to + group * Kind::group + p, x);
      }
    }
    row += Kind::bytes;
  };
  for (; columns >= Kind::elements; columns -= Kind::elements, out += Kind::elements) block(out);
  if (columns == 0) return;
  float last[Kind::elements];
  block(last);
  std::memcpy(out, last, static_cast<std::size_t>(columns) * sizeof(float));
}

}  // namespace

void quantized_rows(const QuantizedArgs& g, int64_t begin, int64_t end) {
  visit_quantization(g.kind, [&](auto kind) {
    if (g.dtype == Dtype::float64) {
      rows<double, Decoder<kind()>>(g, begin, end);
    } else {
      rows<float, Decoder<kind()>>(g, begin, end);
    }
  });
}

std::int64_t quantized_x_row(Quantization kind, std::int64_t blocks) { return ordered_row(kind, blocks); }

void quantized_x(Quantization kind, std::int64_t blocks, const float* x, float* out) { order(kind, blocks, x, out); }

std::int64_t quantized_group(Quantization kind) {
  return visit_quantization(kind,
                            [](auto k) -> std::int64_t { return Decoder<k()>::has_minima ? Decoder<k()>::group : 0; });
}

void dequantized_row(Quantization kind, const uint8_t* row, int64_t columns, float* out) {
  visit_quantization(kind, [&](auto k) { floats<Decoder<k()>>(row, columns, out); });
}

}  // namespace catenary::cpu::CT_SIMD_NAMESPACE
