#pragma once
// Private to functions/: computes 16-bit floats in float32.

#include <optional>

#include "catenary/autograd/operators.h"

namespace catenary::functions::detail {

/// Returns f computed in float32 and rounded once if all inputs have one 16-bit dtype, else nullopt, and the caller
/// computes as usual. For functions that add many numbers or subtract close ones.
template <class F, class... More>
std::optional<Variable> in_float32(const F& f, const Variable& x, const More&... more) {
  if (!x.defined() || !(more.defined() && ...)) return {};
  const Dtype dtype = x.dtype();
  if (!is_16bit_float(dtype) || !((more.dtype() == dtype) && ...)) return {};
  return cast(f(cast(x, Dtype::float32), cast(more, Dtype::float32)...), dtype);
}

}  // namespace catenary::functions::detail
