#pragma once
// Private: complex matrices as real matrices of twice the size.

#include "catenary/array/array.h"

namespace catenary::detail {

/// Returns a stack of complex matrices as real matrices: each element becomes the block [[re, -im], [im, re]], or with
/// `conjugated` [[re, im], [-im, re]]. Sums, products, inverses and Cholesky factors of such matrices represent the
/// results for the complex matrices.
Array real_blocks(const Array& a, bool conjugated = false);

}  // namespace catenary::detail
