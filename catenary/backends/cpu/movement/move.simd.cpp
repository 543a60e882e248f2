// Casts and transpositions, compiled for each instruction set. Every function is static or in the level's namespace
// (see core/cpu_features.h).
#include "catenary/backends/cpu/movement/move.h"

#include <algorithm>
#include <bit>
#include <limits>
#include <type_traits>
#include <utility>

#if defined(__SSE2__)
#  include <immintrin.h>
#endif

#include "catenary/backends/cpu/half_vectors.h"

namespace catenary::cpu {
namespace CT_SIMD_NAMESPACE {
namespace {

// 16-bit floats as bits, converted without branches so that the loops vectorise. half.h follows these rules too, but
// its functions have external linkage.
enum class Half : std::uint16_t {};
enum class Bfloat : std::uint16_t {};
enum class Bool : std::uint8_t {};

inline float widen(Half h) {
  const auto bits = static_cast<std::uint32_t>(h);
  const std::uint32_t sign = (bits & 0x8000u) << 16;
  const std::uint32_t magnitude = bits & 0x7fffu;
  const std::uint32_t special = magnitude >= 0x7c00u ? 0x38000000u : 0u;  // infinity and NaN: sets the exponent to 255
  const std::uint32_t normal = (magnitude << 13) + 0x38000000u + special;
  const std::uint32_t subnormal =
      std::bit_cast<std::uint32_t>(static_cast<float>(static_cast<std::int32_t>(magnitude)) * 5.9604644775390625e-8f);
  return std::bit_cast<float>(sign | (magnitude < 0x400u ? subnormal : normal));
}
inline float widen(Bfloat b) { return std::bit_cast<float>(static_cast<std::uint32_t>(b) << 16); }

// With ?: GCC moves the arithmetic into branches and does not vectorise.
inline std::int32_t select(bool condition, std::int32_t yes, std::int32_t no) {
  const std::int32_t mask = -static_cast<std::int32_t>(condition);
  return (yes & mask) | (no & ~mask);
}

// Uses signed comparisons, because AVX2 has no others.
inline Half to_half(float f) {
  const auto bits = std::bit_cast<std::int32_t>(f);
  const std::int32_t magnitude = bits & 0x7fffffff;
  const std::int32_t small = std::bit_cast<std::int32_t>(std::bit_cast<float>(magnitude) + 0.5f) - 0x3f000000;
  const std::int32_t normal = (magnitude + 0xfff + ((magnitude >> 13) & 1) - 0x38000000) >> 13;
  std::int32_t result = select(magnitude < 0x38800000, small, normal);
  result = select(magnitude >= 0x477ff000, 0x7c00, result);
  result = select(magnitude > 0x7f800000, 0x7e00, result);
  return static_cast<Half>(((bits >> 16) & 0x8000) | result);
}
inline Bfloat to_bfloat(float f) {
  const auto bits = std::bit_cast<std::int32_t>(f);
  const std::int32_t rounded =
      static_cast<std::int32_t>(static_cast<std::uint32_t>(bits) + 0x7fffu + ((bits >> 16) & 1)) >> 16;
  const std::int32_t quiet = (bits >> 16) | 0x40;
  return static_cast<Bfloat>(select((bits & 0x7fffffff) > 0x7f800000, quiet, rounded));
}

// Rounds to odd, so that a second rounding to a 16-bit float gives the result of a single rounding.
inline float to_odd_float(double d) {
  const float f = static_cast<float>(d);
  const double back = f;
  const std::uint32_t bits = std::bit_cast<std::uint32_t>(f);
  const std::uint64_t magnitude = std::bit_cast<std::uint64_t>(d) & 0x7fffffffffffffffu;
  const std::uint64_t rounded = std::bit_cast<std::uint64_t>(back) & 0x7fffffffffffffffu;
  const std::uint32_t odd = (bits - (rounded > magnitude ? 1u : 0u)) | 1u;
  return std::bit_cast<float>(rounded == magnitude || d != d ? bits : odd);
}

template <class I, class F>
inline I truncate(F x) {
  // Exact bounds: -2^(bits-1) and 2^(bits-1) are representable as floats, the largest integer is not.
  constexpr F low = static_cast<F>(std::numeric_limits<I>::min());
  const bool fits = x >= low && x < -low;
  return fits ? static_cast<I>(fits ? x : F{0}) : std::numeric_limits<I>::min();
}
template <class F>
inline std::uint64_t truncate_unsigned(F x) {
  constexpr F half = static_cast<F>(9223372036854775808.0);
  const bool high = x >= half;
  const auto low_bits = static_cast<std::uint64_t>(truncate<std::int64_t>(high ? x - half : x));
  return high ? low_bits ^ 0x8000000000000000u : low_bits;
}

template <class D, class R>
inline D convert(R x) {
  if constexpr (std::is_same_v<D, Bool>) {
    return static_cast<Bool>(x != R{0});
  } else if constexpr (std::is_same_v<D, Half>) {
    if constexpr (std::is_same_v<R, double>) return to_half(to_odd_float(x));
    return to_half(static_cast<float>(x));
  } else if constexpr (std::is_same_v<D, Bfloat>) {
    if constexpr (std::is_same_v<R, double>) return to_bfloat(to_odd_float(x));
    return to_bfloat(static_cast<float>(x));
  } else if constexpr (std::is_floating_point_v<R> && std::is_integral_v<D>) {
    if constexpr (std::is_same_v<D, std::uint64_t>) return truncate_unsigned(x);
    using Through = std::conditional_t<sizeof(D) == 8 || std::is_same_v<D, std::uint32_t>, std::int64_t, std::int32_t>;
    return static_cast<D>(truncate<Through>(x));
  } else {
    return static_cast<D>(x);
  }
}

template <class D, class R>
void store(void* dst, const R* src, std::int64_t n) {
  auto* d = static_cast<D*>(dst);
  for (std::int64_t i = 0; i < n; ++i) d[i] = convert<D>(src[i]);
}

#if defined(__F16C__)
template <>
void store<Half, float>(void* dst, const float* src, std::int64_t n) {
  auto* d = static_cast<Half*>(dst);
  std::int64_t i = 0;
  for (; i + 8 <= n; i += 8) _mm_storeu_si128(reinterpret_cast<__m128i*>(d + i), to_halves(_mm256_loadu_ps(src + i)));
  for (; i < n; ++i) d[i] = to_half(src[i]);
}
#endif

template <class R>
void store_as(void* dst, Dtype dtype, const R* src, std::int64_t n) {
  switch (dtype) {
    case Dtype::bool_:
      return store<Bool>(dst, src, n);
    case Dtype::int8:
      return store<std::int8_t>(dst, src, n);
    case Dtype::int16:
      return store<std::int16_t>(dst, src, n);
    case Dtype::int32:
      return store<std::int32_t>(dst, src, n);
    case Dtype::int64:
      return store<std::int64_t>(dst, src, n);
    case Dtype::uint8:
      return store<std::uint8_t>(dst, src, n);
    case Dtype::uint16:
      return store<std::uint16_t>(dst, src, n);
    case Dtype::uint32:
      return store<std::uint32_t>(dst, src, n);
    case Dtype::uint64:
      return store<std::uint64_t>(dst, src, n);
    case Dtype::float16:
      return store<Half>(dst, src, n);
    case Dtype::bfloat16:
      return store<Bfloat>(dst, src, n);
    case Dtype::float32:
      return store<float>(dst, src, n);
    case Dtype::float64:
      return store<double>(dst, src, n);
    case Dtype::complex64:
    case Dtype::complex128:
      break;  // handled by parts in strided_copy
  }
}

// Avoids 169 pairs of dtypes: converts a block to the register type of its dtype, then to the dtype of dst.
template <class R, class S>
void cast_through(void* dst, Dtype dtype, const void* src, std::int64_t n) {
  const auto* s = static_cast<const S*>(src);
  if constexpr (std::is_same_v<R, S>) {
    store_as<R>(dst, dtype, s, n);
  } else {
    constexpr std::int64_t kBlock = 1024;
    alignas(64) R block[kBlock];
    auto* d = static_cast<char*>(dst);
    for (std::int64_t i = 0; i < n; i += kBlock) {
      const std::int64_t m = std::min(kBlock, n - i);
      for (std::int64_t j = 0; j < m; ++j) {
        if constexpr (std::is_same_v<S, Half> || std::is_same_v<S, Bfloat>) {
          block[j] = widen(s[i + j]);
        } else if constexpr (std::is_same_v<S, Bool>) {
          block[j] = s[i + j] != Bool{0};
        } else {
          block[j] = static_cast<R>(s[i + j]);
        }
      }
      store_as<R>(d + i * static_cast<std::int64_t>(itemsize(dtype)), dtype, block, m);
    }
  }
}

inline bool is_nan(float x) { return x != x; }
inline bool is_nan(double x) { return x != x; }

// Combines an element with a new value. 16-bit floats are combined in float32; max and min keep NaN.
template <ScatterMode Mode, class T>
inline T combined(T a, T b) {
  if constexpr (Mode == ScatterMode::assign) {
    return b;
  } else if constexpr (std::is_same_v<T, Half>) {
    return to_half(combined<Mode>(widen(a), widen(b)));
  } else if constexpr (std::is_same_v<T, Bfloat>) {
    return to_bfloat(combined<Mode>(widen(a), widen(b)));
  } else if constexpr (std::is_same_v<T, Bool>) {
    const auto x = static_cast<std::uint8_t>(a), y = static_cast<std::uint8_t>(b);
    return static_cast<Bool>(Mode == ScatterMode::min ? x & y : x | y);
  } else if constexpr (Mode == ScatterMode::add) {
    return static_cast<T>(a + b);
  } else if constexpr (std::is_floating_point_v<T>) {
    return (Mode == ScatterMode::max ? a > b : a < b) || is_nan(a) ? a : b;
  } else {
    return (Mode == ScatterMode::max ? a > b : a < b) ? a : b;
  }
}

template <ScatterMode Mode, class T>
void scatter_share(void* elements, const ScatterShare& share) {
  const auto* v = static_cast<const T*>(share.values);
  const std::int64_t n = share.n, *const places = share.places;
  for (std::int64_t p = 0; p < share.count; ++p, v += share.stride) {
    const std::int64_t offset = share.offsets[p];
    if (offset < share.low || offset >= share.high) continue;
    T* const e = static_cast<T*>(elements) + offset;
    if (places) {
      for (std::int64_t j = 0; j < n; ++j) e[places[j]] = combined<Mode>(e[places[j]], v[j]);
    } else {
      for (std::int64_t j = 0; j < n; ++j) e[j] = combined<Mode>(e[j], v[j]);
    }
  }
}

template <class T>
ScatterFunction scatter_for(ScatterMode mode) {
  switch (mode) {
    case ScatterMode::add:
      return scatter_share<ScatterMode::add, T>;
    case ScatterMode::max:
      return scatter_share<ScatterMode::max, T>;
    case ScatterMode::min:
      return scatter_share<ScatterMode::min, T>;
    case ScatterMode::assign:
      break;
  }
  switch (sizeof(T)) {
    case 1:
      return scatter_share<ScatterMode::assign, std::uint8_t>;
    case 2:
      return scatter_share<ScatterMode::assign, std::uint16_t>;
    case 4:
      return scatter_share<ScatterMode::assign, std::uint32_t>;
    default:
      return scatter_share<ScatterMode::assign, std::uint64_t>;
  }
}

// 16 bytes of words. Interleaving log2(N) times transposes: v'[2i], v'[2i+1] = low and high half of v[i] interleaved
// with v[i + N/2].
template <class W>
using Lanes __attribute__((vector_size(16))) = W;

template <class W, std::size_t... I>
inline void interleave(Lanes<W>& low, Lanes<W>& high, Lanes<W> a, Lanes<W> b, std::index_sequence<I...>) {
  constexpr int n = 16 / sizeof(W);
  low = __builtin_shufflevector(a, b, (static_cast<int>(I) / 2 + static_cast<int>(I) % 2 * n)...);
  high = __builtin_shufflevector(a, b, (n / 2 + static_cast<int>(I) / 2 + static_cast<int>(I) % 2 * n)...);
}

template <class W, int N>
inline void transpose_lanes(Lanes<W> (&v)[N]) {
  for (int step = 1; step < N; step *= 2) {
    Lanes<W> t[N];
    for (int i = 0; i < N / 2; ++i)
      interleave<W>(t[2 * i], t[2 * i + 1], v[i], v[i + N / 2], std::make_index_sequence<N>());
    for (int i = 0; i < N; ++i) v[i] = t[i];
  }
}

inline void store_line(void* dst, const void* line, bool stream) {
#if defined(__SSE2__)
  if (stream) {
    const auto* from = static_cast<const __m128i*>(line);
    auto* to = static_cast<__m128i*>(dst);
    for (int i = 0; i < 4; ++i) _mm_stream_si128(to + i, _mm_load_si128(from + i));
    return;
  }
#endif
  (void)stream;
  std::memcpy(dst, line, 64);
}

// Loads n elements, fewer than a line, without initialising the rest of the line. memcpy would be a call.
template <class W>
inline void load_part(W* line, const W* src, std::int64_t n) {
#if defined(__AVX512BW__)
  if constexpr (sizeof(W) == 2) return _mm512_store_si512(line, _mm512_maskz_loadu_epi16((1u << n) - 1, src));
  if constexpr (sizeof(W) == 4)
    return _mm512_store_si512(line, _mm512_maskz_loadu_epi32(static_cast<__mmask16>((1u << n) - 1), src));
#endif
  std::memcpy(line, src, static_cast<std::size_t>(n) * sizeof(W));
}
template <class W>
inline void store_part(W* dst, const W* line, std::int64_t n) {
#if defined(__AVX512BW__)
  if constexpr (sizeof(W) == 2) return _mm512_mask_storeu_epi16(dst, (1u << n) - 1, _mm512_load_si512(line));
  if constexpr (sizeof(W) == 4)
    return _mm512_mask_storeu_epi32(dst, static_cast<__mmask16>((1u << n) - 1), _mm512_load_si512(line));
#endif
  std::memcpy(dst, line, static_cast<std::size_t>(n) * sizeof(W));
}

// A tile is one cache line wide and high. Each line of src is read once, since rows a power of two apart would evict
// each other from L1 before their second half is read, and each line of dst is written whole.
template <class W, bool Whole>
inline void transpose_tile(W* dst, std::int64_t dst_stride, const W* src, std::int64_t src_stride, std::int64_t rows,
                           std::int64_t columns, bool stream) {
  constexpr int kTile = 64 / sizeof(W), kLanes = 16 / sizeof(W);
  alignas(64) W in[kTile][kTile];
  for (std::int64_t r = 0; r < (Whole ? kTile : rows); ++r) {
    if (Whole || columns == kTile) {
      std::memcpy(in[r], src + r * src_stride, 64);
    } else {
      load_part(in[r], src + r * src_stride, columns);
    }
  }
  for (std::int64_t c = 0; c < (Whole ? kTile : columns); c += kLanes) {
    alignas(64) W out[kLanes][kTile];
    for (std::int64_t r = 0; r < (Whole ? kTile : rows); r += kLanes) {
      Lanes<W> v[kLanes];
      for (int i = 0; i < kLanes; ++i) std::memcpy(&v[i], &in[r + i][c], 16);
      transpose_lanes<W>(v);
      for (int i = 0; i < kLanes; ++i) std::memcpy(&out[i][r], &v[i], 16);
    }
    for (std::int64_t i = 0; i < (Whole ? kLanes : std::min<std::int64_t>(kLanes, columns - c)); ++i) {
      if (Whole) {
        store_line(dst + (c + i) * dst_stride, out[i], stream);
      } else if (rows == kTile) {
        std::memcpy(dst + (c + i) * dst_stride, out[i], 64);
      } else {
        store_part(dst + (c + i) * dst_stride, out[i], rows);
      }
    }
  }
}

template <class W>
void transpose(W* dst, std::int64_t dst_stride, const W* src, std::int64_t src_stride, std::int64_t rows,
               std::int64_t columns, bool stream) {
  constexpr std::int64_t kTile = 64 / sizeof(W);
  // Blocks keep the pages in use within the TLB, and panels limit the hardware's prefetch streams.
  constexpr std::int64_t kBlock = 512, kPanel = 4 * kTile;
  // A streaming store needs its whole line, so every row of dst must begin on one.
  stream = stream && reinterpret_cast<std::uintptr_t>(dst) % 64 == 0 && dst_stride % kTile == 0;
  for (std::int64_t block = 0; block < rows; block += kBlock)
    for (std::int64_t panel = 0; panel < columns; panel += kPanel) {
      const std::int64_t row_end = std::min(rows, block + kBlock), column_end = std::min(columns, panel + kPanel);
      for (std::int64_t r = block; r < row_end; r += kTile)
        for (std::int64_t c = panel; c < column_end; c += kTile) {
          W* d = dst + c * dst_stride + r;
          const W* s = src + r * src_stride + c;
          if (r + kTile <= row_end && c + kTile <= column_end)
            transpose_tile<W, true>(d, dst_stride, s, src_stride, kTile, kTile, stream);
          else
            transpose_tile<W, false>(d, dst_stride, s, src_stride, std::min(kTile, row_end - r),
                                     std::min(kTile, column_end - c), false);
        }
    }
}

}  // namespace

void cast_elements(void* dst, Dtype to, const void* src, Dtype from, std::int64_t n) {
  switch (from) {
    case Dtype::bool_:
      return cast_through<std::int32_t, Bool>(dst, to, src, n);
    case Dtype::int8:
      return cast_through<std::int32_t, std::int8_t>(dst, to, src, n);
    case Dtype::int16:
      return cast_through<std::int32_t, std::int16_t>(dst, to, src, n);
    case Dtype::int32:
      return cast_through<std::int32_t, std::int32_t>(dst, to, src, n);
    case Dtype::int64:
      return cast_through<std::int64_t, std::int64_t>(dst, to, src, n);
    case Dtype::uint8:
      return cast_through<std::int32_t, std::uint8_t>(dst, to, src, n);
    case Dtype::uint16:
      return cast_through<std::int32_t, std::uint16_t>(dst, to, src, n);
    case Dtype::uint32:
      return cast_through<std::int64_t, std::uint32_t>(dst, to, src, n);
    case Dtype::uint64:
      return cast_through<std::uint64_t, std::uint64_t>(dst, to, src, n);
    case Dtype::float16:
      return cast_through<float, Half>(dst, to, src, n);
    case Dtype::bfloat16:
      return cast_through<float, Bfloat>(dst, to, src, n);
    case Dtype::float32:
      return cast_through<float, float>(dst, to, src, n);
    case Dtype::float64:
      return cast_through<double, double>(dst, to, src, n);
    case Dtype::complex64:
    case Dtype::complex128:
      break;  // handled by parts in strided_copy
  }
}

void transpose_words(void* dst, std::int64_t dst_stride, const void* src, std::int64_t src_stride, std::int64_t rows,
                     std::int64_t columns, std::size_t size, bool stream) {
  const auto words = [&](auto zero) {
    using W = decltype(zero);
    transpose(static_cast<W*>(dst), dst_stride, static_cast<const W*>(src), src_stride, rows, columns, stream);
  };
  switch (size) {
    case 1:
      return words(std::uint8_t{});
    case 2:
      return words(std::uint16_t{});
    case 4:
      return words(std::uint32_t{});
    case 16:
      for (std::int64_t c = 0; c < columns; ++c)
        for (std::int64_t r = 0; r < rows; ++r)
          static_cast<Word16*>(dst)[c * dst_stride + r] = static_cast<const Word16*>(src)[r * src_stride + c];
      return;
    default:
      return words(std::uint64_t{});
  }
}

ScatterFunction scatter_function(Dtype dtype, ScatterMode mode) {
  switch (dtype) {
    case Dtype::bool_:
      return scatter_for<Bool>(mode);
    case Dtype::int8:
      return scatter_for<std::int8_t>(mode);
    case Dtype::int16:
      return scatter_for<std::int16_t>(mode);
    case Dtype::int32:
      return scatter_for<std::int32_t>(mode);
    case Dtype::int64:
      return scatter_for<std::int64_t>(mode);
    case Dtype::uint8:
      return scatter_for<std::uint8_t>(mode);
    case Dtype::uint16:
      return scatter_for<std::uint16_t>(mode);
    case Dtype::uint32:
      return scatter_for<std::uint32_t>(mode);
    case Dtype::uint64:
      return scatter_for<std::uint64_t>(mode);
    case Dtype::float16:
      return scatter_for<Half>(mode);
    case Dtype::bfloat16:
      return scatter_for<Bfloat>(mode);
    case Dtype::float32:
      return scatter_for<float>(mode);
    case Dtype::complex64:  // only assigned
      return scatter_share<ScatterMode::assign, std::uint64_t>;
    case Dtype::complex128:
      return scatter_share<ScatterMode::assign, Word16>;
    case Dtype::float64:
      break;
  }
  return scatter_for<double>(mode);
}

void take_along_rows(const TakeAlongRows& rows, std::int64_t begin, std::int64_t end, std::size_t size) {
  const std::int64_t n = rows.n, inner = rows.inner;
  visit_word(size, [&](auto zero) {
    using W = decltype(zero);
    auto* __restrict__ const dst = static_cast<W*>(rows.dst);
    for (std::int64_t r = begin; r < end; ++r) {
      const W* const from = static_cast<const W*>(rows.src) + r / rows.count * n * inner;
      const std::int64_t* const index = rows.indices + r * inner;
      for (std::int64_t j = 0; j < inner; ++j)
        dst[r * inner + j] = from[(index[j] < 0 ? index[j] + n : index[j]) * inner + j];
    }
  });
}

}  // namespace CT_SIMD_NAMESPACE
}  // namespace catenary::cpu
