#pragma once
// Private to functions/: where 16-bit floats are computed with in float32.

#include <optional>

#include "catenary/autograd/operators.h"

namespace catenary::functions::detail {

/// What adds up many numbers or takes near ones from each other loses them in 16 bits. Of inputs that all have one
/// dtype of 16 bits: f of them in float32, rounded once. Of others nothing: the caller goes on.
template <class F, class... More>
std::optional<Variable> in_float32(const F& f, const Variable& x, const More&... more) {
  if (!x.defined() || !(more.defined() && ...)) return {};
  const Dtype dtype = x.dtype();
  if (!is_16bit_float(dtype) || !((more.dtype() == dtype) && ...)) return {};
  return cast(f(cast(x, Dtype::float32), cast(more, Dtype::float32)...), dtype);
}

}  // namespace catenary::functions::detail
