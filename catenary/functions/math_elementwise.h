#pragma once
// Elementwise functions beyond the basic ones of math_basic.h.

#include <optional>
#include <vector>

#include "catenary/autograd/operators.h"

namespace catenary::functions {

/// Logarithms to base 2 and 10. (chainer.functions.log2, log10)
CT_API Variable log2(const Variable& x);
CT_API Variable log10(const Variable& x);
/// 1 / sqrt(x). (chainer.functions.rsqrt)
CT_API Variable rsqrt(const Variable& x);

/// Trigonometric functions of radians, and their inverses. (chainer.functions.sin, …)
CT_API Variable sin(const Variable& x);
CT_API Variable cos(const Variable& x);
CT_API Variable tan(const Variable& x);
CT_API Variable arcsin(const Variable& x);
CT_API Variable arccos(const Variable& x);
CT_API Variable arctan(const Variable& x);
/// Angle of the point (x2, x1). (chainer.functions.arctan2)
CT_API Variable arctan2(const Variable& x1, const Variable& x2);
/// Hyperbolic functions. tanh is an activation. (chainer.functions.sinh, cosh, arctanh)
CT_API Variable sinh(const Variable& x);
CT_API Variable cosh(const Variable& x);
CT_API Variable arctanh(const Variable& x);

/// Rounding and sign: these have no gradient. (chainer.functions.sign, ceil, floor, fix)
CT_API Variable sign(const Variable& x);
CT_API Variable ceil(const Variable& x);
CT_API Variable floor(const Variable& x);
CT_API Variable fix(const Variable& x);

/// min(max(x, x_min), x_max); an end left out does not limit. The gradient is 0 where x was limited. Throws ValueError
/// when both are left out or x_min >= x_max. (chainer.functions.clip)
CT_API Variable clip(const Variable& x, std::optional<double> x_min, std::optional<double> x_max);
/// The larger of both; where they are equal x1 gets the gradient. (chainer.functions.maximum)
CT_API Variable maximum(const Variable& x1, const Variable& x2);
/// The smaller of both; where they are equal x1 gets the gradient. (chainer.functions.minimum)
CT_API Variable minimum(const Variable& x1, const Variable& x2);
/// Remainder of a division, with the sign of x. (chainer.functions.fmod)
CT_API Variable fmod(const Variable& x, const Variable& divisor);
/// p x + (1 - p) y. Throws ShapeError unless all have one shape. (chainer.functions.linear_interpolate)
CT_API Variable linear_interpolate(const Variable& p, const Variable& x, const Variable& y);

/// x + y, where y has the shape of as many of x's axes from `axis` on as it has. Throws ShapeError.
/// (chainer.functions.bias)
CT_API Variable bias(const Variable& x, const Variable& y, int axis = 1);
/// x * y, y as in bias. Throws ShapeError. (chainer.functions.scale)
CT_API Variable scale(const Variable& x, const Variable& y, int axis = 1);

}  // namespace catenary::functions
