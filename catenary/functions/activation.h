#pragma once
// Activation functions.

#include "catenary/autograd/variable.h"

namespace catenary::functions {

/// max(x, 0). (chainer.functions.relu)
CT_API Variable relu(const Variable& x);
/// 1 / (1 + exp(-x)). (chainer.functions.sigmoid)
CT_API Variable sigmoid(const Variable& x);
/// Hyperbolic tangent. (chainer.functions.tanh)
CT_API Variable tanh(const Variable& x);
/// exp(x) / sum(exp(x)) along an axis. (chainer.functions.softmax)
CT_API Variable softmax(const Variable& x, int axis = 1);
/// log(softmax(x)), computed without overflow. (chainer.functions.log_softmax)
CT_API Variable log_softmax(const Variable& x, int axis = 1);

}  // namespace catenary::functions
