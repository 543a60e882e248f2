#pragma once
// Private: the functions of complex numbers (complex.inc) on the host, as math.h has those of real numbers.

#include "catenary/ops/math.h"

namespace catenary::math {

using b8 = std::uint8_t;

#include "catenary/ops/complex.inc"
#include "catenary/ops/complex128.inc"

}  // namespace catenary::math
