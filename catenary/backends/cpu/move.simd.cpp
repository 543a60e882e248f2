// Casts and transpositions, compiled once for each instruction set. Every function is static or in the level's
// namespace; see core/cpu_features.h.
#include "catenary/backends/cpu/move.h"

#include <algorithm>
#include <bit>
#include <limits>

#if defined(__SSE2__)
#  include <immintrin.h>
#  pragma GCC diagnostic ignored "-Wpsabi"  // vectors of 32 bytes are only passed inside this file
#endif

namespace catenary::cpu {
namespace CT_SIMD_NAMESPACE {
namespace {

// 16-bit floats as bits, converted without branches so that the loops vectorise. half.h has the same rules, but its
// functions belong to everybody.
struct Half {
  std::uint16_t bits;
};
struct Bfloat {
  std::uint16_t bits;
};
struct Bool {
  std::uint8_t byte;
};

inline float widen(Half h) {
  const std::uint32_t sign = static_cast<std::uint32_t>(h.bits & 0x8000u) << 16;
  const std::uint32_t magnitude = h.bits & 0x7fffu;
  const std::uint32_t special = magnitude >= 0x7c00u ? 0x38000000u : 0u;  // infinity and NaN: the exponent goes to 255
  const std::uint32_t normal = (magnitude << 13) + 0x38000000u + special;
  const std::uint32_t subnormal =
      std::bit_cast<std::uint32_t>(static_cast<float>(static_cast<std::int32_t>(magnitude)) * 5.9604644775390625e-8f);
  return std::bit_cast<float>(sign | (magnitude < 0x400u ? subnormal : normal));
}
inline float widen(Bfloat b) { return std::bit_cast<float>(static_cast<std::uint32_t>(b.bits) << 16); }

inline Half to_half(float f) {
  const std::uint32_t bits = std::bit_cast<std::uint32_t>(f);
  const std::uint32_t sign = (bits >> 16) & 0x8000u;
  const std::uint32_t magnitude = bits & 0x7fffffffu;
  const std::uint32_t small = std::bit_cast<std::uint32_t>(std::bit_cast<float>(magnitude) + 0.5f) - 0x3f000000u;
  const std::uint32_t normal = (magnitude + 0xfffu + ((magnitude >> 13) & 1u) - 0x38000000u) >> 13;
  std::uint32_t result = magnitude < 0x38800000u ? small : normal;
  result = magnitude >= 0x477ff000u ? 0x7c00u : result;
  result = magnitude > 0x7f800000u ? 0x7e00u : result;
  return {static_cast<std::uint16_t>(sign | result)};
}
inline Bfloat to_bfloat(float f) {
  const std::uint32_t bits = std::bit_cast<std::uint32_t>(f);
  const std::uint32_t rounded = (bits + 0x7fffu + ((bits >> 16) & 1u)) >> 16;
  const std::uint32_t quiet = (bits >> 16) | 0x40u;
  return {static_cast<std::uint16_t>((bits & 0x7fffffffu) > 0x7f800000u ? quiet : rounded)};
}

// Rounds to odd: a second rounding to a 16-bit float then gives what one rounding would have given.
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
  // Exact bounds: -2^(bits-1) and 2^(bits-1) are floats; the largest integer is not.
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
    return {static_cast<std::uint8_t>(x != R{0} ? 1 : 0)};
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
  }
}

// Few pairs instead of 169: a block goes to the register type of its dtype, and from there to the dtype of dst.
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
          block[j] = s[i + j].byte != 0;
        } else {
          block[j] = static_cast<R>(s[i + j]);
        }
      }
      store_as<R>(d + i * static_cast<std::int64_t>(itemsize(dtype)), dtype, block, m);
    }
  }
}

#if defined(__SSE2__)

using V8 = std::uint32_t __attribute__((vector_size(32)));

inline V8 load8(const std::uint32_t* p) {
  V8 v;
  std::memcpy(&v, p, sizeof v);
  return v;
}
template <bool Stream>
inline void store8(std::uint32_t* p, V8 v) {
  if constexpr (!Stream) {
    std::memcpy(p, &v, sizeof v);
  } else {
#  if defined(__AVX__)
    __m256i whole;
    std::memcpy(&whole, &v, sizeof v);
    _mm256_stream_si256(reinterpret_cast<__m256i*>(p), whole);
#  else
    __m128i half[2];
    std::memcpy(half, &v, sizeof v);
    _mm_stream_si128(reinterpret_cast<__m128i*>(p), half[0]);
    _mm_stream_si128(reinterpret_cast<__m128i*>(p) + 1, half[1]);
#  endif
  }
}

inline void transpose8(V8 (&v)[8]) {
  V8 t[8];
  for (int i = 0; i < 8; i += 2) {
    t[i] = __builtin_shufflevector(v[i], v[i + 1], 0, 8, 1, 9, 4, 12, 5, 13);
    t[i + 1] = __builtin_shufflevector(v[i], v[i + 1], 2, 10, 3, 11, 6, 14, 7, 15);
  }
  for (int i = 0; i < 8; i += 4)
    for (int j = 0; j < 2; ++j) {
      v[i + 2 * j] = __builtin_shufflevector(t[i + j], t[i + j + 2], 0, 1, 8, 9, 4, 5, 12, 13);
      v[i + 2 * j + 1] = __builtin_shufflevector(t[i + j], t[i + j + 2], 2, 3, 10, 11, 6, 7, 14, 15);
    }
  for (int i = 0; i < 4; ++i) {
    t[i] = __builtin_shufflevector(v[i], v[i + 4], 0, 1, 2, 3, 8, 9, 10, 11);
    t[i + 4] = __builtin_shufflevector(v[i], v[i + 4], 4, 5, 6, 7, 12, 13, 14, 15);
  }
  for (int i = 0; i < 8; ++i) v[i] = t[i];
}

// 16 rows by 8 columns become 8 whole cache lines.
template <bool Stream>
void transpose_16x8(std::uint32_t* dst, std::int64_t dst_stride, const std::uint32_t* src, std::int64_t src_stride) {
  V8 low[8], high[8];
  for (int i = 0; i < 8; ++i) low[i] = load8(src + i * src_stride);
  for (int i = 0; i < 8; ++i) high[i] = load8(src + (i + 8) * src_stride);
  transpose8(low);
  transpose8(high);
  for (int i = 0; i < 8; ++i) {
    store8<Stream>(dst + i * dst_stride, low[i]);
    store8<Stream>(dst + i * dst_stride + 8, high[i]);
  }
}

#endif

template <class W>
void transpose_plain(W* dst, std::int64_t dst_stride, const W* src, std::int64_t src_stride, std::int64_t rows,
                     std::int64_t columns) {
  for (std::int64_t c = 0; c < columns; ++c)
    for (std::int64_t r = 0; r < rows; ++r) dst[c * dst_stride + r] = src[r * src_stride + c];
}

// Tiles of one cache line of src by one of dst, through a buffer, so that lines are read and written whole.
template <class W>
void transpose_tiles(W* dst, std::int64_t dst_stride, const W* src, std::int64_t src_stride, std::int64_t rows,
                     std::int64_t columns) {
  constexpr std::int64_t kTile = sizeof(W) == 8 ? 8 : 16;
  std::int64_t r = 0;
  for (; r + kTile <= rows; r += kTile) {
    std::int64_t c = 0;
    for (; c + kTile <= columns; c += kTile) {
      W tile[kTile][kTile];
      for (std::int64_t i = 0; i < kTile; ++i) {
        const W* line = src + (r + i) * src_stride + c;
        for (std::int64_t j = 0; j < kTile; ++j) tile[j][i] = line[j];
      }
      for (std::int64_t j = 0; j < kTile; ++j) std::memcpy(dst + (c + j) * dst_stride + r, tile[j], sizeof tile[j]);
    }
    transpose_plain(dst + c * dst_stride + r, dst_stride, src + r * src_stride + c, src_stride, kTile, columns - c);
  }
  transpose_plain(dst + r, dst_stride, src + r * src_stride, src_stride, rows - r, columns);
}

template <bool Stream>
void transpose_u32(std::uint32_t* dst, std::int64_t dst_stride, const std::uint32_t* src, std::int64_t src_stride,
                   std::int64_t rows, std::int64_t columns) {
#if defined(__SSE2__)
  // Columns in panels: the lines of src that a panel half reads stay in L1 until the next tile wants the rest.
  constexpr std::int64_t kPanel = 64;
  const std::int64_t whole_rows = rows & ~std::int64_t{15}, whole_columns = columns & ~std::int64_t{7};
  for (std::int64_t p = 0; p < whole_columns; p += kPanel) {
    const std::int64_t end = std::min(p + kPanel, whole_columns);
    for (std::int64_t r = 0; r < whole_rows; r += 16)
      for (std::int64_t c = p; c < end; c += 8)
        transpose_16x8<Stream>(dst + c * dst_stride + r, dst_stride, src + r * src_stride + c, src_stride);
  }
  transpose_plain(dst + whole_columns * dst_stride, dst_stride, src + whole_columns, src_stride, whole_rows,
                  columns - whole_columns);
  transpose_plain(dst + whole_rows, dst_stride, src + whole_rows * src_stride, src_stride, rows - whole_rows, columns);
#else
  transpose_tiles(dst, dst_stride, src, src_stride, rows, columns);
#endif
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
  }
}

void transpose_words(void* dst, std::int64_t dst_stride, const void* src, std::int64_t src_stride, std::int64_t rows,
                     std::int64_t columns, std::size_t size, bool stream) {
  switch (size) {
    case 1:
      return transpose_tiles(static_cast<std::uint8_t*>(dst), dst_stride, static_cast<const std::uint8_t*>(src),
                             src_stride, rows, columns);
    case 2:
      return transpose_tiles(static_cast<std::uint16_t*>(dst), dst_stride, static_cast<const std::uint16_t*>(src),
                             src_stride, rows, columns);
    case 8:
      return transpose_tiles(static_cast<std::uint64_t*>(dst), dst_stride, static_cast<const std::uint64_t*>(src),
                             src_stride, rows, columns);
    default:
      break;
  }
  auto* d = static_cast<std::uint32_t*>(dst);
  const auto* s = static_cast<const std::uint32_t*>(src);
  // A streaming store needs its whole line, so every row of dst must begin on one.
  if (stream && reinterpret_cast<std::uintptr_t>(dst) % 64 == 0 && dst_stride % 16 == 0)
    return transpose_u32<true>(d, dst_stride, s, src_stride, rows, columns);
  transpose_u32<false>(d, dst_stride, s, src_stride, rows, columns);
}

}  // namespace CT_SIMD_NAMESPACE
}  // namespace catenary::cpu
