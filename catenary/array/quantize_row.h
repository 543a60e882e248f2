#pragma once
// Private to the library: numbers to blocks, on the processor.

#include <cstdint>

#include "catenary/core/quantization.h"

namespace catenary::detail {

/// Makes the blocks of one row of n finite numbers. Gives false where a scale is beyond what its type holds.
bool quantize_row(Quantization kind, const float* x, std::int64_t n, std::uint8_t* blocks);

}  // namespace catenary::detail
