#pragma once
// Private to functions/: a choice between gradients, for arrays and for variables. A product with a mask would keep the
// NaN and the infinities that the mask should leave out.

#include "catenary/array/elementwise_core.h"
#include "catenary/functions/array.h"

namespace catenary::functions::detail {

/// Returns a where the condition holds, else b; the three broadcast.
inline Array either(const Array& condition, const Array& a, const Array& b) { return catenary::where(condition, a, b); }
inline Variable either(const Array& condition, const Variable& a, const Variable& b) {
  return functions::where(condition, a, b);
}
/// Returns a where the condition holds, else 0 whatever a is there.
inline Array only_where(const Array& condition, const Array& a) { return catenary::where(condition, a, 0); }
inline Variable only_where(const Array& condition, const Variable& a) {
  return functions::where(condition, a, Scalar(0));
}

}  // namespace catenary::functions::detail
