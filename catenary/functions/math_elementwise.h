#pragma once
// Elementwise functions beyond the basic ones of math_basic.h.

#include <optional>
#include <vector>

#include "catenary/autograd/operators.h"

namespace catenary::functions {

/// Compute logarithms to base 2 and 10. (chainer.functions.log2, log10)
CT_API Variable log2(const Variable& x);
CT_API Variable log10(const Variable& x);
/// Returns 1 / sqrt(x). (chainer.functions.rsqrt)
CT_API Variable rsqrt(const Variable& x);

/// Compute trigonometric functions of radians, and their inverses. (chainer.functions.sin, …)
CT_API Variable sin(const Variable& x);
CT_API Variable cos(const Variable& x);
CT_API Variable tan(const Variable& x);
CT_API Variable arcsin(const Variable& x);
CT_API Variable arccos(const Variable& x);
CT_API Variable arctan(const Variable& x);
/// Returns the angle of the point (x2, x1). (chainer.functions.arctan2)
CT_API Variable arctan2(const Variable& x1, const Variable& x2);
/// Compute hyperbolic functions. tanh is in activation.h. (chainer.functions.sinh, cosh, arctanh)
CT_API Variable sinh(const Variable& x);
CT_API Variable cosh(const Variable& x);
CT_API Variable arctanh(const Variable& x);

/// Compute rounding and sign, without gradients. (chainer.functions.sign, ceil, floor, fix)
CT_API Variable sign(const Variable& x);
CT_API Variable ceil(const Variable& x);
CT_API Variable floor(const Variable& x);
CT_API Variable fix(const Variable& x);

/// Returns min(max(x, x_min), x_max). A limit of nullopt is not applied. The gradient is 0 where x was limited. Throws
/// ValueError if both limits are nullopt or x_min >= x_max. (chainer.functions.clip)
CT_API Variable clip(const Variable& x, std::optional<double> x_min, std::optional<double> x_max);
/// Returns the larger element. Where both are equal, x1 gets the gradient. (chainer.functions.maximum)
CT_API Variable maximum(const Variable& x1, const Variable& x2);
/// Returns the smaller element. Where both are equal, x1 gets the gradient. (chainer.functions.minimum)
CT_API Variable minimum(const Variable& x1, const Variable& x2);
/// Returns the remainder of a division, with the sign of x. (chainer.functions.fmod)
CT_API Variable fmod(const Variable& x, const Variable& divisor);
/// Returns p x + (1 - p) y. Throws ShapeError unless all shapes are equal. (chainer.functions.linear_interpolate)
CT_API Variable linear_interpolate(const Variable& p, const Variable& x, const Variable& y);

/// Returns x + y. y's shape must equal the shape of x's axes from `axis` on, as many as y has. Throws ShapeError.
/// (chainer.functions.bias)
CT_API Variable bias(const Variable& x, const Variable& y, int axis = 1);
/// Returns x * y, with y as in bias. Throws ShapeError. (chainer.functions.scale)
CT_API Variable scale(const Variable& x, const Variable& y, int axis = 1);

}  // namespace catenary::functions
