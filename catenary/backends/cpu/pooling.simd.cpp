// The loops of poolings, compiled once for each instruction set; see core/cpu_features.h.
#include "catenary/backends/cpu/pooling.h"

#include <algorithm>
#include <limits>
#include <type_traits>

#include "catenary/backends/cpu/gemm_micro.h"

namespace catenary::cpu {
namespace CT_SIMD_NAMESPACE {
namespace {

using std::int32_t;
using std::int64_t;

template <class T>
using Word = std::conditional_t<sizeof(T) == 4, int32_t, int64_t>;
template <class T>
struct WordVectors {
  typedef Word<T> Words __attribute__((vector_size(kVectorBytes)));
  typedef int32_t Places __attribute__((vector_size(kLanes<T> * 4), aligned(4), may_alias));
};
template <class T>
using Words = typename WordVectors<T>::Words;
template <class T>
using Places = typename WordVectors<T>::Places;

template <class T>
CT_INLINE Vector<T> even_lanes(Vector<T> a, Vector<T> b) {  // of a, and the odd ones of b
  if constexpr (kLanes<T> == 2) return __builtin_shufflevector(a, b, 0, 3);
  if constexpr (kLanes<T> == 4) return __builtin_shufflevector(a, b, 0, 2, 5, 7);
  if constexpr (kLanes<T> == 8) return __builtin_shufflevector(a, b, 0, 2, 4, 6, 9, 11, 13, 15);
  if constexpr (kLanes<T> == 16)
    return __builtin_shufflevector(a, b, 0, 2, 4, 6, 8, 10, 12, 14, 17, 19, 21, 23, 25, 27, 29, 31);
}

/// a0 b0 a1 b1 …, in two vectors.
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

/// How a run's elements lie: side by side, every second one of `in`, or any way.
enum class Lie { beside, second, any };

/// A vector of `in`'s elements; the first n lanes of it where it is not a whole one.
template <class T, Lie lie, bool whole>
CT_INLINE Vector<T> load_lanes(const T* p, int64_t step, int64_t n) {
  constexpr int L = kLanes<T>;
  if constexpr (lie == Lie::beside) return whole ? load(p) : load_some(p, static_cast<int>(n));
  if constexpr (lie == Lie::second) {  // nothing is read behind the last element
    if (whole) return even_lanes<T>(load(p), load(p + L - 1));
    return even_lanes<T>(load_some(p, static_cast<int>(std::min<int64_t>(L, 2 * n - 1))),
                         load_some(p + L - 1, static_cast<int>(std::max<int64_t>(0, 2 * n - L))));
  }
  alignas(64) T values[L] = {};
  for (int64_t j = 0; j < (whole ? L : n); ++j) values[j] = p[j * step];
  return *reinterpret_cast<const Vector<T>*>(values);
}
template <class T, bool whole>
CT_INLINE void store_lanes(T* p, int64_t step, Vector<T> x, int64_t n, bool accumulate) {
  if (step == 1) {
    if (whole) return store(p, accumulate ? load(p) + x : x);
    return store_some(p, accumulate ? load_some(p, static_cast<int>(n)) + x : x, static_cast<int>(n));
  }
  for (int64_t j = 0; j < (whole ? kLanes<T> : n); ++j) p[j * step] = accumulate ? p[j * step] + x[j] : x[j];
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

/// What `count` taps make of a vector of elements; at: the places of maxima.
template <class T, PoolLoop loop, Lie lie, bool whole>
CT_INLINE Vector<T> made_of(const PoolRun& r, const PoolTap* tap, int64_t count, const T* in, const int32_t* places,
                            int64_t n, Words<T>& at) {
  constexpr bool is_max = loop == PoolLoop::max;
  Vector<T> result = Vector<T>{} + (is_max ? -std::numeric_limits<T>::infinity() : T(0));
  for (const PoolTap* end = tap + count; tap != end; ++tap) {
    const Vector<T> x = load_lanes<T, lie, whole>(in + tap->in, r.from.lane, n);
    const Words<T> number = Words<T>{} + static_cast<Word<T>>(tap->number);
    if constexpr (is_max) {
      // Not "larger": a NaN is better than a number, and nothing is better than a NaN. The sign of a mask is enough.
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

template <class T, PoolLoop loop, Lie lie, bool whole>
CT_INLINE void block(const PoolRun& r, const T* in, T* out, int32_t* places, int64_t n) {
  Words<T> at{};
  if (loop == PoolLoop::pick) at = load_places<T, whole>(places, r.place.lane, n);
  Vector<T> x = made_of<T, loop, lie, whole>(r, r.taps, r.count, in, places, n, at);
  if (r.second_count < 0) {
    if (loop == PoolLoop::max && places) store_places<T, whole>(places, r.place.lane, at, n);
    return store_lanes<T, whole>(out, r.to.lane, x, n, r.accumulate);
  }
  Vector<T> y = made_of<T, loop, lie, whole>(r, r.taps + r.count, r.second_count, in, places, n, at);
  interleave<T>(x, y);
  const int64_t first = std::min<int64_t>(kLanes<T>, 2 * n);
  store_lanes<T, whole>(out, 1, x, first, r.accumulate);
  store_lanes<T, whole>(out + first, 1, y, 2 * n - first, r.accumulate);
}

template <class T, PoolLoop loop, Lie lie>
CT_INLINE void line(const PoolRun& r, const T* in, T* out, int32_t* places) {
  constexpr int L = kLanes<T>;
  const bool overlap = r.lanes > L && !r.accumulate;  // the last vector may compute once more what the one before did
  for (int64_t lane = 0; lane < r.lanes; lane += L) {
    const bool last = lane + L > r.lanes;
    const int64_t i = last && overlap ? r.lanes - L : lane;
    int32_t* place = places ? places + i * r.place.lane : nullptr;
    if (last && !overlap) {
      block<T, loop, lie, false>(r, in + i * r.from.lane, out + i * r.to.lane, place, r.lanes - lane);
    } else {
      block<T, loop, lie, true>(r, in + i * r.from.lane, out + i * r.to.lane, place, L);
    }
  }
}

// By value: what is written might be the run itself, for all that the compiler knows.
template <class T, PoolLoop loop, Lie lie>
void run_as(PoolRun r) {
  for (int64_t plane = 0; plane < r.planes; ++plane)
    for (int64_t repeat = 0; repeat < r.repeats; ++repeat) {
      const auto at = [&](const PoolRun::Distances& d) { return plane * d.plane + repeat * d.repeat; };
      line<T, loop, lie>(r, static_cast<const T*>(r.in) + at(r.from), static_cast<T*>(r.out) + at(r.to),
                         r.places ? r.places + at(r.place) : nullptr);
    }
}

template <class T, PoolLoop loop>
void run_as(const PoolRun& r) {
  if (r.from.lane == 1) return run_as<T, loop, Lie::beside>(r);
  if (r.from.lane == 2) return run_as<T, loop, Lie::second>(r);
  return run_as<T, loop, Lie::any>(r);
}

template <class T>
void run_as(PoolLoop loop, const PoolRun& r) {
  switch (loop) {
    case PoolLoop::max:
      return run_as<T, PoolLoop::max>(r);
    case PoolLoop::sum:
      return run_as<T, PoolLoop::sum>(r);
    case PoolLoop::sum_of_shares:
      return run_as<T, PoolLoop::sum_of_shares>(r);
    case PoolLoop::placed:
      return run_as<T, PoolLoop::placed>(r);
    case PoolLoop::pick:
      return run_as<T, PoolLoop::pick>(r);
  }
}

}  // namespace

void pool_run(bool f64, PoolLoop loop, const PoolRun& run) {
  return f64 ? run_as<double>(loop, run) : run_as<float>(loop, run);
}

}  // namespace CT_SIMD_NAMESPACE
}  // namespace catenary::cpu
