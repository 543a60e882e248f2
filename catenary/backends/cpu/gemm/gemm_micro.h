#pragma once
// Private to the *.simd.cpp files of the CPU's products and convolutions, each of which compiles it for a level:
// vectors, and the micro-kernel that keeps a tile of C in registers. gemm_elements.h packs its input. These files are
// compiled with -ffp-contract=fast (cmake/simd.cmake).

#include <algorithm>
#include <cstdint>
#include <utility>

#if defined(__x86_64__)
#  include <immintrin.h>
#endif

#include "catenary/backends/cpu/vector_bytes.h"
#include "catenary/core/cpu_features.h"

namespace catenary::cpu::CT_SIMD_NAMESPACE {
namespace {

using std::int64_t;

#if defined(__AVX512F__)
constexpr int kRows = 14, kBlockK = 512;
#elif defined(__AVX2__)
constexpr int kRows = 6, kBlockK = 512;
#elif defined(__x86_64__)
constexpr int kRows = 4, kBlockK = 256;
#else
constexpr int kRows = 12, kBlockK = 256;
#endif
constexpr int kVectors = 2;  // vectors in a row of the tile

template <class T>
struct Simd {
  static constexpr int lanes = kVectorBytes / sizeof(T);
  typedef T Vector __attribute__((vector_size(kVectorBytes)));
  typedef T Unaligned __attribute__((vector_size(kVectorBytes), aligned(alignof(T)), may_alias));
};
template <class T>
using Vector = typename Simd<T>::Vector;
template <class T>
constexpr int kLanes = Simd<T>::lanes;
template <class T>
constexpr int kColumns = kVectors* kLanes<T>;

#define CT_INLINE static inline __attribute__((always_inline))

template <class T>
CT_INLINE Vector<T> load(const T* p) {
  return *reinterpret_cast<const typename Simd<T>::Unaligned*>(p);
}
template <class T>
CT_INLINE void store(T* p, Vector<T> x) {
  *reinterpret_cast<typename Simd<T>::Unaligned*>(p) = x;
}
template <class T>
CT_INLINE Vector<T> splat(T x) {
  return x - Vector<T>{};
}

// Loads the first n lanes. The others are zero, and their memory is not accessed.
#if defined(__AVX512F__)
CT_INLINE Vector<float> load_some(const float* p, int n) { return _mm512_maskz_loadu_ps((1u << n) - 1, p); }
CT_INLINE Vector<double> load_some(const double* p, int n) { return _mm512_maskz_loadu_pd((1u << n) - 1, p); }
CT_INLINE void store_some(float* p, Vector<float> x, int n) { _mm512_mask_storeu_ps(p, (1u << n) - 1, x); }
CT_INLINE void store_some(double* p, Vector<double> x, int n) { _mm512_mask_storeu_pd(p, (1u << n) - 1, x); }
#elif defined(__AVX2__)
alignas(64) constexpr std::int32_t kMask[16] = {-1, -1, -1, -1, -1, -1, -1, -1};
CT_INLINE __m256i mask(int words) { return _mm256_loadu_si256(reinterpret_cast<const __m256i*>(kMask + 8 - words)); }
CT_INLINE Vector<float> load_some(const float* p, int n) { return _mm256_maskload_ps(p, mask(n)); }
CT_INLINE Vector<double> load_some(const double* p, int n) { return _mm256_maskload_pd(p, mask(2 * n)); }
// In halves, because masked stores are slow microcode on AMD's processors.
CT_INLINE void store_words(void* to, __m256i x, int words) {
  char* p = static_cast<char*>(to);
  if (words >= 8) return _mm256_storeu_si256(reinterpret_cast<__m256i_u*>(p), x);
  __m128i rest = _mm256_castsi256_si128(x);
  if (words & 4) {
    _mm_storeu_si128(reinterpret_cast<__m128i_u*>(p), rest);
    rest = _mm256_extracti128_si256(x, 1);
    p += 16;
  }
  if (words & 2) {
    _mm_storeu_si64(p, rest);
    rest = _mm_unpackhi_epi64(rest, rest);
    p += 8;
  }
  if (words & 1) _mm_storeu_si32(p, rest);
}
CT_INLINE void store_some(float* p, Vector<float> x, int n) { store_words(p, _mm256_castps_si256(x), n); }
CT_INLINE void store_some(double* p, Vector<double> x, int n) { store_words(p, _mm256_castpd_si256(x), 2 * n); }
#else
template <class T>
CT_INLINE Vector<T> load_some(const T* p, int n) {
  Vector<T> x{};
  for (int i = 0; i < kLanes<T>; ++i)
    if (i < n) x[i] = p[i];
  return x;
}
template <class T>
CT_INLINE void store_some(T* p, Vector<T> x, int n) {
  for (int i = 0; i < kLanes<T>; ++i)
    if (i < n) p[i] = x[i];
}
#endif

// Loads lanes [begin, end) of a vector. The others are zero, and their memory is not accessed.
#if defined(__AVX512F__)
template <class T>
struct Mask {
  std::uint32_t bits = 0;
  Mask() = default;
  Mask(int begin, int end) : bits((1u << end) - (1u << begin)) {}
};
CT_INLINE Vector<float> load_masked(const float* p, Mask<float> m) { return _mm512_maskz_loadu_ps(m.bits, p); }
CT_INLINE Vector<double> load_masked(const double* p, Mask<double> m) { return _mm512_maskz_loadu_pd(m.bits, p); }
#elif defined(__AVX2__)
template <class T>
struct Mask {
  __m256i words = {};
  Mask() = default;
  Mask(int begin, int end) {
    constexpr int n = sizeof(T) / 4;
    words = _mm256_andnot_si256(mask(begin * n), mask(end * n));
  }
};
CT_INLINE Vector<float> load_masked(const float* p, Mask<float> m) { return _mm256_maskload_ps(p, m.words); }
CT_INLINE Vector<double> load_masked(const double* p, Mask<double> m) { return _mm256_maskload_pd(p, m.words); }
#else
template <class T>
struct Mask {
  int begin = 0, end = 0;
};
template <class T>
CT_INLINE Vector<T> load_masked(const T* p, Mask<T> m) {
  Vector<T> x{};
  for (int i = 0; i < kLanes<T>; ++i)
    if (i >= m.begin && i < m.end) x[i] = p[i];
  return x;
}
#endif

// One call of the micro-kernel: a tile of C with unit column stride and `n` valid columns.
template <class T>
struct Tile {
  int64_t k;
  const T* a;
  int64_t a_rs, a_cs;
  const T* b;
  int64_t b_rs;
  T* c;
  int64_t c_rs;
  int n;
  const T* bias_n;
  const T* bias_m;
  bool accumulate;
  bool relu = false;  // last of all
};

#if defined(__clang__)
#  pragma clang diagnostic ignored "-Wpass-failed"  // loops are not unrolled without optimisation
#  define CT_UNROLL _Pragma("unroll")
#else
#  define CT_UNROLL _Pragma("GCC unroll 16")
#endif

// kPacked: a_rs = 1, a_cs = kRows, b_rs = kColumns and full vectors, as compile-time constants. Otherwise the last
// vector of B may be partial.
template <class T, int kM, int kV, bool kPacked>
static void kernel(const Tile<T>& t) {
  using V = Vector<T>;
  constexpr int L = kLanes<T>;
  const int tail = t.n - (kV - 1) * L;
  const int64_t a_rs = kPacked ? 1 : t.a_rs, a_cs = kPacked ? kRows : t.a_cs;
  const int64_t b_rs = kPacked ? kColumns<T> : t.b_rs;
  const T* a = t.a;
  const T* b = t.b;
  V acc[kM][kV] = {};
  CT_UNROLL for (int i = 0; i < kM; ++i) {
    __builtin_prefetch(t.c + i * t.c_rs);
    if (kV > 1) __builtin_prefetch(t.c + i * t.c_rs + L);
  }
  auto step = [&](const T* ap, const T* bp, bool whole) __attribute__((always_inline)) {
    V row[kV];
    CT_UNROLL for (int v = 0; v < kV; ++v) __builtin_prefetch(bp + 8 * b_rs + v * L);
    CT_UNROLL for (int v = 0; v < kV; ++v) row[v] =
        whole || v < kV - 1 ? load(bp + v * L) : load_some(bp + v * L, tail);
    CT_UNROLL for (int i = 0; i < kM; ++i) {
      const V x = splat(ap[i * a_rs]);
      CT_UNROLL for (int v = 0; v < kV; ++v) acc[i][v] += x * row[v];
    }
  };
  if (kPacked || tail == L) {
    for (int64_t p = 0; p < t.k; ++p, a += a_cs, b += b_rs) step(a, b, true);
  } else {
    for (int64_t p = 0; p < t.k; ++p, a += a_cs, b += b_rs) step(a, b, false);
  }
  auto update = [&](auto&& value) __attribute__((always_inline)) {
    CT_UNROLL for (int i = 0; i < kM; ++i) { CT_UNROLL for (int v = 0; v < kV; ++v) acc[i][v] += value(i, v); }
  };
  auto some = [&](const T* p, int v) __attribute__((always_inline)) {
    return v < kV - 1 || tail == L ? load(p + v * L) : load_some(p + v * L, tail);
  };
  if (t.accumulate) update([&](int i, int v) __attribute__((always_inline)) { return some(t.c + i * t.c_rs, v); });
  if (t.bias_n) update([&](int, int v) __attribute__((always_inline)) { return some(t.bias_n, v); });
  if (t.bias_m) update([&](int i, int) __attribute__((always_inline)) { return splat(t.bias_m[i]); });
  if (t.relu) {
    CT_UNROLL for (int i = 0; i < kM; ++i) {
      CT_UNROLL for (int v = 0; v < kV; ++v) acc[i][v] = acc[i][v] < V{} ? V{} : acc[i][v];
    }
  }
  if (tail == L) {
    CT_UNROLL for (int i = 0; i < kM; ++i) {
      CT_UNROLL for (int v = 0; v < kV; ++v) store(t.c + i * t.c_rs + v * L, acc[i][v]);
    }
  } else {
    CT_UNROLL for (int i = 0; i < kM; ++i) {
      CT_UNROLL for (int v = 0; v < kV - 1; ++v) store(t.c + i * t.c_rs + v * L, acc[i][v]);
      store_some(t.c + i * t.c_rs + (kV - 1) * L, acc[i][kV - 1], tail);
    }
  }
}

template <class T>
using Kernel = void (*)(const Tile<T>&);
template <class T>
struct Kernels {
  Kernel<T> of[kRows][kVectors];
};
template <class T, bool kPacked, std::size_t... kM>
constexpr Kernels<T> make_kernels(std::index_sequence<kM...>) {
  return {{{kernel<T, kM + 1, 1, kPacked>, kernel<T, kM + 1, 2, kPacked>}...}};
}
template <class T, bool kPacked>
constexpr Kernels<T> kKernels = make_kernels<T, kPacked>(std::make_index_sequence<kRows>());

// ---- transposing ----

// Vectors as 16-byte lanes of kQuad elements, which instruction sets shuffle cheaply.
template <class T>
constexpr int kQuad = 16 / sizeof(T);

// Lane l is the 16 bytes at lines[kQuad * l] + offset.
#if defined(__AVX512F__)
CT_INLINE Vector<float> load_lanes(const float* const* lines, int64_t offset) {
  const auto lane = [&](int l) __attribute__((always_inline)) { return _mm_loadu_ps(lines[4 * l] + offset); };
  __m512 x = _mm512_castps128_ps512(lane(0));
  x = _mm512_mask_broadcast_f32x4(x, 0x00f0, lane(1));
  x = _mm512_mask_broadcast_f32x4(x, 0x0f00, lane(2));
  return _mm512_mask_broadcast_f32x4(x, 0xf000, lane(3));
}
CT_INLINE Vector<double> load_lanes(const double* const* lines, int64_t offset) {
  const auto lane = [&](int l) __attribute__((always_inline)) { return _mm_loadu_pd(lines[2 * l] + offset); };
  __m512d x = _mm512_castpd128_pd512(lane(0));
  x = _mm512_mask_broadcast_f64x2(x, 0x0c, lane(1));
  x = _mm512_mask_broadcast_f64x2(x, 0x30, lane(2));
  return _mm512_mask_broadcast_f64x2(x, 0xc0, lane(3));
}
#elif defined(__AVX2__)
CT_INLINE Vector<float> load_lanes(const float* const* lines, int64_t offset) {
  return _mm256_loadu2_m128(lines[4] + offset, lines[0] + offset);
}
CT_INLINE Vector<double> load_lanes(const double* const* lines, int64_t offset) {
  return _mm256_loadu2_m128d(lines[2] + offset, lines[0] + offset);
}
#else
template <class T>
CT_INLINE Vector<T> load_lanes(const T* const* lines, int64_t offset) {
  return load(lines[0] + offset);
}
#endif

// Within each lane, element i is a[p] for p = pattern[i] < kQuad, otherwise b[p - kQuad].
template <class T, int p0, int p1, int p2, int p3, std::size_t... i>
CT_INLINE Vector<T> shuffle_lanes(Vector<T> a, Vector<T> b, std::index_sequence<i...>) {
  constexpr int pattern[4] = {p0, p1, p2, p3}, Q = kQuad<T>, L = sizeof...(i);
  return __builtin_shufflevector(a, b, (pattern[i % Q] % Q + static_cast<int>(i) / Q * Q + pattern[i % Q] / Q * L)...);
}

// out[r * stride + lane] = x[lane * ld + r] for r < lanes and lane < rows, 0 for the other lanes.
template <class T>
CT_INLINE void transpose_block(const T* x, int64_t ld, int rows, T* out, int64_t stride) {
  constexpr int L = kLanes<T>, Q = kQuad<T>;
  constexpr auto lanes = std::make_index_sequence<L>();
  static constexpr T kZeros[L] = {};
  const T* lines[L];
  CT_UNROLL for (int r = 0; r < L; ++r) lines[r] = r < rows ? x + r * ld : kZeros;
  CT_UNROLL for (int c = 0; c < L; c += Q) {
    Vector<T> u[Q];
    CT_UNROLL for (int q = 0; q < Q; ++q) u[q] = load_lanes(lines + q, c);
    if constexpr (Q == 4) {
      const Vector<T> low01 = shuffle_lanes<T, 0, 4, 1, 5>(u[0], u[1], lanes);
      const Vector<T> high01 = shuffle_lanes<T, 2, 6, 3, 7>(u[0], u[1], lanes);
      const Vector<T> low23 = shuffle_lanes<T, 0, 4, 1, 5>(u[2], u[3], lanes);
      const Vector<T> high23 = shuffle_lanes<T, 2, 6, 3, 7>(u[2], u[3], lanes);
      store(out + c * stride, shuffle_lanes<T, 0, 1, 4, 5>(low01, low23, lanes));
      store(out + (c + 1) * stride, shuffle_lanes<T, 2, 3, 6, 7>(low01, low23, lanes));
      store(out + (c + 2) * stride, shuffle_lanes<T, 0, 1, 4, 5>(high01, high23, lanes));
      store(out + (c + 3) * stride, shuffle_lanes<T, 2, 3, 6, 7>(high01, high23, lanes));
    } else {
      store(out + c * stride, shuffle_lanes<T, 0, 2, 0, 0>(u[0], u[1], lanes));
      store(out + (c + 1) * stride, shuffle_lanes<T, 1, 3, 0, 0>(u[0], u[1], lanes));
    }
  }
}

// ---- shared by the loops around the micro-kernel ----

constexpr int64_t ceil_div(int64_t a, int64_t b) { return (a + b - 1) / b; }

// Divides k into equal blocks of at most `most`. k = 0 gives one empty block, so that bias and zeros are written.
struct Depth {
  int64_t blocks, size;
  explicit Depth(int64_t k, int64_t most = kBlockK)
      : blocks(std::max<int64_t>(1, ceil_div(k, most))), size(ceil_div(k, blocks)) {}
};

// Returns whether rows at this distance, nearly a multiple of 4096 bytes, share the sets of the L1 cache.
template <class T>
bool collides(int64_t stride) {
  const int64_t offset = (stride * static_cast<int64_t>(sizeof(T))) & 4095;
  return offset < 64 || offset > 4096 - 64;
}

}  // namespace
}  // namespace catenary::cpu::CT_SIMD_NAMESPACE
