#pragma once
// Elementary functions and products. add, subtract, multiply, divide, power, negative and log, sum, sum_to and
// broadcast_to are in autograd/operators.h, because gradients need them.

#include "catenary/autograd/operators.h"

namespace catenary::functions {

/// Returns e to the x. Here and below integers give config.dtype. (chainer.functions.exp)
CT_API Variable exp(const Variable& x);
/// Returns exp(x) - 1, accurate near 0. (chainer.functions.expm1)
CT_API Variable expm1(const Variable& x);
/// Returns log(1 + x), accurate near 0. (chainer.functions.log1p)
CT_API Variable log1p(const Variable& x);
/// Returns the square root. (chainer.functions.sqrt)
CT_API Variable sqrt(const Variable& x);
/// Returns x * x. (chainer.functions.square)
CT_API Variable square(const Variable& x);
/// Returns |x|, with gradient 0 at 0. (chainer.functions.absolute)
CT_API Variable absolute(const Variable& x);
/// Computes the matrix product over the last two axes and broadcasts the axes before them. transa and transb swap the
/// last two axes of an operand. A 1-d operand is a row at the left and a column at the right. Throws ShapeError.
/// (chainer.functions.matmul)
CT_API Variable matmul(const Variable& a, const Variable& b, bool transa = false, bool transb = false);

}  // namespace catenary::functions
