#pragma once
// Private: the loops of poolings (pooling.cpp).

#include <cstdint>

#include "catenary/core/cpu_features.h"

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

/// Elements that all have the same taps: `repeats` times `lanes`, with a distance for each array.
struct PoolRun {
  struct Distance {
    std::int64_t lane, repeat;
  };
  const void* in;
  void* out;
  std::int32_t* places;
  const PoolTap* taps;
  std::int64_t count, lanes, repeats;
  Distance from, to, place;
  double divisor;
  bool accumulate;
};

// clang-format off
CT_SIMD_DECLARE(
  /// Arrays are of double (f64) or float.
  void pool_run(bool f64, PoolLoop loop, const PoolRun& run);
  /// out[i] (+=) rows[i % phases][i / phases] for i < n; a row has `length` elements.
  void interleave_rows(bool f64, void* out, const void* rows, std::int64_t length, std::int64_t phases, std::int64_t n,
                       bool accumulate);
)
// clang-format on

}  // namespace catenary::cpu
