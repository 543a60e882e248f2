#pragma once
// Private: the loops of a selection (partition.cpp), each over n elements side by side. Keys are those of radix.h, all
// their bits turned round where the order is descending.

#include <cstdint>

#include "catenary/core/cpu_features.h"
#include "catenary/core/dtype.h"

namespace catenary::cpu {

/// What is read, and how it is ordered.
struct Ordered {
  const void* data;
  Dtype dtype;
  bool descending;
};

/// What keys have in common.
struct KeyBits {
  std::uint64_t any, all;  ///< their bitwise or and and
  bool loses;              ///< a key among them does not tell its element: that of -0.0 or of a NaN
};

// clang-format off
CT_SIMD_DECLARE(
  /// Writes the keys as words of the dtype's size.
  void make_keys(const Ordered& x, std::int64_t n, void* keys);
  KeyBits key_bits(const Ordered& x, std::int64_t n);
  /// counts = how many keys are < low, <= low, < high, <= high, and the third no less than the second.
  void count_around(const Ordered& x, std::int64_t n, std::uint64_t low, std::uint64_t high, std::int64_t* counts);
  /// Writes the first `count` keys in [low, high], of which there are so many at least, as words of the dtype's size.
  void keep_between(const Ordered& x, std::int64_t n, std::uint64_t low, std::uint64_t high, void* keys,
                    std::int64_t count);
  /// Writes the elements that have this key.
  void keep_equal(const Ordered& x, std::int64_t n, std::uint64_t key, void* elements);
  /// Writes where, counted from `start`, the keys <= high are.
  void keep_places(const Ordered& x, std::int64_t n, std::uint64_t high, std::int64_t start, std::int64_t* places);
  /// Spreads the elements over places[0] (keys < pivot), places[1] (equal) and places[2], in order.
  void place_elements(const Ordered& x, std::int64_t n, std::uint64_t pivot, void* const* places);
  /// The same of the numbers first, first + 1, …
  void place_indices(const Ordered& x, std::int64_t n, std::uint64_t pivot, std::int64_t first,
                     std::int64_t* const* places);
)
// clang-format on

}  // namespace catenary::cpu
