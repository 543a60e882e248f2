#pragma once
// Private to the CPU backend: small dense linear algebra, by the text that GPUs run.

#include <cstdint>

#include "catenary/core/cpu_features.h"
#include "catenary/device/primitives.h"

namespace catenary::cpu {

/// What groups of work need. Addresses are of float or double.
struct LinalgWork {
  LinalgOp op;
  Dtype dtype;
  const void *a, *b;
  void* out;
  void* scratch;         ///< n * n (Cholesky: n) elements for each group
  std::int32_t* pivots;  ///< of lu its result; else n for each group
  std::int32_t* ok;      ///< one a matrix
  std::int64_t batch, n, k;
};

// clang-format off
CT_SIMD_DECLARE(
  /// Does one of `groups` groups' share of the matrices.
  void linalg_group(const LinalgWork& work, int group, int groups);
)
// clang-format on

}  // namespace catenary::cpu
