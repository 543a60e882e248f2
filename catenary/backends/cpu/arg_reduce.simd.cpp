// argmax and argmin of columns, compiled once for each instruction set; see core/cpu_features.h.
#include "catenary/backends/cpu/arg_reduce.h"

namespace catenary::cpu {
namespace CT_SIMD_NAMESPACE {
namespace {

template <class T, class I, bool largest>
void update(T* best, I* at, const T* x, I row, std::int64_t n) {
#pragma GCC ivdep
  for (std::int64_t i = 0; i < n; ++i) {
    const T old = best[i], candidate = x[i];
    // Not "larger": a NaN is better than a number, and nothing is better than a NaN.
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

}  // namespace

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
  }
  update<std::uint8_t, std::int8_t>(largest, best, at, x, row, n);
}

}  // namespace CT_SIMD_NAMESPACE
}  // namespace catenary::cpu
