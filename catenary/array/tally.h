#pragma once
// Private to the library: counts of integers and of bins on the processor, in one pass over the elements.

#include <cstdint>
#include <optional>

#include "catenary/array/array.h"

namespace catenary::detail {

/// Counts each non-negative integer of x, or adds up its float64 weights in order. The result has as many elements as
/// the largest integer needs, at least min_length. Throws ValueError for a negative integer.
Array tally(const Array& x, const std::optional<Array>& weights, std::int64_t min_length);

/// Can bins of x be found by comparing float64 values? Not if both hold 64-bit integers.
bool has_float_bins(const Array& x, const Array& edges);
/// Returns the bin of each element of x between ascending edges, as int64. Elements outside, and NaN, get the number of
/// bins. The last edge belongs to the last bin.
Array bins_between(const Array& x, const Array& edges);
/// Counts the elements of x in each bin between ascending edges.
Array tally_between(const Array& x, const Array& edges);

}  // namespace catenary::detail
