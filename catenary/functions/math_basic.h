#pragma once
// Elementary functions and products. add, subtract, multiply, divide, power, negative and log, sum, sum_to and
// broadcast_to are in autograd/operators.h, as gradients themselves need them.

#include "catenary/autograd/operators.h"

namespace catenary::functions {

/// e to the x. Integers give config.dtype, here and below. (chainer.functions.exp)
CT_API Variable exp(const Variable& x);
/// exp(x) - 1, accurate near 0. (chainer.functions.expm1)
CT_API Variable expm1(const Variable& x);
/// log(1 + x), accurate near 0. (chainer.functions.log1p)
CT_API Variable log1p(const Variable& x);
/// Square root. (chainer.functions.sqrt)
CT_API Variable sqrt(const Variable& x);
/// x * x. (chainer.functions.square)
CT_API Variable square(const Variable& x);
/// |x|, with gradient 0 at 0. (chainer.functions.absolute)
CT_API Variable absolute(const Variable& x);
/// Matrix product over the last two axes, the axes before them broadcast; transa and transb swap the last two axes of
/// an operand of two or more. 1-d operands are a row at the left, a column at the right. Throws ShapeError.
/// (chainer.functions.matmul)
CT_API Variable matmul(const Variable& a, const Variable& b, bool transa = false, bool transb = false);

}  // namespace catenary::functions
