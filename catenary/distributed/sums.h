#pragma once
// Private: the arithmetic of an all-reduce.

#include <cstdint>
#include <vector>

#include "catenary/core/dtype.h"

namespace catenary::distributed {

/// result = (parts[0] + parts[1] + …) / divisor, element by element and in this order, so that the bits depend on
/// nothing else; 16-bit floats are summed and divided in float32 and rounded once. Of bool it is `or`. A result may be
/// one of the parts, of which there are two at least. Integers wrap, and are not divided.
void sum_in_order(Dtype dtype, const std::vector<const void*>& parts, void* result, std::int64_t count, int divisor);

}  // namespace catenary::distributed
