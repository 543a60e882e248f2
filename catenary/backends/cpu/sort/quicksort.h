#pragma once
// Private: vectorised quicksort and selection of unsigned words, for rows that fit the caches (sort.cpp,
// select.cpp).

#include <cstdint>

#include "catenary/core/cpu_features.h"

namespace catenary::cpu {

// clang-format off
CT_SIMD_DECLARE(
  /// Sorts n unsigned words of `bytes` bytes (4 or 8) ascending. Equal words are indistinguishable.
  void quicksort(void* words, std::int64_t n, int bytes);
  /// Reorders n words so that those at the `count` ascending positions kth are the ones of the sorted array.
  void quickselect(void* words, std::int64_t n, int bytes, const std::int64_t* kth, std::int64_t count);
)
// clang-format on

}  // namespace catenary::cpu
