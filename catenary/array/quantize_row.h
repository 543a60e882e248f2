#pragma once
// Private to the library: quantisation of numbers into blocks, on the CPU.

#include <cstdint>

#include "catenary/core/quantization.h"

namespace catenary::detail {

/// Makes the blocks of one row of n finite numbers. Returns false if a scale does not fit its type.
bool quantize_row(Quantization kind, const float* x, std::int64_t n, std::uint8_t* blocks);

}  // namespace catenary::detail
