#pragma once
// Private to kernel_table.simd.cpp: the loops of reductions. The unnamed namespace keeps the code of one instruction
// set out of another.

#include <type_traits>

#include "catenary/core/loop_hints.h"
#include "catenary/ops/math.h"

namespace catenary::cpu {
namespace {

using math::i32, math::i64;

// Lanes make the order of a row's sum independent of the instruction set: element i goes to
// lane i % 32, and the lanes are then added in halves.
template <class T, class Join>
void join_row(T* out, const T* x, i64 n, Join join) {
  constexpr int kLanes = 32;
  if (n < 2 * kLanes) {
    T so_far = *out;
    for (i64 i = 0; i < n; ++i) so_far = join(so_far, x[i]);
    *out = so_far;
    return;
  }
  T lanes[kLanes];
  for (int j = 0; j < kLanes; ++j) lanes[j] = x[j];
  i64 i = kLanes;
  for (; i + kLanes <= n; i += kLanes)
    for (int j = 0; j < kLanes; ++j) lanes[j] = join(lanes[j], x[i + j]);  // check_vectorised: row
  for (int j = 0; i + j < n; ++j) lanes[j] = join(lanes[j], x[i + j]);
  for (int half = kLanes / 2; half > 0; half /= 2)
    for (int j = 0; j < half; ++j) lanes[j] = join(lanes[j], lanes[j + half]);
  *out = join(*out, lanes[0]);
}

// Eight rows at once: out is read and written once for all of them, and memory is read in as many streams.
constexpr int kRowsAtOnce = 8;

template <class T, class Join>
void join_column(T* out, const T* x, i64 stride, i64 rows, i64 n, Join join) {
  for (; rows >= kRowsAtOnce; rows -= kRowsAtOnce, x += kRowsAtOnce * stride) {
    CT_INDEPENDENT
    for (i64 i = 0; i < n; ++i) {  // check_vectorised: column
      T so_far = out[i];
      for (int r = 0; r < kRowsAtOnce; ++r) so_far = join(so_far, x[r * stride + i]);
      out[i] = so_far;
    }
  }
  for (; rows > 0; --rows, x += stride) {
    CT_INDEPENDENT
    for (i64 i = 0; i < n; ++i) out[i] = join(out[i], x[i]);
  }
}

// The largest or smallest float. The rule for NaN, `exact`, does not vectorise, so the loops use `better`, a single
// instruction that keeps the value so far beside a NaN, and `exact` only if they met one.
template <class T, class Exact, class Better>
void extreme_row(T* out, const T* x, i64 n, Exact exact, Better better) {
  std::conditional_t<sizeof(T) == 4, i32, i64> nan = 0;
  for (i64 i = 0; i < n; ++i) nan |= x[i] != x[i];
  nan ? join_row(out, x, n, exact) : join_row(out, x, n, better);
}

template <class T, class Exact, class Better>
void extreme_column(T* out, const T* x, i64 stride, i64 rows, i64 n, Exact exact, Better better) {
  std::conditional_t<sizeof(T) == 4, i32, i64> nan = 0;
  i64 row = 0;
  for (; row + kRowsAtOnce <= rows; row += kRowsAtOnce) {
    const T* from = x + row * stride;
    CT_INDEPENDENT
    for (i64 i = 0; i < n; ++i) {  // check_vectorised: column
      T so_far = out[i];
#pragma GCC unroll 8
      for (int r = 0; r < kRowsAtOnce; ++r) {
        const T next = from[r * stride + i];
        so_far = better(so_far, next);
        nan |= next != next;
      }
      out[i] = so_far;
    }
  }
  for (; row < rows; ++row) {
    CT_INDEPENDENT
    for (i64 i = 0; i < n; ++i) {
      const T next = x[row * stride + i];
      out[i] = better(out[i], next);
      nan |= next != next;
    }
  }
  if (nan) join_column(out, x, stride, rows, n, exact);  // `out` holds the numbers' result, which this does not change
}

}  // namespace
}  // namespace catenary::cpu
