#pragma once
// Private: the families of special functions on the host, beside those of special.inc: catenary::math::ct_j0_f64 and
// similar functions. They are apart from math.h, which many sources include.

#include "catenary/ops/math.h"

namespace catenary::math {

// A family uses those before it.
// clang-format off
#include "catenary/ops/special_integers.inc"
#include "catenary/ops/special_limits.inc"
#include "catenary/ops/special_bessel.inc"
#include "catenary/ops/special_bessel_f32.inc"
#include "catenary/ops/special_integrals.inc"
#include "catenary/ops/special_integrals_f32.inc"
// Loops over the functions of the other families do not vectorise. Inlined, these long functions would take minutes to
// compile.
#pragma push_macro("DEVICE")
#undef DEVICE
#define DEVICE [[maybe_unused]] static
#include "catenary/ops/special_elliptic.inc"
#include "catenary/ops/special_elliptic_f32.inc"
#include "catenary/ops/special_gamma.inc"
#include "catenary/ops/special_gamma_f32.inc"
#include "catenary/ops/special_incomplete.inc"
#include "catenary/ops/special_incomplete_f32.inc"
#include "catenary/ops/special_distributions.inc"
#include "catenary/ops/special_distributions_f32.inc"
#include "catenary/ops/special_wright_zeta.inc"
#include "catenary/ops/special_wright_zeta_f32.inc"
#pragma pop_macro("DEVICE")
// clang-format on

}  // namespace catenary::math
