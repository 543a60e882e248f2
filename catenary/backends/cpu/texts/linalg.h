#pragma once
// Private to the CPU backend: small dense linear algebra, from the kernel text that GPUs run.

#include <cstdint>

#include "catenary/core/cpu_features.h"
#include "catenary/device/primitives.h"

namespace catenary::cpu {

/// Arguments of work-groups. Pointers are to float or double.
struct LinalgWork {
  LinalgOp op;
  Dtype dtype;
  const void *a, *b;
  void* out;
  void* scratch;         ///< n * n (Cholesky: n) elements for each group
  std::int32_t* pivots;  ///< the result of lu, otherwise n for each group
  std::int32_t* ok;      ///< one for each matrix
  std::int64_t batch, n, k;
};

// clang-format off
CT_SIMD_DECLARE(
  /// Processes the matrices of one of `groups` groups.
  void linalg_group(const LinalgWork& work, int group, int groups);
)
// clang-format on

}  // namespace catenary::cpu
