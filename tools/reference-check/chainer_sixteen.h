#pragma once
// Cases in 16 bits. Inputs are rounded to 16 bits first, and results are compared with float64 results on the CPU for
// these rounded inputs, so that jumps (floor, a maximum, a sign) are on the same side. The float64 results themselves
// are first compared with Chainer's.

#include <array>
#include <functional>
#include <string>

#include "chainer_arrays.h"

namespace reference {

/// Returns why a function, link or optimizer does not support 16 bits, in which case it must throw. Null if it does.
const char* why_not_in_16_bits(const std::string& name);

/// The largest errors of values, gradients and gradients of gradients, in units of the dtype's epsilon times the
/// array's largest element.
using Off = std::array<double, 3>;

/// Runs a case in float16 or bfloat16 on the current device. `name` is that of the function, link or optimizer. Calls
/// `run` with several Vectors: in float64 with Chainer's numbers (unless `wide` is float32, for large cases), in `wide`
/// with rounded numbers, and in 16 bits. Throws Mismatch if errors exceed the table in chainer_sixteen.cpp.
Off run_in_16_bits(const std::string& path, catenary::Dtype dtype, const std::string& name,
                   const std::function<void(const Vectors&)>& run, catenary::Dtype wide = catenary::Dtype::float64);

}  // namespace reference
