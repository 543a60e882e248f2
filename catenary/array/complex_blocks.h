#pragma once
// Private: complex matrices as real ones of twice the size.

#include "catenary/array/array.h"

namespace catenary::detail {

/// A stack of complex matrices as real ones: an element is the block [re -im; im re], or with `conjugated` [re im; -im
/// re]. Sums, products, inverses and Cholesky factors of these are those of the complex matrices.
Array real_blocks(const Array& a, bool conjugated = false);

}  // namespace catenary::detail
