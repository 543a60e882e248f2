#pragma once
// Private: the number of axes that functions and links with windows take.

#include "catenary/autograd/variable.h"
#include "catenary/core/axis_error.h"
#include "catenary/core/format.h"

namespace catenary::functions::detail {

/// Throws unless x is [n, channels, d…] with `axes` axes d. Functions and links for 1 and 3 axes throw an
/// ArgumentShapeError, as Chainer's check their axes before their types.
inline void check_window_axes(const char* name, int axes, const Variable& x) {
  constexpr auto text = "{}: x must have {} axes (n, channels, sizes...), not {}";
  if (x.ndim() == axes + 2) return;
  if (axes != 2) fail<ArgumentShapeError>(text, name, axes + 2, x.shape());
  fail<ShapeError>(text, name, axes + 2, x.shape());
}

}  // namespace catenary::functions::detail
