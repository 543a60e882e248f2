#pragma once
// How far off results in 16 bits may be.

#include <string>

#include "catenary/array/array.h"

namespace reference {

/// In units of the dtype's epsilon (2^-10 of float16, 2^-7 of bfloat16), of the element and of the array's largest.
/// Rounding once leaves half a unit of the element.
struct Units {
  double element, largest;
};
/// Nothing was computed.
constexpr Units kExact = {0, 0};

/// Compares a result with what float64 makes of the same numbers: floats within `allowed`, all else exactly; an
/// undefined array stands for zeros. Numbers beyond the dtype's are inf. Returns how far off it is, in units of the
/// largest. Throws Mismatch.
double compare_in_16_bits(const std::string& key, const catenary::Array& got, const catenary::Array& expected,
                          catenary::Dtype dtype, const Units& allowed);

}  // namespace reference
