#pragma once
// Reductions and running sums and products. sum is in autograd/operators.h.

#include <optional>

#include "catenary/autograd/operators.h"

namespace catenary::functions {

/// Returns the largest element over axes. The gradient goes to every element that equals it. Throws ValueError if there
/// are no elements. (chainer.functions.max)
CT_API Variable max(const Variable& x, const AxisArg& axis = {}, bool keepdims = false);
/// Returns the smallest element, like max. (chainer.functions.min)
CT_API Variable min(const Variable& x, const AxisArg& axis = {}, bool keepdims = false);
/// Returns the index (int32) of the largest element along an axis, or in the flattened array. Has no gradient.
/// (chainer.functions.argmax)
CT_API Variable argmax(const Variable& x, const std::optional<int>& axis = {});
/// Returns the index (int32) of the smallest element. Has no gradient. (chainer.functions.argmin)
CT_API Variable argmin(const Variable& x, const std::optional<int>& axis = {});
/// Returns the arithmetic mean over axes. (chainer.functions.mean)
CT_API Variable mean(const Variable& x, const AxisArg& axis = {}, bool keepdims = false);
/// Returns the mean over axes, with optional weights: of x's shape without an axis, 1-d with a single axis. Throws
/// ShapeError for other weights and ValueError for weights with several axes. (chainer.functions.average)
CT_API Variable average(const Variable& x, const AxisArg& axis = {}, const Variable& weights = {},
                        bool keepdims = false);
/// Returns the product over axes. The gradient is correct also for elements of 0. (chainer.functions.prod)
CT_API Variable prod(const Variable& x, const AxisArg& axis = {}, bool keepdims = false);
/// Returns log(sum(exp(x))) over axes, computed without overflow. (chainer.functions.logsumexp)
CT_API Variable logsumexp(const Variable& x, const AxisArg& axis = {});
/// Returns the running sum along an axis, or of the flattened array. (chainer.functions.cumsum)
CT_API Variable cumsum(const Variable& x, const std::optional<int>& axis = {});
/// Returns the running product along an axis, or of the flattened array. The gradient is correct also for elements of
/// 0. (chainer.functions.cumprod)
CT_API Variable cumprod(const Variable& x, const std::optional<int>& axis = {});
/// Returns the sum of squares of each example: x [n, d…] gives [n]. Throws ShapeError if x has one axis or none.
/// (chainer.functions.batch_l2_norm_squared)
CT_API Variable batch_l2_norm_squared(const Variable& x);

}  // namespace catenary::functions
