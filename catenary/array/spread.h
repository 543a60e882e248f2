#pragma once
// Private to array/ and functions/: a mean, and the squared differences from it.

#include "catenary/array/array.h"

namespace catenary::detail {

struct Spread {
  Array mean;   ///< over the axes, which are kept
  Array total;  ///< the sum of the squared differences
};

/// Computes both in a dtype. On the CPU, a float32 mean is corrected if the differences are as small as its rounding
/// error, so that equal values have a total of 0.
CT_API Spread spread_of(const Array& x, const AxisArg& axis, Dtype dtype, bool keepdims);

}  // namespace catenary::detail
