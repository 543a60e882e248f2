#pragma once
// Private: the arithmetic of allreduce.

#include <cstdint>
#include <vector>

#include "catenary/core/dtype.h"

namespace catenary::distributed {

/// Computes result = (parts[0] + parts[1] + …) / divisor elementwise in this order, so that the bits are reproducible.
/// 16-bit floats are summed and divided in float32 and rounded once. For bool, computes the logical or. Integers wrap
/// and are not divided. The result may be one of the parts. There must be at least two parts.
void sum_in_order(Dtype dtype, const std::vector<const void*>& parts, void* result, std::int64_t count, int divisor);

}  // namespace catenary::distributed
