#pragma once
// Private to the *.simd.cpp files of products with quantised weights: the decoder of each kind. The formulas are those
// of kernels/quantized.kernel.

#include <cstring>

#include "catenary/backends/cpu/quantized/quantized_blocks.h"

namespace catenary::cpu::CT_SIMD_NAMESPACE {
namespace {

using std::int8_t;

// Loads and stores as many bytes at once as a register of integers holds. Loops would be compiled to single bytes, and
// a load that spans two stores waits for both.
#if defined(__AVX2__)
constexpr int kAtOnce = 32;
#else
constexpr int kAtOnce = 16;
#endif
typedef uint8_t Bytes __attribute__((vector_size(kAtOnce)));
CT_INLINE Bytes bytes_at(const uint8_t* p) {
  Bytes x;
  std::memcpy(&x, p, sizeof(x));
  return x;
}
CT_INLINE void put(int8_t* to, Bytes x) { std::memcpy(to, &x, sizeof(x)); }

// Looks up the lower halves of 16 bytes, then the upper halves.
CT_INLINE void look_up(const int8_t (&table)[16], const uint8_t* packed, int8_t* to) {
#if defined(__AVX2__)
  const __m128i both = _mm_loadu_si128(reinterpret_cast<const __m128i_u*>(packed));
  const __m256i indices = _mm256_and_si256(_mm256_set_m128i(_mm_srli_epi16(both, 4), both), _mm256_set1_epi8(15));
  const __m256i entries = _mm256_broadcastsi128_si256(_mm_loadu_si128(reinterpret_cast<const __m128i_u*>(table)));
  _mm256_storeu_si256(reinterpret_cast<__m256i_u*>(to), _mm256_shuffle_epi8(entries, indices));
#else
  for (int i = 0; i < 16; ++i) {
    to[i] = table[packed[i] & 15];
    to[16 + i] = table[packed[i] >> 4];
  }
#endif
}

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
#endif
// For double, and for float without AVX2.
template <class T>
CT_INLINE Vector<T> signed_bytes(const void* p, T) {
  Vector<T> x;
  for (int i = 0; i < kLanes<T>; ++i) x[i] = static_cast<T>(static_cast<const int8_t*>(p)[i]);
  return x;
}
template <bool upper, int less, class T>
CT_INLINE Vector<T> half_bytes(const uint8_t* p, T) {
  Vector<T> x;
  for (int i = 0; i < kLanes<T>; ++i) x[i] = static_cast<T>((upper ? p[i] >> 4 : p[i] & 15) - less);
  return x;
}

// The scales of a block, one for each `group` of its weights, and with has_minima the minimum to subtract for each.
struct Scales {
  float of[16], minima[16];
};

// A kind's row in core/quantizations.def, and the properties that few kinds have.
template <Quantization kind>
struct Layout {
  static constexpr int elements = static_cast<int>(quantization_info(kind).elements),
                       bytes = static_cast<int>(quantization_info(kind).bytes),
                       head = static_cast<int>(quantization_info(kind).head);
  static constexpr bool has_minima = false;  // a weight is scale * number - minimum
  static constexpr bool has_zero = false;    // a weight is scale * (number - zero), of the row's head
};
// For kinds that unpack all numbers of a block to `room`. They lie in groups there.
template <Quantization kind, int size_of_group>
struct Unpacked : Layout<kind> {
  static constexpr int group = size_of_group;
  template <class T>
  CT_INLINE Vector<T> vector(const uint8_t*, const int8_t* room, int index, int p) {
    return signed_bytes(room + group * index + p, T());
  }
};

// Decodes a kind's blocks: open() reads the scales and unpacks to `room` the weights that vector() cannot read in
// place. vector() returns the weights from position p of a group on. Products of bytes without a form of their own
// (quantized_bytes.simd.cpp) use the room of Unpacked kinds.
template <Quantization kind>
struct Decoder;

template <>
struct Decoder<Quantization::q8_0> : Layout<Quantization::q8_0> {
  static constexpr int group = 32;
  CT_INLINE void open(const uint8_t* block, int8_t*, Scales& scales) { scales.of[0] = half_at(block); }
  template <class T>
  CT_INLINE Vector<T> vector(const uint8_t* block, const int8_t*, int, int p) {
    return signed_bytes(block + 2 + p, T());
  }
};

template <>
struct Decoder<Quantization::q4_0> : Layout<Quantization::q4_0> {
  static constexpr int group = 32;
  CT_INLINE void open(const uint8_t* block, int8_t*, Scales& scales) { scales.of[0] = half_at(block); }
  template <class T>
  CT_INLINE Vector<T> vector(const uint8_t* block, const int8_t*, int, int p) {
    return p < 16 ? half_bytes<false, 8>(block + 2 + p, T()) : half_bytes<true, 8>(block + 2 + p - 16, T());
  }
};

// Eight scales and minima of 6 bits in 12 bytes, as Q4_K and Q5_K have them after two float16.
CT_INLINE void open_six_bits(const uint8_t* block, Scales& scales) {
  const uint8_t* packed = block + 4;
  const float d = half_at(block), dmin = half_at(block + 2);
  for (int j = 0; j < 4; ++j) {
    scales.of[j] = d * static_cast<float>(packed[j] & 63);
    scales.minima[j] = dmin * static_cast<float>(packed[j + 4] & 63);
    scales.of[j + 4] = d * static_cast<float>((packed[j + 8] & 15) | packed[j] >> 6 << 4);
    scales.minima[j + 4] = dmin * static_cast<float>(packed[j + 8] >> 4 | packed[j + 4] >> 6 << 4);
  }
}

template <>
struct Decoder<Quantization::q4_k> : Layout<Quantization::q4_k> {
  static constexpr int group = 32;
  static constexpr bool has_minima = true;
  CT_INLINE void open(const uint8_t* block, int8_t*, Scales& scales) { open_six_bits(block, scales); }
  template <class T>
  CT_INLINE Vector<T> vector(const uint8_t* block, const int8_t*, int group, int p) {
    const uint8_t* from = block + 16 + group / 2 * 32 + p;
    return group % 2 ? half_bytes<true, 0>(from, T()) : half_bytes<false, 0>(from, T());
  }
};

template <>
struct Decoder<Quantization::q6_k> : Unpacked<Quantization::q6_k, 16> {
  CT_INLINE void open(const uint8_t* block, int8_t* room, Scales& scales) {
    CT_UNROLL for (int h = 0; h < 2; ++h) {
      const uint8_t *low = block + 64 * h, *high = block + 128 + 32 * h;
      int8_t* to = room + 128 * h;
      CT_UNROLL for (int i = 0; i < 32; i += kAtOnce) {
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
};

template <>
struct Decoder<Quantization::q5_k> : Unpacked<Quantization::q5_k, 32> {
  static constexpr bool is_signed = false, has_minima = true;
  CT_INLINE void open(const uint8_t* block, int8_t* room, Scales& scales) {
    open_six_bits(block, scales);
    CT_UNROLL for (int i = 0; i < 32; i += kAtOnce) {
      const Bytes bits = bytes_at(block + 16 + i);
      CT_UNROLL for (int g = 0; g < 4; ++g) {
        const Bytes both = bytes_at(block + 48 + 32 * g + i);
        put(room + 64 * g + i, (both & 15) | (bits >> (2 * g) & 1) << 4);
        put(room + 64 * g + 32 + i, both >> 4 | (bits >> (2 * g + 1) & 1) << 4);
      }
    }
  }
};

template <>
struct Decoder<Quantization::q3_k> : Unpacked<Quantization::q3_k, 16> {
  static constexpr bool is_signed = true;
  CT_INLINE void open(const uint8_t* block, int8_t* room, Scales& scales) {
    CT_UNROLL for (int i = 0; i < 32; i += kAtOnce) {
      const Bytes bits = bytes_at(block + i);
      CT_UNROLL for (int h = 0; h < 2; ++h) {
        const Bytes low = bytes_at(block + 32 + 32 * h + i);
        CT_UNROLL for (int k = 0; k < 4; ++k)
            put(room + 128 * h + 32 * k + i, ((low >> (2 * k) & 3) | (bits >> (4 * h + k) & 1) << 2) - 4);
      }
    }
    const uint8_t* packed = block + 96;
    const float d = half_at(block + 108);
    for (int j = 0; j < 16; ++j) {
      const int low = j < 8 ? packed[j] & 15 : packed[j - 8] >> 4, high = packed[8 + j % 4] >> (j / 4 * 2) & 3;
      scales.of[j] = d * static_cast<float>((low | high << 4) - 32);
    }
  }
};

template <>
struct Decoder<Quantization::q2_k> : Unpacked<Quantization::q2_k, 16> {
  static constexpr bool is_signed = false, has_minima = true;
  CT_INLINE void open(const uint8_t* block, int8_t* room, Scales& scales) {
    CT_UNROLL for (int h = 0; h < 2; ++h) {
      CT_UNROLL for (int i = 0; i < 32; i += kAtOnce) {
        const Bytes four = bytes_at(block + 16 + 32 * h + i);
        CT_UNROLL for (int k = 0; k < 4; ++k) put(room + 128 * h + 32 * k + i, four >> (2 * k) & 3);
      }
    }
    const float d = half_at(block + 80), dmin = half_at(block + 82);
    for (int j = 0; j < 16; ++j) {
      scales.of[j] = d * static_cast<float>(block[j] & 15);
      scales.minima[j] = dmin * static_cast<float>(block[j] >> 4);
    }
  }
};

template <>
struct Decoder<Quantization::iq4_nl> : Unpacked<Quantization::iq4_nl, 32> {
  static constexpr bool is_signed = true;
  static constexpr int8_t table[16] = {-127, -104, -83, -65, -49, -35, -22, -10, 1, 13, 25, 38, 53, 69, 89, 113};
  CT_INLINE void open(const uint8_t* block, int8_t* room, Scales& scales) {
    look_up(table, block + 2, room);
    scales.of[0] = half_at(block);
  }
};

template <>
struct Decoder<Quantization::mxfp4> : Unpacked<Quantization::mxfp4, 32> {
  static constexpr bool is_signed = true;
  static constexpr int8_t table[16] = {0, 1, 2, 3, 4, 6, 8, 12, 0, -1, -2, -3, -4, -6, -8, -12};  // twice the floats
  CT_INLINE void open(const uint8_t* block, int8_t* room, Scales& scales) {
    look_up(table, block + 1, room);
    const std::uint32_t bits = block[0] < 2 ? 0x200000U << block[0] : (block[0] - 1U) << 23;  // half the power of 2
    std::memcpy(&scales.of[0], &bits, sizeof(float));
  }
};

template <>
struct Decoder<Quantization::int8> : Layout<Quantization::int8> {
  static constexpr int group = 32;
  static constexpr bool has_zero = true;
  CT_INLINE void open(const uint8_t*, int8_t*, Scales&) {}
  template <class T>
  CT_INLINE Vector<T> vector(const uint8_t* block, const int8_t*, int, int p) {
    return signed_bytes(block + p, T());
  }
};

}  // namespace
}  // namespace catenary::cpu::CT_SIMD_NAMESPACE
