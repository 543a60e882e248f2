#pragma once
// Private: the families of special functions on the host, beside those of special.inc: catenary::math::ct_j0_f64 and
// similar functions. They are apart from math.h, which many sources include.

#include "catenary/ops/math.h"

namespace catenary::math {

#include "catenary/ops/special_bessel.inc"
#include "catenary/ops/special_bessel_f32.inc"
#include "catenary/ops/special_integers.inc"

}  // namespace catenary::math
