// The loops of argmax and argmin, compiled for each instruction set (see core/cpu_features.h).
#include "catenary/backends/cpu/reduce/arg_reduce.h"

#include <limits>
#include <type_traits>

#include "catenary/core/loop_hints.h"

namespace catenary::cpu {
namespace CT_SIMD_NAMESPACE {
namespace {

template <class T, class I, bool largest>
void update(T* best, I* at, const T* x, I row, std::int64_t n) {
  CT_INDEPENDENT
  for (std::int64_t i = 0; i < n; ++i) {
    const T old = best[i], candidate = x[i];
    // Not "larger": NaN beats any number, and nothing beats NaN.
    const bool better = !(largest ? candidate <= old : candidate >= old) & (old == old);
    best[i] = better ? candidate : old;
    at[i] = better ? row : at[i];
  }
}

template <class T, class I>
void update(bool largest, void* best, void* at, const void* x, std::int64_t row, std::int64_t n) {
  const auto f = largest ? update<T, I, true> : update<T, I, false>;
  f(static_cast<T*>(best), static_cast<I*>(at), static_cast<const T*>(x), static_cast<I>(row), n);
}

// Compiles to one instruction, whose result for NaN depends on the order of operands. NaNs are detected separately.
template <class T, bool largest>
T better(T old, T candidate) {
  return (largest ? candidate > old : candidate < old) ? candidate : old;
}

// Lanes shorten the chain of comparisons. With equal values, any may be found here. A block stays in the L1 cache, so
// that NaNs are looked for first: both loops in one do not vectorise for 64 bits.
template <class T, bool largest>
void best_of(void* best, const void* values, std::int64_t n) {
  constexpr int kLanes = 128 / sizeof(T);
  using Mark = std::conditional_t<sizeof(T) == 4, std::int32_t, std::int64_t>;
  const T* x = static_cast<const T*>(values);
  Mark nan = 0;
  for (std::int64_t i = 0; i < n; ++i) nan |= x[i] != x[i];
  if (nan) {
    *static_cast<T*>(best) = std::numeric_limits<T>::quiet_NaN();
    return;
  }
  T lanes[kLanes];
  for (int j = 0; j < kLanes; ++j) lanes[j] = x[j < n ? j : 0];
  std::int64_t i = kLanes;
  for (; i + kLanes <= n; i += kLanes)
    for (int j = 0; j < kLanes; ++j) lanes[j] = better<T, largest>(lanes[j], x[i + j]);
  for (; i < n; ++i) lanes[0] = better<T, largest>(lanes[0], x[i]);
  for (int half = kLanes / 2; half > 0; half /= 2)
    for (int j = 0; j < half; ++j) lanes[j] = better<T, largest>(lanes[j], lanes[j + half]);
  *static_cast<T*>(best) = lanes[0];
}

// Returns the first group of kStep elements with a hit, or the start of an incomplete group.
template <class T, int kStep, class Hit>
std::int64_t skip(const T* x, std::int64_t from, std::int64_t n, Hit hit) {
  for (; from + kStep <= n; from += kStep) {
    int hits = 0;
    for (int j = 0; j < kStep; ++j) hits |= hit(x[from + j]);
    if (hits) break;
  }
  return from;
}

template <class T, class Hit>
std::int64_t first(const T* x, std::int64_t n, Hit hit) {
  std::int64_t i = skip<T, 32>(x, skip<T, 256>(x, 0, n, hit), n, hit);
  while (!hit(x[i])) ++i;
  return i;
}

template <class T>
std::int64_t find(const void* wanted, const void* values, std::int64_t n) {
  const T* x = static_cast<const T*>(values);
  const T value = *static_cast<const T*>(wanted);
  if (value != value) return first(x, n, [](T candidate) { return candidate != candidate; });
  return first(x, n, [value](T candidate) { return candidate == value; });
}

}  // namespace

void arg_best(ops::Reg reg, bool largest, void* best, const void* x, std::int64_t n) {
  switch (reg) {
    case ops::Reg::f32:
      return largest ? best_of<float, true>(best, x, n) : best_of<float, false>(best, x, n);
    case ops::Reg::f64:
      return largest ? best_of<double, true>(best, x, n) : best_of<double, false>(best, x, n);
    case ops::Reg::i64:
      return largest ? best_of<std::int64_t, true>(best, x, n) : best_of<std::int64_t, false>(best, x, n);
    case ops::Reg::u64:
      return largest ? best_of<std::uint64_t, true>(best, x, n) : best_of<std::uint64_t, false>(best, x, n);
    default:
      return largest ? best_of<std::int32_t, true>(best, x, n) : best_of<std::int32_t, false>(best, x, n);
  }
}

std::int64_t arg_find(ops::Reg reg, const void* best, const void* x, std::int64_t n) {
  switch (reg) {
    case ops::Reg::f32:
      return find<float>(best, x, n);
    case ops::Reg::f64:
      return find<double>(best, x, n);
    case ops::Reg::i64:
    case ops::Reg::u64:
      return find<std::int64_t>(best, x, n);
    default:
      return find<std::int32_t>(best, x, n);
  }
}

void arg_columns(ops::Reg reg, bool largest, void* best, void* at, const void* x, std::int64_t row, std::int64_t n) {
  switch (reg) {
    case ops::Reg::f32:
      return update<float, std::int32_t>(largest, best, at, x, row, n);
    case ops::Reg::f64:
      return update<double, std::int64_t>(largest, best, at, x, row, n);
    case ops::Reg::i64:
      return update<std::int64_t, std::int64_t>(largest, best, at, x, row, n);
    case ops::Reg::u64:
      return update<std::uint64_t, std::int64_t>(largest, best, at, x, row, n);
    case ops::Reg::i32:
      return update<std::int32_t, std::int32_t>(largest, best, at, x, row, n);
    case ops::Reg::b:
      break;
    case ops::Reg::c64:
    case ops::Reg::c128:
      return;  // array/reduction.cpp uses comparisons instead
  }
  update<std::uint8_t, std::int8_t>(largest, best, at, x, row, n);
}

}  // namespace CT_SIMD_NAMESPACE
}  // namespace catenary::cpu
