#pragma once
// Private: the loops that find the position of the largest or smallest element (arg_reduce.cpp).

#include <cstdint>

#include "catenary/core/cpu_features.h"
#include "catenary/ops/program.h"

namespace catenary::cpu {

// clang-format off
CT_SIMD_DECLARE(
  /// Where x[i] is larger (or smaller) than best[i], or is the first NaN: best[i] = x[i], at[i] = row. best and x have
  /// the register type, at has integers of that size.
  void arg_columns(ops::Reg reg, bool largest, void* best, void* at, const void* x, std::int64_t row, std::int64_t n);
  /// *best = largest (or smallest) of the n > 0 elements of x, or NaN if x contains one. All have the register type.
  void arg_best(ops::Reg reg, bool largest, void* best, const void* x, std::int64_t n);
  /// Returns the first i with x[i] == *best, or with a NaN if *best is NaN. Such an element must exist.
  std::int64_t arg_find(ops::Reg reg, const void* best, const void* x, std::int64_t n);
)
// clang-format on

}  // namespace catenary::cpu
