#pragma once
// Private: the loops of a selection (partition.cpp) over n contiguous elements. Keys are defined in radix.h, with all
// bits inverted for descending order.

#include <cstdint>

#include "catenary/core/cpu_features.h"
#include "catenary/core/dtype.h"

namespace catenary::cpu {

/// The elements and their order.
struct Ordered {
  const void* data;
  Dtype dtype;
  bool descending;
};

/// Common properties of keys.
struct KeyBits {
  std::uint64_t any, all;  ///< their bitwise or and and
  bool loses;              ///< some key does not determine its element: one of -0.0 or of a NaN
};

// clang-format off
CT_SIMD_DECLARE(
  /// Writes the keys as words of the dtype's size.
  void make_keys(const Ordered& x, std::int64_t n, void* keys);
  /// Writes the elements of keys in ascending order (KeyMap::raw).
  void make_elements(const void* keys, Dtype dtype, std::int64_t n, void* elements);
  /// Writes the keys of elements of at most 4 bytes, each with its position in the lower half of the word.
  void make_items(const Ordered& x, std::int64_t n, std::uint64_t* items);
  KeyBits key_bits(const Ordered& x, std::int64_t n);
  /// counts = numbers of keys < low, <= low, < high, <= high, where the third is at least the second.
  void count_around(const Ordered& x, std::int64_t n, std::uint64_t low, std::uint64_t high, std::int64_t* counts);
  /// Writes the first `count` keys in [low, high] as words of the dtype's size. At least so many must exist.
  void keep_between(const Ordered& x, std::int64_t n, std::uint64_t low, std::uint64_t high, void* keys,
                    std::int64_t count);
  /// Writes the elements that have this key.
  void keep_equal(const Ordered& x, std::int64_t n, std::uint64_t key, void* elements);
  /// Writes the positions, counted from `start`, of the keys <= high.
  void keep_places(const Ordered& x, std::int64_t n, std::uint64_t high, std::int64_t start, std::int64_t* places);
  /// Distributes the elements to places[0] (keys < pivot), places[1] (equal) and places[2], in order.
  void place_elements(const Ordered& x, std::int64_t n, std::uint64_t pivot, void* const* places);
  /// Distributes the numbers first, first + 1, … instead of the elements.
  void place_indices(const Ordered& x, std::int64_t n, std::uint64_t pivot, std::int64_t first,
                     std::int64_t* const* places);
)
// clang-format on

}  // namespace catenary::cpu
