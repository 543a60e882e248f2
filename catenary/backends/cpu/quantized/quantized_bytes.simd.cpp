// Products of few rows with quantised weights where x may be rounded to 8 bits (config.int8_products), compiled for
// each instruction set (see core/cpu_features.h). Weights of few bits stay integers: one instruction adds the products
// of four pairs of bytes, and a block's sum is converted to float once.

#include <array>
#include <utility>

#include "catenary/backends/cpu/quantized/quantized_byte_vectors.h"
#include "catenary/backends/cpu/quantized/quantized_decoders.h"

namespace catenary::cpu::CT_SIMD_NAMESPACE {
namespace {

#if defined(__AVX2__)

// Lane l of the result is x[first + l / run * stride] of eight elements.
template <int first, int run, int stride>
CT_INLINE Vector<float> spread(__m256 x) {
  static const std::array<std::int32_t, L> places = [] {
    std::array<std::int32_t, L> all{};
    for (int l = 0; l < L; ++l) all[static_cast<std::size_t>(l)] = first + l / run * stride;
    return all;
  }();
#  if defined(__AVX512F__)
  return _mm512_permutexvar_ps(_mm512_loadu_si512(places.data()), _mm512_castps256_ps512(x));
#  else
  return _mm256_permutevar8x32_ps(x, whole_bytes(places.data()));
#  endif
}

// ---- the kinds ----

// How a kind is read. A unit consists of some blocks, read in steps of one vector of four-byte sums each. element()
// maps a byte of x to the unit's weight that multiplies it. This form unpacks the numbers of a unit by the kind's
// Decoder. Kinds whose numbers can be read in place have a form of their own below.
template <Quantization kind>
struct ByteForm : Layout<kind> {
  using From = Decoder<kind>;
  static constexpr int group = From::group, blocks = From::elements < kBytes ? kBytes / From::elements : 1;
  static constexpr int numbers_of_unit = blocks * From::elements, groups = From::elements / group;
  static_assert(groups == 1 ? blocks <= 2 : blocks == 1 && groups % 8 == 0);
  static constexpr int steps = numbers_of_unit / kBytes, vectors = 1, offset = From::is_signed ? kRaised : 0;
  static constexpr bool is_signed = From::is_signed, has_minima = From::has_minima;
  static constexpr int element(int step, int, int byte) { return kBytes * step + byte; }
  struct Opened {
    alignas(64) int8_t room[numbers_of_unit];
    __m256 scales[std::max(1, groups / 8)], minima[std::max(1, groups / 8)];
  };
  CT_INLINE Opened open(const uint8_t* w) {
    Opened opened;
    Scales scales[blocks];
    CT_UNROLL for (int b = 0; b < blocks; ++b)
        From::open(w + b * From::bytes, opened.room + b * From::elements, scales[b]);
    if constexpr (groups == 1) {  // in registers, because a load of several stores waits for all
      const float last = scales[blocks - 1].of[0];
      opened.scales[0] = _mm256_setr_ps(scales[0].of[0], last, last, last, last, last, last, last);
    } else {
      for (int g = 0; g < groups; g += 8) opened.scales[g / 8] = _mm256_loadu_ps(scales[0].of + g);
    }
    if constexpr (has_minima)
      for (int g = 0; g < groups; g += 8) opened.minima[g / 8] = _mm256_loadu_ps(scales[0].minima + g);
    return opened;
  }
  template <int step, int vector>
  CT_INLINE Ints numbers(const uint8_t*, const Opened& o) {
#  if defined(__AVX512F__)
    return two_of(o.room + kBytes * step, o.room + kBytes * step + 32);  // decoders store 32 bytes at once
#  else
    return whole_bytes(o.room + kBytes * step);
#  endif
  }
  template <int step>
  CT_INLINE Vector<float> scale(const Opened& o) {
    constexpr int first = step * kBytes / group;
    return spread<first % 8, group / 4, 1>(o.scales[first / 8]);
  }
};

template <>
struct ByteForm<Quantization::q8_0> : Layout<Quantization::q8_0> {
  static constexpr int blocks = kBytes / 32;
  static constexpr int steps = 1, vectors = 1, offset = kRaised;
  static constexpr bool is_signed = true;
  static constexpr int element(int, int, int byte) { return byte; }
  struct Opened {
    Vector<float> scales;
  };
#  if defined(__AVX512F__)
  CT_INLINE Opened open(const uint8_t* w) {
    const __m512i places =
        _mm512_castsi256_si512(_mm256_setr_epi16(0, 0, 0, 0, 0, 0, 0, 0, 17, 17, 17, 17, 17, 17, 17, 17));
    return {_mm512_cvtph_ps(_mm512_castsi512_si256(_mm512_permutexvar_epi16(places, whole_bytes(w))))};
  }
  template <int step, int vector>
  CT_INLINE Ints numbers(const uint8_t* w, const Opened&) {
    return two_of(w + 2, w + 36);
  }
#  else
  CT_INLINE Opened open(const uint8_t* w) { return {splat(half_at(w))}; }
  template <int step, int vector>
  CT_INLINE Ints numbers(const uint8_t* w, const Opened&) {
    return whole_bytes(w + 2);
  }
#  endif
  template <int step>
  CT_INLINE Vector<float> scale(const Opened& o) {
    return o.scales;
  }
};

// The lower 4 bits of all blocks form one vector, the upper 4 bits a second one.
template <>
struct ByteForm<Quantization::q4_0> : Layout<Quantization::q4_0> {
  static constexpr int blocks = L / 4;
  static constexpr int steps = 1, vectors = 2, offset = 8;
  static constexpr bool is_signed = false;
  static constexpr int element(int, int vector, int byte) { return byte / 16 * 32 + 16 * vector + byte % 16; }
  struct Opened {
    Ints packed;
    Vector<float> scales;
  };
#  if defined(__AVX512F__)
  CT_INLINE Opened open(const uint8_t* w) {
    const __m512i places =
        _mm512_castsi256_si512(_mm256_setr_epi16(0, 0, 0, 0, 9, 9, 9, 9, 18, 18, 18, 18, 27, 27, 27, 27));
    const __m256i first = _mm256_inserti128_si256(_mm256_castsi128_si256(sixteen(w + 2)), sixteen(w + 20), 1);
    const __m256i second = _mm256_inserti128_si256(_mm256_castsi128_si256(sixteen(w + 38)), sixteen(w + 56), 1);
    return {_mm512_inserti64x4(_mm512_castsi256_si512(first), second, 1),
            _mm512_cvtph_ps(_mm512_castsi512_si256(_mm512_permutexvar_epi16(places, whole_bytes(w))))};
  }
#  else
  CT_INLINE Opened open(const uint8_t* w) {
    std::int16_t first, second;
    std::memcpy(&first, w, 2);
    std::memcpy(&second, w + 18, 2);
    return {_mm256_inserti128_si256(_mm256_castsi128_si256(sixteen(w + 2)), sixteen(w + 20), 1),
            _mm256_cvtph_ps(_mm_blend_epi32(_mm_set1_epi16(first), _mm_set1_epi16(second), 12))};
  }
#  endif
  template <int step, int vector>
  CT_INLINE Ints numbers(const uint8_t*, const Opened& o) {
    return vector ? high_bits(o.packed) : low_bits(o.packed);
  }
  template <int step>
  CT_INLINE Vector<float> scale(const Opened& o) {
    return o.scales;
  }
};

// 32 bytes contain a group in their lower 4 bits and the next group in their upper 4 bits. Wide vectors hold two such
// pairs.
template <>
struct ByteForm<Quantization::q4_k> : Layout<Quantization::q4_k> {
  static constexpr int blocks = 1;
  static constexpr int steps = 256 / kBytes, vectors = 1, offset = 0;
  static constexpr bool is_signed = false, has_minima = true;
  static constexpr int group = 32;
  static constexpr int element(int step, int, int byte) {
    return kWide ? step / 2 * 128 + byte / 32 * 64 + step % 2 * 32 + byte % 32 : 32 * step + byte;
  }
  struct Opened {
    __m256 scales, minima[1];
  };
  CT_INLINE __m256 times(float d, std::uint32_t low, std::uint32_t high) {
    const __m128i six_bits = _mm_set_epi64x(0, static_cast<std::int64_t>(std::uint64_t{high} << 32 | low));
    return _mm256_mul_ps(_mm256_set1_ps(d), _mm256_cvtepi32_ps(_mm256_cvtepu8_epi32(six_bits)));
  }
  CT_INLINE Opened open(const uint8_t* w) {
    std::uint32_t a, b, c;
    std::memcpy(&a, w + 4, 4);
    std::memcpy(&b, w + 8, 4);
    std::memcpy(&c, w + 12, 4);
    const std::uint32_t scales = (c & 0x0f0f0f0f) | (a >> 6 & 0x03030303) << 4;
    const std::uint32_t minima = (c >> 4 & 0x0f0f0f0f) | (b >> 6 & 0x03030303) << 4;
    return {times(half_at(w), a & 0x3f3f3f3f, scales), {times(half_at(w + 2), b & 0x3f3f3f3f, minima)}};
  }
  template <int step, int vector>
  CT_INLINE Ints numbers(const uint8_t* w, const Opened&) {
    const Ints packed = whole_bytes(w + 16 + step / 2 * kBytes);
    return step % 2 ? high_bits(packed) : low_bits(packed);
  }
  template <int step>
  CT_INLINE Vector<float> scale(const Opened& o) {
    return kWide ? spread<step / 2 * 4 + step % 2, 8, 2>(o.scales) : spread<step, 8, 0>(o.scales);
  }
};

template <>
struct ByteForm<Quantization::q6_k> : Layout<Quantization::q6_k> {
  static constexpr int blocks = 1;
  static constexpr int steps = 256 / kBytes, vectors = 1, offset = 32;
  static constexpr bool is_signed = false;
  static constexpr int element(int step, int, int byte) { return kBytes * step + byte; }
  struct Opened {
    __m256 scales[2];  // for 16 weights each
  };
  CT_INLINE Opened open(const uint8_t* w) {
    const __m256 d = _mm256_set1_ps(half_at(w + 208));
    const __m128i bytes = sixteen(w + 192);
    return {{_mm256_mul_ps(d, _mm256_cvtepi32_ps(_mm256_cvtepi8_epi32(bytes))),
             _mm256_mul_ps(d, _mm256_cvtepi32_ps(_mm256_cvtepi8_epi32(_mm_srli_si128(bytes, 8))))}};
  }
#  if defined(__AVX512F__)
  template <int step, int vector>
  CT_INLINE Ints numbers(const uint8_t* w, const Opened&) {
    const Ints low = whole_bytes(w + step / 2 * 64), bits = both(w + 128 + step / 2 * 32);
    // each half of the vector moves different two bits to positions 4 and 5
    constexpr std::int64_t f = step % 2 ? 0 : 0x0004000400040004, s = 0x0002000200020002;
    const Ints by = _mm512_setr_epi64(f, f, f, f, s, s, s, s);
    const Ints upper = step % 2 ? _mm512_srlv_epi16(bits, by) : _mm512_sllv_epi16(bits, by);
    return _mm512_or_si512(step % 2 ? high_bits(low) : low_bits(low), _mm512_and_si512(upper, _mm512_set1_epi8(0x30)));
  }
#  else
  template <int step, int vector>
  CT_INLINE Ints numbers(const uint8_t* w, const Opened&) {
    constexpr int quarter = step % 4, shift = 4 - 2 * quarter;
    const Ints low = whole_bytes(w + step / 4 * 64 + quarter % 2 * 32), bits = whole_bytes(w + 128 + step / 4 * 32);
    const Ints upper = shift < 0 ? _mm256_srli_epi16(bits, -shift) : _mm256_slli_epi16(bits, shift);
    return _mm256_or_si256(quarter < 2 ? low_bits(low) : high_bits(low),
                           _mm256_and_si256(upper, _mm256_set1_epi8(0x30)));
  }
#  endif
  template <int step>
  CT_INLINE Vector<float> scale(const Opened& o) {
    constexpr int groups = L / 4;
    return spread<step * groups % 8, 4, 1>(o.scales[step * groups / 8]);
  }
};

template <>
struct ByteForm<Quantization::int8> : Layout<Quantization::int8> {
  static constexpr int blocks = kBytes / 32;
  static constexpr int steps = 1, vectors = 1, offset = kRaised;
  static constexpr bool is_signed = true, has_zero = true;
  static constexpr int element(int, int, int byte) { return byte; }
  struct Opened {};
  CT_INLINE Opened open(const uint8_t*) { return {}; }
  template <int step, int vector>
  CT_INLINE Ints numbers(const uint8_t* w, const Opened&) {
    return whole_bytes(w);
  }
  template <int step>
  CT_INLINE Vector<float> scale(const Opened&) {
    return splat(1.f);
  }
};

// ---- x ----

// The part of a row of x for one step: its bytes, the initial sums that correct a kind's offset, and the scales of its
// blocks.
template <int vectors>
struct alignas(64) Step {
  std::int32_t first[L];
  float scales[L];
  int8_t bytes[vectors * kBytes];
};
// After a row's steps: the rounded sums of each group's elements (has_minima), or the sum of all (has_zero).
template <class Kind>
struct Rounded {
  using Of = Step<Kind::vectors>;
  static int64_t units(int64_t blocks) { return ceil_div(blocks, Kind::blocks); }
  static int64_t steps(int64_t blocks) { return units(blocks) * Kind::steps; }
  static int64_t sums(int64_t blocks) {
    if constexpr (Kind::has_minima) return blocks * (Kind::elements / Kind::group);
    return Kind::has_zero ? 1 : 0;
  }
  static int64_t bytes(int64_t blocks) {
    const auto bytes =
        steps(blocks) * static_cast<int64_t>(sizeof(Of)) + sums(blocks) * static_cast<int64_t>(sizeof(float));
    return ceil_div(bytes, 64) * 64;
  }
};

// Writes the rounded sums of the groups of 32 bytes.
template <int group>
CT_INLINE void put_sums(const int8_t* bytes, float scale, float* sums) {
  for (int g = 0; g < 32 / group; ++g) {
    std::int32_t sum = 0;
    for (int i = 0; i < group; ++i) sum += bytes[group * g + i];
    sums[g] = scale * static_cast<float>(sum);
  }
}

template <class Kind>
static CT_BYTE_UNITS bool round_row(int64_t blocks, const float* x, void* out) {
  using Of = Rounded<Kind>;
  constexpr int kElements = Kind::blocks * Kind::elements, kParts = kElements / 32;
  auto* step = static_cast<typename Of::Of*>(out);
  auto* sums = reinterpret_cast<float*>(step + Of::steps(blocks));
  int8_t bytes[kElements];
  float scales[kParts];
  double all = 0;
  for (int64_t unit = 0; unit < Of::units(blocks); ++unit) {
    for (int part = 0; part < kParts; ++part) {
      const int64_t at = unit * kElements + 32 * part;
      if (at < blocks * Kind::elements) {
        std::int32_t sum = 0;
        if (!round_block(x + at, bytes + 32 * part, scales[part], sum)) return false;
        const float rounded = scales[part] * static_cast<float>(sum);
        if constexpr (Kind::has_minima) put_sums<Kind::group>(bytes + 32 * part, scales[part], sums + at / Kind::group);
        all += rounded;
      } else {
        std::memset(bytes + 32 * part, 0, 32);
        scales[part] = 0;
      }
    }
    for (int s = 0; s < Kind::steps; ++s, ++step) {
      for (int v = 0; v < Kind::vectors; ++v) {
        int8_t* to = step->bytes + v * kBytes;
        for (int run = 0; run < kBytes; run += 16) {
          const int element = Kind::element(s, v, run);
          std::memcpy(to + run, bytes + element, 16);
          for (int l = run / 4; l < run / 4 + 4; ++l) step->scales[l] = scales[element / 32];
        }
        for (int l = 0; l < kBytes / 4; ++l) {
          std::int32_t sum = 0;
          for (int b = 4 * l; b < 4 * l + 4; ++b) sum += to[b];
          step->first[l] = (v ? step->first[l] : 0) - Kind::offset * sum;
        }
      }
    }
  }
  if constexpr (Kind::has_zero) sums[0] = static_cast<float>(all);
  return true;
}

// ---- products ----

// Multiplies a step, or a unit, of w by kM rows of x.
template <class Kind, int s, int kM>
CT_INLINE CT_BYTE_UNITS void add_step(const uint8_t* w, const typename Kind::Opened& opened, const char* x,
                                      int64_t x_row, Vector<float> (&sum)[kM]) {
  using Of = Step<Kind::vectors>;
  const Ints first = Kind::template numbers<s, 0>(w, opened),
             second = Kind::template numbers<s, Kind::vectors - 1>(w, opened);
  const Vector<float> scale = Kind::template scale<s>(opened);
  CT_UNROLL for (int r = 0; r < kM; ++r) {
    const Of& of = *reinterpret_cast<const Of*>(x + r * x_row + s * static_cast<int64_t>(sizeof(Of)));
    Ints dots = whole_bytes(of.first);
    if constexpr (Kind::is_signed) {
      dots = dot_signed(dots, first, whole_bytes(of.bytes));
    } else if constexpr (Kind::vectors == 2) {
      dots = dot(dots, first, whole_bytes(of.bytes), second, whole_bytes(of.bytes + kBytes));
    } else {
      dots = dot(dots, first, whole_bytes(of.bytes));
    }
    const Vector<float> scales = Kind::has_zero ? load(of.scales) : scale * load(of.scales);
    sum[r] = fused(as_floats(dots), scales, sum[r]);
  }
}

template <class Kind, int kM, int... s>
CT_INLINE CT_BYTE_UNITS void add_unit(const uint8_t* w, const typename Kind::Opened& opened, const char* x,
                                      int64_t x_row, Vector<float> (&sum)[kM], std::integer_sequence<int, s...>) {
  (add_step<Kind, s, kM>(w, opened, x, x_row, sum), ...);
}

// Distance of prefetches in w, in bytes.
constexpr int kAhead = 1536;

// Returns the number of minima of a block.
template <class Kind>
constexpr int minima_of() {
  if constexpr (Kind::has_minima) return Kind::elements / Kind::group;
  return 0;
}

// Computes kN rows of w at once (rows j, j + apart, …), because each row alone is limited by the latency of its sum.
template <class Kind, int kN, int kM>
static CT_BYTE_UNITS void side_by_side(const QuantizedArgs& g, int64_t i, int64_t j, int64_t apart) {
  constexpr std::make_integer_sequence<int, Kind::steps> kSteps;
  constexpr int64_t kUnit = Kind::blocks * Kind::bytes,
                    kStep = Kind::steps * static_cast<int64_t>(sizeof(Step<Kind::vectors>));
  const uint8_t* w = g.w + j * g.row_bytes + Kind::head;
  const char* x = static_cast<const char*>(g.x) + i * g.x_row;
  const auto* x_sums = reinterpret_cast<const float*>(x + Rounded<Kind>::steps(g.blocks) *
                                                              static_cast<int64_t>(sizeof(Step<Kind::vectors>)));
  constexpr int kMinima = minima_of<Kind>();
  Vector<float> sums[kN][kM] = {};
  __m256 minima[kN][kM] = {};
  int64_t block = 0;
  for (; block + Kind::blocks <= g.blocks; block += Kind::blocks, w += kUnit, x += kStep) {
    CT_UNROLL for (int n = 0; n < kN; ++n) {
      const uint8_t* at = w + n * apart * g.row_bytes;
      __builtin_prefetch(at + kAhead);
      if constexpr (kUnit > 64) __builtin_prefetch(at + kAhead + 64);
      const typename Kind::Opened opened = Kind::open(at);
      add_unit<Kind, kM>(at, opened, x, g.x_row, sums[n], kSteps);
      if constexpr (Kind::has_minima) {
        CT_UNROLL for (int r = 0; r < kM; ++r) {
          const auto* of =
              reinterpret_cast<const float*>(reinterpret_cast<const char*>(x_sums + kMinima * block) + r * g.x_row);
          CT_UNROLL for (int part = 0; part < kMinima / 8; ++part) minima[n][r] =
              _mm256_fmadd_ps(opened.minima[part], _mm256_loadu_ps(of + 8 * part), minima[n][r]);
        }
      }
    }
  }
  if (block < g.blocks) {  // an incomplete unit: missing blocks are zeros
    for (int n = 0; n < kN; ++n) {
      alignas(64) uint8_t last[kUnit] = {};
      std::memcpy(last, w + n * apart * g.row_bytes, static_cast<std::size_t>((g.blocks - block) * Kind::bytes));
      add_unit<Kind, kM>(last, Kind::open(last), x, g.x_row, sums[n], kSteps);
    }
  }
  for (int n = 0; n < kN; ++n) {
    for (int r = 0; r < kM; ++r) {
      float sum = sum_of<float>(sums[n][r]);
      if constexpr (Kind::has_minima) {
        alignas(32) float lanes[8];
        _mm256_store_ps(lanes, minima[n][r]);
        sum -= ((lanes[0] + lanes[4]) + (lanes[1] + lanes[5])) + ((lanes[2] + lanes[6]) + (lanes[3] + lanes[7]));
      }
      if constexpr (Kind::has_zero) {
        const Head head = head_of(g, j + n * apart);
        const auto all = *reinterpret_cast<const float*>(reinterpret_cast<const char*>(x_sums) + r * g.x_row);
        sum = head.scale * (sum - head.zero * all);
      }
      finish(g, i + r, j + n * apart, sum);
    }
  }
}

template <class Kind, int kM>
static void some_rows(const QuantizedArgs& g, int64_t i, int64_t begin, int64_t end) {
  // pair rows from two halves, each of which is read sequentially
  const int64_t half = kM == 1 ? (end - begin) / 2 : 0;
  for (int64_t j = begin; j < begin + half; ++j) side_by_side<Kind, 2, kM>(g, i, j, half);
  for (int64_t j = begin + 2 * half; j < end; ++j) side_by_side<Kind, 1, kM>(g, i, j, 0);
}

template <class Kind>
static void rows(const QuantizedArgs& g, int64_t begin, int64_t end) {
  int64_t i = 0;
  for (; i + 4 <= g.m; i += 4) some_rows<Kind, 4>(g, i, begin, end);
  if (i + 2 <= g.m) some_rows<Kind, 2>(g, i, begin, end), i += 2;
  if (i < g.m) some_rows<Kind, 1>(g, i, begin, end);
}

static int64_t x_bytes(Quantization kind, int64_t blocks) {
  return visit_quantization(kind, [&](auto k) { return Rounded<ByteForm<k()>>::bytes(blocks); });
}
static bool round_x(Quantization kind, int64_t blocks, const float* x, void* out) {
  return visit_quantization(kind, [&](auto k) { return round_row<ByteForm<k()>>(blocks, x, out); });
}
static void rounded_rows(const QuantizedArgs& g, int64_t begin, int64_t end) {
  visit_quantization(g.kind, [&](auto k) { rows<ByteForm<k()>>(g, begin, end); });
}

#endif

}  // namespace

#if defined(__AVX2__)
const RoundedLevel rounded_level{x_bytes, round_x, rounded_rows};
#else
const RoundedLevel rounded_level{nullptr, nullptr, nullptr};
#endif

}  // namespace catenary::cpu::CT_SIMD_NAMESPACE
