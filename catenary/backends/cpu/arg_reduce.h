#pragma once
// Private: the loops that find where the largest or the smallest element is (arg_reduce.cpp).

#include <cstdint>

#include "catenary/core/cpu_features.h"
#include "catenary/ops/program.h"

namespace catenary::cpu {

// clang-format off
CT_SIMD_DECLARE(
  /// Where x[i] is larger (or smaller) than best[i], or the first NaN: best[i] = x[i], at[i] = row. best and x are of the
  /// register type, at is an integer of its size.
  void arg_columns(ops::Reg reg, bool largest, void* best, void* at, const void* x, std::int64_t row, std::int64_t n);
  /// *best = the largest (or smallest) of the n > 0 elements of x, NaN if there is one. All are of the register type.
  void arg_best(ops::Reg reg, bool largest, void* best, const void* x, std::int64_t n);
  /// The first i with x[i] == *best, or with a NaN where that is one; there must be such an element among the n.
  std::int64_t arg_find(ops::Reg reg, const void* best, const void* x, std::int64_t n);
)
// clang-format on

}  // namespace catenary::cpu
