#pragma once
// Private: the loops of poolings (pooling.cpp).

#include <cstdint>

#include "catenary/core/cpu_features.h"
#include "catenary/core/dtype.h"

namespace catenary::cpu {

/// What is made of the taps of an element.
enum class PoolLoop : std::uint8_t {
  max,            ///< the largest, and where `places` is not null its tap
  sum,            ///< the sum over `divisor`
  sum_of_shares,  ///< the sum of each tap's value over its own divisor
  placed,         ///< the sum of the values whose place is the tap, places lying beside `in`
  pick,           ///< the value of the tap that is the place, places lying beside `out`; 0 where none is
};

/// Something that an element is computed from: where it lies from `in` and from `places` on, in elements.
struct PoolTap {
  std::int64_t in, places;
  std::int32_t number;
  double divisor;
};

/// Elements that all have the same taps, a shift further on: `lanes` of them, `repeats` times, in `planes`, with a
/// distance for each. Or pairs of elements that lie side by side in `out`, the second of which has taps of its own.
struct PoolRun {
  struct Distances {
    std::int64_t lane, repeat, plane;
  };
  const void* in;
  void* out;
  std::int32_t* places;
  const PoolTap* taps;
  std::int64_t count, second_count;  ///< of taps, those of the second behind those of the first; -1: no pairs
  std::int64_t lanes, repeats, planes;
  Distances from, to, place;
  double divisor;
  bool accumulate;
};

// clang-format off
CT_SIMD_DECLARE(
  /// Arrays are of this floating dtype; 16 bits are computed with in float.
  void pool_run(Dtype dtype, PoolLoop loop, const PoolRun& run);
)
// clang-format on

}  // namespace catenary::cpu
