#pragma once
// Private to the CPU backend: the rounds of Philox, for random.cpp.

#include <cstdint>

#include "catenary/core/cpu_features.h"

namespace catenary::cpu {

/// Blocks computed at once.
inline constexpr int kPhiloxLanes = 16;
inline constexpr int kPhiloxWords = 4 * kPhiloxLanes;

// clang-format off
CT_SIMD_DECLARE(
  /// Writes the words of `groups` times kPhiloxLanes blocks with counters (first, call), (first + 1, call), … and key
  /// `seed`.
  void philox_groups(std::uint32_t* out, std::int64_t groups, std::uint64_t first, std::uint64_t seed, std::uint64_t call);
)
// clang-format on

}  // namespace catenary::cpu
