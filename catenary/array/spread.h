#pragma once
// Private to array/ and functions/: a mean, and how far values are from it.

#include "catenary/array/array.h"

namespace catenary::detail {

struct Spread {
  Array mean;   ///< over the axes, which are kept
  Array total;  ///< the sum of the squared differences
};

/// Computes both in a dtype. On the processor a float32 mean is corrected where the differences are as small as its own
/// rounding error, so that values which are all the same have a total of 0.
CT_API Spread spread_of(const Array& x, const AxisArg& axis, Dtype dtype, bool keepdims);

}  // namespace catenary::detail
