#pragma once
// Private to functions/: selects gradients by a mask, for arrays and variables. Multiplying with the mask would keep
// NaN and infinities.

#include "catenary/array/elementwise_core.h"
#include "catenary/functions/array.h"

namespace catenary::functions::detail {

/// Returns a where the condition holds, else b. All three broadcast.
inline Array either(const Array& condition, const Array& a, const Array& b) { return catenary::where(condition, a, b); }
inline Variable either(const Array& condition, const Variable& a, const Variable& b) {
  return functions::where(condition, a, b);
}
/// Returns a where the condition holds, else 0, also where a is NaN or infinite.
inline Array only_where(const Array& condition, const Array& a) { return catenary::where(condition, a, 0); }
inline Variable only_where(const Array& condition, const Variable& a) {
  return functions::where(condition, a, Scalar(0));
}

}  // namespace catenary::functions::detail
