#pragma once
// Products at positions that may be named several times.

#include <vector>

#include "catenary/array/array.h"

namespace catenary {

/// Computes a[indices] *= value. An element that is named several times is multiplied by every value.
/// (numpy.multiply.at)
CT_API void multiply_at(Target a, const std::vector<Index>& indices, const Operand& value);

}  // namespace catenary
