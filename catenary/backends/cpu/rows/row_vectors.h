#pragma once
// Private to the *_rows.simd.cpp files: loops over a row, or over a tile of adjacent columns. Lanes have a fixed
// number, so the order of a sum does not depend on the instruction set. These files are compiled with
// -ffp-contract=fast.

#include <algorithm>
#include <cstdint>
#include <limits>
#include <type_traits>

#include "catenary/backends/cpu/gemm/gemm_kernel.h"
#include "catenary/backends/cpu/half_bits.h"
#include "catenary/core/half.h"
#include "catenary/core/loop_hints.h"
#include "catenary/ops/math.h"

namespace catenary::cpu::CT_SIMD_NAMESPACE {
namespace {

using std::int64_t;

#define CT_ROW_INLINE [[maybe_unused, gnu::always_inline]] static inline
// After the parameters of a lambda in a loop. A call would prevent vectorisation.
#define CT_ROW_BODY __attribute__((always_inline))

constexpr int64_t kSumLanes = 32, kSumBlock = 1024, kSumRows = 64;

/// Returns loop<T, E>() for a floating dtype: the elements are of type E and are computed as T. Returns null for other
/// dtypes.
template <class Loop>
auto loop_for(Dtype dtype, const Loop& loop) -> decltype(loop.template operator()<float, float>()) {
  switch (dtype) {
    case Dtype::float16:
      return loop.template operator()<float, float16>();
    case Dtype::bfloat16:
      return loop.template operator()<float, bfloat16>();
    case Dtype::float32:
      return loop.template operator()<float, float>();
    case Dtype::float64:
      return loop.template operator()<double, double>();
    default:
      return nullptr;
  }
}

CT_ROW_INLINE float element(float x) { return x; }
CT_ROW_INLINE double element(double x) { return x; }
CT_ROW_INLINE float element(float16 x) { return math::from_half(x.bits); }
CT_ROW_INLINE float element(bfloat16 x) { return math::from_bfloat(x.bits); }
CT_ROW_INLINE void set_element(float& to, float x) { to = x; }
CT_ROW_INLINE void set_element(double& to, double x) { to = x; }
CT_ROW_INLINE void set_element(float16& to, float x) { to.bits = math::to_half(x); }
CT_ROW_INLINE void set_element(bfloat16& to, float x) { to.bits = math::to_bfloat(x); }

/// Copies n elements from memory to T or back.
template <class T, class E>
CT_ROW_INLINE void read_row(const E* from, T* to, int64_t n) {
  if constexpr (std::is_same_v<T, E>) {
    std::copy(from, from + n, to);
  } else {
    widen(from, to, n);
  }
}
template <class T, class E>
CT_ROW_INLINE void write_row(const T* from, E* to, int64_t n) {
  if constexpr (std::is_same_v<T, E>) {
    std::copy(from, from + n, to);
  } else {
    narrow(from, to, n);
  }
}
/// Returns n elements as T: in place, or widened to `memory`.
template <class T, class E>
CT_ROW_INLINE const T* row_as(const E* from, T* memory, int64_t n) {
  if constexpr (std::is_same_v<T, E>) {
    return from;
  } else {
    widen(from, memory, n);
    return memory;
  }
}

/// Returns memory for results that `finish_row` stores: in place, or `memory`.
template <class T, class E>
CT_ROW_INLINE T* results_of_row(E* to, T* memory) {
  if constexpr (std::is_same_v<T, E>) {
    return to;
  } else {
    return memory;
  }
}
template <class T, class E>
CT_ROW_INLINE void finish_row(const T* results, E* to, int64_t n) {
  if constexpr (!std::is_same_v<T, E>) narrow(results, to, n);
}

/// Returns the sum of f(i) for i < n, in lanes and blocks.
template <class T, class F>
CT_ROW_INLINE T sum_of_row(int64_t n, const F& f) {
  T total = 0;
  for (int64_t begin = 0; begin < n; begin += kSumBlock) {
    const int64_t end = std::min(n, begin + kSumBlock);
    T lanes[kSumLanes] = {};
    int64_t i = begin;
    for (; i + kSumLanes <= end; i += kSumLanes) {
      CT_INDEPENDENT for (int64_t j = 0; j < kSumLanes; ++j) lanes[j] += f(i + j);
    }
    const int64_t rest = end - i;
    CT_INDEPENDENT for (int64_t j = 0; j < rest; ++j) lanes[j] += f(i + j);
    for (int64_t half = kSumLanes / 2; half > 0; half /= 2)
      for (int64_t j = 0; j < half; ++j) lanes[j] += lanes[j + half];
    total += lanes[0];
  }
  return total;
}

/// Sums over the rows of a tile of columns, which are added up in groups.
template <class T>
struct ColumnSums {
  T* __restrict__ total, * __restrict__ group;
  int64_t columns, rows;

  ColumnSums(T* total_of_columns, T* room, int64_t columns_of_tile, int64_t rows_of_tile)
      : total(total_of_columns), group(room), columns(columns_of_tile), rows(rows_of_tile) {
    std::fill(total, total + columns, T(0));
    std::fill(group, group + columns, T(0));
  }
  /// Adds f(column) of row j. All rows are added in order.
  template <class F>
  [[gnu::always_inline]] inline void add(int64_t j, const F& f) {
    CT_INDEPENDENT for (int64_t c = 0; c < columns; ++c) group[c] += f(c);
    if ((j + 1) % kSumRows != 0 && j + 1 != rows) return;
    for (int64_t c = 0; c < columns; ++c) total[c] += group[c];
    std::fill(group, group + columns, T(0));
  }
};
/// Adds f(row, column) for all rows of a tile to the totals of its columns, through `group`.
template <class T, class F>
CT_ROW_INLINE void sum_of_columns(int64_t rows, int64_t columns, T* total, T* group, const F& f) {
  ColumnSums<T> sums(total, group, columns, rows);
  for (int64_t j = 0; j < rows; ++j) sums.add(j, [=](int64_t c) CT_ROW_BODY { return f(j, c); });
}

/// Returns the largest element, without NaN: -inf if there is none.
template <class T>
CT_ROW_INLINE T largest_of_row(const T* x, int64_t n) {
  T lanes[kSumLanes];
  for (int64_t j = 0; j < kSumLanes; ++j) lanes[j] = -std::numeric_limits<T>::infinity();
  int64_t i = 0;
  for (; i + kSumLanes <= n; i += kSumLanes)
    for (int64_t j = 0; j < kSumLanes; ++j) lanes[j] = x[i + j] > lanes[j] ? x[i + j] : lanes[j];
  for (int64_t j = 0; i + j < n; ++j) lanes[j] = x[i + j] > lanes[j] ? x[i + j] : lanes[j];
  for (int64_t half = kSumLanes / 2; half > 0; half /= 2)
    for (int64_t j = 0; j < half; ++j) lanes[j] = lanes[j + half] > lanes[j] ? lanes[j + half] : lanes[j];
  return lanes[0];
}

/// e^x for x below about 40, with fewer steps than math::ct_exp_f32.
CT_ROW_INLINE float exp_of_low(float x) {
  const float c = x < -105.0F ? -105.0F : x, n = math::ct_exp_n_f32(c);
  return (1.0F + math::ct_expm1_poly_f32(math::ct_exp_r_f32(c, n))) * math::ct_pow2_f32(n + 64.0F) * 0x1p-64F;
}
CT_ROW_INLINE double exp_of_low(double x) { return math::ct_exp_f64(x); }
CT_ROW_INLINE float log_of_row(float x) { return math::ct_log_f32(x); }
CT_ROW_INLINE double log_of_row(double x) { return math::ct_log_f64(x); }

}  // namespace
}  // namespace catenary::cpu::CT_SIMD_NAMESPACE
