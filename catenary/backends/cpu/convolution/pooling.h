#pragma once
// Private: the loops of poolings (pooling.cpp).

#include <cstdint>

#include "catenary/core/cpu_features.h"
#include "catenary/core/dtype.h"

namespace catenary::cpu {

/// The operation on the taps of an element.
enum class PoolLoop : std::uint8_t {
  max,            ///< the largest value and, if `places` is not null, its tap
  sum,            ///< the sum divided by `divisor`
  sum_of_shares,  ///< the sum of the taps' values, each divided by a divisor of its tap
  placed,         ///< the sum of the values whose place (aligned with `in`) is the tap
  pick,           ///< the value of the tap that the place (aligned with `out`) names, or 0
};

/// An input of an element: its offsets in `in` and in `places`.
struct PoolTap {
  std::int64_t in, places;
  std::int32_t number;
  double divisor;
};

/// A run of elements with common taps at constant distances: `lanes` elements, `repeats` times, in `planes`. Or pairs
/// of adjacent elements of `out`, where the second element has separate taps.
struct PoolRun {
  struct Distances {
    std::int64_t lane, repeat, plane;
  };
  const void* in;
  void* out;
  std::int32_t* places;
  const PoolTap* taps;
  std::int64_t count, second_count;  ///< numbers of taps, the second element's after the first's (-1: no pairs)
  std::int64_t lanes, repeats, planes;
  Distances from, to, place;
  double divisor;
  bool accumulate;
};

// clang-format off
CT_SIMD_DECLARE(
  /// Arrays have this floating dtype. 16-bit floats are computed in float32.
  void pool_run(Dtype dtype, PoolLoop loop, const PoolRun& run);
)
// clang-format on

}  // namespace catenary::cpu
