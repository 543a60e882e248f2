#pragma once
// Reductions and running sums and products. sum is in autograd/operators.h.

#include <optional>

#include "catenary/autograd/operators.h"

namespace catenary::functions {

/// Largest element over axes; the gradient goes to every element that equals it. Throws ValueError where there is no
/// element. (chainer.functions.max)
CT_API Variable max(const Variable& x, const AxisArg& axis = {}, bool keepdims = false);
/// Smallest element, as max. (chainer.functions.min)
CT_API Variable min(const Variable& x, const AxisArg& axis = {}, bool keepdims = false);
/// Index (int32) of the largest element along an axis, or in the flattened array; no gradient.
/// (chainer.functions.argmax)
CT_API Variable argmax(const Variable& x, const std::optional<int>& axis = {});
/// Index (int32) of the smallest element; no gradient. (chainer.functions.argmin)
CT_API Variable argmin(const Variable& x, const std::optional<int>& axis = {});
/// Arithmetic mean over axes. (chainer.functions.mean)
CT_API Variable mean(const Variable& x, const AxisArg& axis = {}, bool keepdims = false);
/// Mean over axes, weighted where weights are given: of x's shape without an axis, else 1-d along the only axis. Throws
/// ShapeError for other weights and ValueError for weights with several axes. (chainer.functions.average)
CT_API Variable average(const Variable& x, const AxisArg& axis = {}, const Variable& weights = {},
                        bool keepdims = false);
/// Product over axes; the gradient is right where elements are 0, too. (chainer.functions.prod)
CT_API Variable prod(const Variable& x, const AxisArg& axis = {}, bool keepdims = false);
/// log(sum(exp(x))) over axes, computed without overflow. (chainer.functions.logsumexp)
CT_API Variable logsumexp(const Variable& x, const AxisArg& axis = {});
/// Running sum along an axis, or of the flattened array. (chainer.functions.cumsum)
CT_API Variable cumsum(const Variable& x, const std::optional<int>& axis = {});
/// Running product along an axis, or of the flattened array; the gradient is right where elements are 0, too.
/// (chainer.functions.cumprod)
CT_API Variable cumprod(const Variable& x, const std::optional<int>& axis = {});
/// Sum of squares of each example: x [n, d…] gives [n]. Throws ShapeError for a 0-d x.
/// (chainer.functions.batch_l2_norm_squared)
CT_API Variable batch_l2_norm_squared(const Variable& x);

}  // namespace catenary::functions
