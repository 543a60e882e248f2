#pragma once
// Private to the CPU backend.

#include "catenary/backends/cpu/primitives.h"

namespace catenary::cpu {

/// Computes a convolution of float16 or bfloat16 with sums in float32, rounded once.
void convolve_halves(const Convolution& convolution);

}  // namespace catenary::cpu
