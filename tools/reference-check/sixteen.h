#pragma once
// Error bounds of results in 16 bits.

#include <string>

#include "catenary/array/array.h"

namespace reference {

/// In units of the dtype's epsilon (2^-10 for float16, 2^-7 for bfloat16): relative to the element, and to the array's
/// largest element. Rounding once gives half a unit of the element.
struct Units {
  double element, largest;
};
/// For results without arithmetic.
constexpr Units kExact = {0, 0};

/// Compares a result with the float64 result for the same numbers: floats within `allowed`, other dtypes exactly. An
/// undefined array stands for zeros. Numbers out of the dtype's range count as inf. Returns the error in units of the
/// largest element. Throws Mismatch.
double compare_in_16_bits(const std::string& key, const catenary::Array& got, const catenary::Array& expected,
                          catenary::Dtype dtype, const Units& allowed);

}  // namespace reference
