#pragma once
// Cases in 16 bits. What is given is rounded to them first, and results are compared with those of the same function,
// of the same rounded numbers, in float64 on the processor; that one is compared with Chainer's before. So where a
// result jumps (floor, a maximum, a sign) both see the same side.

#include <array>
#include <functional>
#include <string>

#include "chainer_arrays.h"

namespace reference {

/// Why a function, a link or an optimizer does not compute in 16 bits; null for those that do. They must throw.
const char* why_not_in_16_bits(const std::string& name);

/// How far off values, gradients and gradients of gradients were at most: in units of the dtype's epsilon, of the
/// largest element of their array.
using Off = std::array<double, 3>;

/// Runs a case in float16 or bfloat16 on the current device; `name` is the function's, the link's or the optimizer's.
/// `run` is called with one Vectors after another: in float64 with Chainer's numbers (unless `wide` is float32, for
/// what is large), in `wide` with rounded ones, and in 16 bits. Throws Mismatch where results are further off than the
/// table in chainer_sixteen.cpp allows.
Off run_in_16_bits(const std::string& path, catenary::Dtype dtype, const std::string& name,
                   const std::function<void(const Vectors&)>& run, catenary::Dtype wide = catenary::Dtype::float64);

}  // namespace reference
