// Products of few rows with quantised weights, compiled for each instruction set (see core/cpu_features.h). Weights of
// a few bits are converted to floats in registers and multiplied by x there.
#include <cstring>
#include <type_traits>
#include <utility>

#include "catenary/backends/cpu/quantized_blocks.h"

namespace catenary::cpu::CT_SIMD_NAMESPACE {
namespace {

using std::int8_t;

// Loads 16 bytes at once. Loops would be compiled to single bytes.
typedef uint8_t Bytes __attribute__((vector_size(16)));
CT_INLINE Bytes bytes_at(const uint8_t* p) {
  Bytes x;
  std::memcpy(&x, p, sizeof(x));
  return x;
}
CT_INLINE void put(int8_t* to, Bytes x) { std::memcpy(to, &x, sizeof(x)); }

// Vectors of as many bytes, or of the lower or upper four bits of bytes.
#if defined(__AVX512F__)
CT_INLINE __m128i some_bytes(const void* p) { return _mm_loadu_si128(static_cast<const __m128i_u*>(p)); }
CT_INLINE Vector<float> signed_bytes(const void* p, float) {
  return _mm512_cvtepi32_ps(_mm512_cvtepi8_epi32(some_bytes(p)));
}
template <bool upper, int less>
CT_INLINE Vector<float> half_bytes(const uint8_t* p, float) {
  const __m512i x = _mm512_cvtepu8_epi32(some_bytes(p));
  // four bits select an entry of the table, higher bits are ignored
  const __m512 table =
      _mm512_setr_ps(0 - less, 1 - less, 2 - less, 3 - less, 4 - less, 5 - less, 6 - less, 7 - less, 8 - less, 9 - less,
                     10 - less, 11 - less, 12 - less, 13 - less, 14 - less, 15 - less);
  return _mm512_permutexvar_ps(upper ? _mm512_srli_epi32(x, 4) : x, table);
}
#elif defined(__AVX2__)
CT_INLINE __m128i some_bytes(const void* p) { return _mm_loadl_epi64(static_cast<const __m128i_u*>(p)); }
CT_INLINE Vector<float> signed_bytes(const void* p, float) {
  return _mm256_cvtepi32_ps(_mm256_cvtepi8_epi32(some_bytes(p)));
}
template <bool upper, int less>
CT_INLINE Vector<float> half_bytes(const uint8_t* p, float) {
  const __m256i x = _mm256_cvtepu8_epi32(some_bytes(p));
  const __m256i bits = upper ? _mm256_srli_epi32(x, 4) : _mm256_and_si256(x, _mm256_set1_epi32(15));
  return _mm256_cvtepi32_ps(less ? _mm256_sub_epi32(bits, _mm256_set1_epi32(less)) : bits);
}
#else
CT_INLINE Vector<float> signed_bytes(const void* p, float) {
  Vector<float> x;
  for (int i = 0; i < kLanes<float>; ++i) x[i] = static_cast<const int8_t*>(p)[i];
  return x;
}
template <bool upper, int less>
CT_INLINE Vector<float> half_bytes(const uint8_t* p, float) {
  Vector<float> x;
  for (int i = 0; i < kLanes<float>; ++i) x[i] = static_cast<float>((upper ? p[i] >> 4 : p[i] & 15) - less);
  return x;
}
#endif
CT_INLINE Vector<double> signed_bytes(const void* p, double) {
  Vector<double> x;
  for (int i = 0; i < kLanes<double>; ++i) x[i] = static_cast<const int8_t*>(p)[i];
  return x;
}
template <bool upper, int less>
CT_INLINE Vector<double> half_bytes(const uint8_t* p, double) {
  Vector<double> x;
  for (int i = 0; i < kLanes<double>; ++i) x[i] = (upper ? p[i] >> 4 : p[i] & 15) - less;
  return x;
}

// The scales of a block, one for each `group` of its weights, and for Q4_K the minimum to subtract for each.
struct Scales {
  float of[16], minima[8];
};

// A kind: open() reads the scales and unpacks to `room` the weights that vector() cannot read in place. vector()
// returns the weights from position p of a group on. (The formulas are those of kernels/quantized.kernel.)
struct Q8_0 {
  static constexpr int elements = 32, bytes = 34, head = 0, group = 32;
  static constexpr bool has_minima = false, has_zero = false;
  CT_INLINE void open(const uint8_t* block, int8_t*, Scales& scales) { scales.of[0] = half_at(block); }
  template <class T>
  CT_INLINE Vector<T> vector(const uint8_t* block, const int8_t*, int, int p) {
    return signed_bytes(block + 2 + p, T());
  }
};

struct Q4_0 {
  static constexpr int elements = 32, bytes = 18, head = 0, group = 32;
  static constexpr bool has_minima = false, has_zero = false;
  CT_INLINE void open(const uint8_t* block, int8_t*, Scales& scales) { scales.of[0] = half_at(block); }
  template <class T>
  CT_INLINE Vector<T> vector(const uint8_t* block, const int8_t*, int, int p) {
    return p < 16 ? half_bytes<false, 8>(block + 2 + p, T()) : half_bytes<true, 8>(block + 2 + p - 16, T());
  }
};

struct Q4_K {
  static constexpr int elements = 256, bytes = 144, head = 0, group = 32;
  static constexpr bool has_minima = true, has_zero = false;
  CT_INLINE void open(const uint8_t* block, int8_t*, Scales& scales) {
    const uint8_t* packed = block + 4;
    const float d = half_at(block), dmin = half_at(block + 2);
    for (int j = 0; j < 4; ++j) {
      scales.of[j] = d * static_cast<float>(packed[j] & 63);
      scales.minima[j] = dmin * static_cast<float>(packed[j + 4] & 63);
      scales.of[j + 4] = d * static_cast<float>((packed[j + 8] & 15) | packed[j] >> 6 << 4);
      scales.minima[j + 4] = dmin * static_cast<float>(packed[j + 8] >> 4 | packed[j + 4] >> 6 << 4);
    }
  }
  template <class T>
  CT_INLINE Vector<T> vector(const uint8_t* block, const int8_t*, int group, int p) {
    const uint8_t* from = block + 16 + group / 2 * 32 + p;
    return group % 2 ? half_bytes<true, 0>(from, T()) : half_bytes<false, 0>(from, T());
  }
};

struct Q6_K {
  static constexpr int elements = 256, bytes = 210, head = 0, group = 16;
  static constexpr bool has_minima = false, has_zero = false;
  CT_INLINE void open(const uint8_t* block, int8_t* room, Scales& scales) {
    CT_UNROLL for (int h = 0; h < 2; ++h) {
      const uint8_t *low = block + 64 * h, *high = block + 128 + 32 * h;
      int8_t* to = room + 128 * h;
      CT_UNROLL for (int i = 0; i < 32; i += 16) {
        const Bytes near = bytes_at(low + i), far = bytes_at(low + 32 + i), bits = bytes_at(high + i);
        put(to + i, ((near & 15) | (bits & 3) << 4) - 32);
        put(to + 32 + i, ((far & 15) | (bits >> 2 & 3) << 4) - 32);
        put(to + 64 + i, (near >> 4 | (bits >> 4 & 3) << 4) - 32);
        put(to + 96 + i, (far >> 4 | bits >> 6 << 4) - 32);
      }
    }
    const float d = half_at(block + 208);
    for (int j = 0; j < 16; ++j) scales.of[j] = d * static_cast<float>(static_cast<int8_t>(block[192 + j]));
  }
  template <class T>
  CT_INLINE Vector<T> vector(const uint8_t*, const int8_t* room, int group, int p) {
    return signed_bytes(room + 16 * group + p, T());
  }
};

struct Int8 {
  static constexpr int elements = 32, bytes = 32, head = 8, group = 32;
  static constexpr bool has_minima = false, has_zero = true;
  CT_INLINE void open(const uint8_t*, int8_t*, Scales&) {}
  template <class T>
  CT_INLINE Vector<T> vector(const uint8_t* block, const int8_t*, int, int p) {
    return signed_bytes(block + p, T());
  }
};

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

template <class F>
CT_INLINE void visit(Quantization kind, F&& f) {
  visit_kinds<Q8_0, Q4_0, Q4_K, Q6_K, Int8>(kind, f);
}

}  // namespace

void quantized_rows(const QuantizedArgs& g, int64_t begin, int64_t end) {
  visit(g.kind, [&](auto kind) {
    using Kind = decltype(kind);
    if (g.dtype == Dtype::float64) {
      rows<double, Kind>(g, begin, end);
    } else {
      rows<float, Kind>(g, begin, end);
    }
  });
}

std::int64_t quantized_x_row(Quantization kind, std::int64_t blocks) { return ordered_row(kind, blocks); }

void quantized_x(Quantization kind, std::int64_t blocks, const float* x, float* out) { order(kind, blocks, x, out); }

void dequantized_row(Quantization kind, const uint8_t* row, int64_t columns, float* out) {
  visit(kind, [&](auto k) { floats<decltype(k)>(row, columns, out); });
}

}  // namespace catenary::cpu::CT_SIMD_NAMESPACE
