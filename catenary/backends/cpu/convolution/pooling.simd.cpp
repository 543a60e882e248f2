// The loops of poolings, compiled for each instruction set (see core/cpu_features.h).
#include "catenary/backends/cpu/convolution/pooling.h"

#include <algorithm>
#include <cstring>
#include <limits>
#include <type_traits>

#include "catenary/backends/cpu/gemm/gemm_elements.h"

namespace catenary::cpu {
namespace CT_SIMD_NAMESPACE {
namespace {

using std::int32_t;
using std::int64_t;

// Elements of type E in memory are computed in type T, which is float for 16-bit floats.
template <class E>
using ComputedIn = std::conditional_t<sizeof(E) == 2, float, E>;

template <class T>
using Word = std::conditional_t<sizeof(T) == 4, int32_t, int64_t>;
template <class T>
struct WordVectors {
  typedef Word<T> Words __attribute__((vector_size(kVectorBytes)));
  typedef int32_t Places __attribute__((vector_size(kLanes<T> * 4), aligned(4), may_alias));
};
typedef std::uint16_t Halves __attribute__((vector_size(kLanes<float> * 2)));
template <class T>
using Words = typename WordVectors<T>::Words;
template <class T>
using Places = typename WordVectors<T>::Places;

template <class T>
CT_INLINE Vector<T> even_lanes(Vector<T> a, Vector<T> b) {  // even lanes of a, odd lanes of b
  if constexpr (kLanes<T> == 2) return __builtin_shufflevector(a, b, 0, 3);
  if constexpr (kLanes<T> == 4) return __builtin_shufflevector(a, b, 0, 2, 5, 7);
  if constexpr (kLanes<T> == 8) return __builtin_shufflevector(a, b, 0, 2, 4, 6, 9, 11, 13, 15);
  if constexpr (kLanes<T> == 16)
    return __builtin_shufflevector(a, b, 0, 2, 4, 6, 8, 10, 12, 14, 17, 19, 21, 23, 25, 27, 29, 31);
}

/// Interleaves two vectors: a0 b0 a1 b1 …
template <class T>
CT_INLINE void interleave(Vector<T>& a, Vector<T>& b) {
  const Vector<T> x = a, y = b;
  if constexpr (kLanes<T> == 2) {
    a = __builtin_shufflevector(x, y, 0, 2);
    b = __builtin_shufflevector(x, y, 1, 3);
  }
  if constexpr (kLanes<T> == 4) {
    a = __builtin_shufflevector(x, y, 0, 4, 1, 5);
    b = __builtin_shufflevector(x, y, 2, 6, 3, 7);
  }
  if constexpr (kLanes<T> == 8) {
    a = __builtin_shufflevector(x, y, 0, 8, 1, 9, 2, 10, 3, 11);
    b = __builtin_shufflevector(x, y, 4, 12, 5, 13, 6, 14, 7, 15);
  }
  if constexpr (kLanes<T> == 16) {
    a = __builtin_shufflevector(x, y, 0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23);
    b = __builtin_shufflevector(x, y, 8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13, 29, 14, 30, 15, 31);
  }
}

// Returns the bits of 16-bit floats, rounded to even.
CT_INLINE Halves rounded(Vector<float> x, bfloat16) {
  typedef std::uint32_t Bits __attribute__((vector_size(kVectorBytes)));
  const auto bits = reinterpret_cast<Bits>(x);
  const Bits even = bits + 0x7fff + ((bits >> 16) & 1), nan = bits | 0x400000;
  return __builtin_convertvector((x != x ? nan : even) >> 16, Halves);
}
CT_INLINE Halves rounded(Vector<float> x, float16) {
#if defined(__AVX512F__)
  return reinterpret_cast<Halves>(_mm512_cvtps_ph(x, _MM_FROUND_TO_NEAREST_INT));
#elif defined(__F16C__)
  return reinterpret_cast<Halves>(_mm256_cvtps_ph(x, _MM_FROUND_TO_NEAREST_INT));
#else
  Halves h;
  for (int j = 0; j < kLanes<float>; ++j) h[j] = detail::float_to_half(x[j]);
  return h;
#endif
}
// Stores the first n lanes.
template <class E, class T = ComputedIn<E>>
CT_INLINE void store_first(E* p, Vector<T> x, int64_t n) {
  if constexpr (sizeof(E) == 2) {
    const Halves h = rounded(x, E{});
    std::memcpy(static_cast<void*>(p), &h, static_cast<std::size_t>(n) * sizeof(E));
  } else {
    n == kLanes<T> ? store(p, x) : store_some(p, x, static_cast<int>(n));
  }
}

/// Spacing of a run's elements: contiguous, every second element of `in`, or any.
enum class Lie { beside, second, any };

/// Loads a vector of elements of `in`, or its first n lanes if it is partial.
template <class E, Lie lie, bool whole, class T = ComputedIn<E>>
CT_INLINE Vector<T> load_lanes(const E* p, int64_t step, int64_t n) {
  constexpr int L = kLanes<T>;
  if constexpr (lie == Lie::beside) return whole ? load_wide(p) : load_wide_some(p, static_cast<int>(n));
  if constexpr (lie == Lie::second) {  // nothing is read past the last element
    if (whole) return even_lanes<T>(load_wide(p), load_wide(p + L - 1));
    return even_lanes<T>(load_wide_some(p, static_cast<int>(std::min<int64_t>(L, 2 * n - 1))),
                         load_wide_some(p + L - 1, static_cast<int>(std::max<int64_t>(0, 2 * n - L))));
  }
  alignas(64) T values[L] = {};
  for (int64_t j = 0; j < (whole ? L : n); ++j) values[j] = widened(p[j * step]);
  return *reinterpret_cast<const Vector<T>*>(values);
}
template <class E, bool whole, class T = ComputedIn<E>>
CT_INLINE void store_lanes(E* p, int64_t step, Vector<T> x, int64_t n, bool accumulate) {
  if (step == 1) {
    if (accumulate) x += whole ? load_wide(p) : load_wide_some(p, static_cast<int>(n));
    return store_first(p, x, whole ? kLanes<T> : n);
  }
  for (int64_t j = 0; j < (whole ? kLanes<T> : n); ++j)
    p[j * step] = static_cast<E>(accumulate ? widened(p[j * step]) + x[j] : x[j]);
}
template <class T, bool whole>
CT_INLINE Words<T> load_places(const int32_t* p, int64_t step, int64_t n) {
  if (whole && step == 1) return __builtin_convertvector(*reinterpret_cast<const Places<T>*>(p), Words<T>);
  alignas(64) Word<T> values[kLanes<T>] = {};
  for (int64_t j = 0; j < (whole ? kLanes<T> : n); ++j) values[j] = p[j * step];
  return *reinterpret_cast<const Words<T>*>(values);
}
template <class T, bool whole>
CT_INLINE void store_places(int32_t* p, int64_t step, Words<T> x, int64_t n) {
  if (whole && step == 1) {
    *reinterpret_cast<Places<T>*>(p) = __builtin_convertvector(x, Places<T>);
    return;
  }
  for (int64_t j = 0; j < (whole ? kLanes<T> : n); ++j) p[j * step] = static_cast<int32_t>(x[j]);
}

/// Combines `count` taps of a vector of elements. at: the positions of maxima.
template <class E, PoolLoop loop, Lie lie, bool whole, class T = ComputedIn<E>>
CT_INLINE Vector<T> made_of(const PoolRun& r, const PoolTap* tap, int64_t count, const E* in, const int32_t* places,
                            int64_t n, Words<T>& at) {
  constexpr bool is_max = loop == PoolLoop::max;
  Vector<T> result = Vector<T>{} + (is_max ? -std::numeric_limits<T>::infinity() : T(0));
  for (const PoolTap* end = tap + count; tap != end; ++tap) {
    const Vector<T> x = load_lanes<E, lie, whole>(in + tap->in, r.from.lane, n);
    const Words<T> number = Words<T>{} + static_cast<Word<T>>(tap->number);
    if constexpr (is_max) {
      // Not "larger": NaN beats any number, and nothing beats NaN. The sign of a mask is enough.
      const Words<T> stays = (x <= result) | (result != result);
      result = stays < 0 ? result : x;
      at = stays < 0 ? at : number;
    } else if constexpr (loop == PoolLoop::sum) {
      result += x;
    } else if constexpr (loop == PoolLoop::sum_of_shares) {
      result += x / static_cast<T>(tap->divisor);
    } else if constexpr (loop == PoolLoop::placed) {
      const Words<T> place = load_places<T, whole>(places + tap->places, r.place.lane, n);
      result += place == number ? x : Vector<T>{};
    } else {
      result = at == number ? x : result;
    }
  }
  return loop == PoolLoop::sum ? result / static_cast<T>(r.divisor) : result;
}

template <class E, PoolLoop loop, Lie lie, bool whole>
CT_INLINE void block(const PoolRun& r, const E* in, E* out, int32_t* places, int64_t n) {
  using T = ComputedIn<E>;
  Words<T> at{};
  if (loop == PoolLoop::pick) at = load_places<T, whole>(places, r.place.lane, n);
  Vector<T> x = made_of<E, loop, lie, whole>(r, r.taps, r.count, in, places, n, at);
  if (r.second_count < 0) {
    if (loop == PoolLoop::max && places) store_places<T, whole>(places, r.place.lane, at, n);
    return store_lanes<E, whole>(out, r.to.lane, x, n, r.accumulate);
  }
  Vector<T> y = made_of<E, loop, lie, whole>(r, r.taps + r.count, r.second_count, in, places, n, at);
  interleave<T>(x, y);
  const int64_t first = std::min<int64_t>(kLanes<T>, 2 * n);
  store_lanes<E, whole>(out, 1, x, first, r.accumulate);
  store_lanes<E, whole>(out + first, 1, y, 2 * n - first, r.accumulate);
}

template <class E, PoolLoop loop, Lie lie>
CT_INLINE void line(const PoolRun& r, const E* in, E* out, int32_t* places) {
  constexpr int L = kLanes<ComputedIn<E>>;
  const bool overlap = r.lanes > L && !r.accumulate;  // the last vector may recompute elements of the previous one
  for (int64_t lane = 0; lane < r.lanes; lane += L) {
    const bool last = lane + L > r.lanes;
    const int64_t i = last && overlap ? r.lanes - L : lane;
    int32_t* place = places ? places + i * r.place.lane : nullptr;
    if (last && !overlap) {
      block<E, loop, lie, false>(r, in + i * r.from.lane, out + i * r.to.lane, place, r.lanes - lane);
    } else {
      block<E, loop, lie, true>(r, in + i * r.from.lane, out + i * r.to.lane, place, L);
    }
  }
}

// Takes the run by value, since the compiler must assume that stores could change a reference.
template <class E, PoolLoop loop, Lie lie>
void run_as(PoolRun r) {
  for (int64_t plane = 0; plane < r.planes; ++plane)
    for (int64_t repeat = 0; repeat < r.repeats; ++repeat) {
      const auto at = [&](const PoolRun::Distances& d) { return plane * d.plane + repeat * d.repeat; };
      line<E, loop, lie>(r, static_cast<const E*>(r.in) + at(r.from), static_cast<E*>(r.out) + at(r.to),
                         r.places ? r.places + at(r.place) : nullptr);
    }
}

template <class E, PoolLoop loop>
void run_as(const PoolRun& r) {
  if (r.from.lane == 1) return run_as<E, loop, Lie::beside>(r);
  if (r.from.lane == 2) return run_as<E, loop, Lie::second>(r);
  return run_as<E, loop, Lie::any>(r);
}

template <class E>
void run_as(PoolLoop loop, const PoolRun& r) {
  switch (loop) {
    case PoolLoop::max:
      return run_as<E, PoolLoop::max>(r);
    case PoolLoop::sum:
      return run_as<E, PoolLoop::sum>(r);
    case PoolLoop::sum_of_shares:
      return run_as<E, PoolLoop::sum_of_shares>(r);
    case PoolLoop::placed:
      return run_as<E, PoolLoop::placed>(r);
    case PoolLoop::pick:
      return run_as<E, PoolLoop::pick>(r);
  }
}

}  // namespace

void pool_run(Dtype dtype, PoolLoop loop, const PoolRun& run) {
  switch (dtype) {
    case Dtype::float16:
      return run_as<float16>(loop, run);
    case Dtype::bfloat16:
      return run_as<bfloat16>(loop, run);
    case Dtype::float64:
      return run_as<double>(loop, run);
    default:
      return run_as<float>(loop, run);
  }
}

}  // namespace CT_SIMD_NAMESPACE
}  // namespace catenary::cpu
