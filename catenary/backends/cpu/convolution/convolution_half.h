#pragma once
// Private to the CPU backend.

#include "catenary/backends/cpu/computations.h"
#include "catenary/backends/cpu/primitives.h"

namespace catenary::cpu {

/// Computes a convolution of float16 or bfloat16 with sums in float32, rounded once.
Way convolve_halves(const Convolution& convolution);
/// Computes a convolution of float32 (convolution.cpp).
Way convolve_floats(const Convolution& convolution);

}  // namespace catenary::cpu
