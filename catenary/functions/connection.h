#pragma once
// Functions with weights.

#include "catenary/autograd/variable.h"

namespace catenary::functions {

/// y = x Wᵀ (+ b): x [batch axes…, in…], W [out, in], b [out]. The first n_batch_axes axes of x count as the batch, the
/// others are flattened to `in`; y is [batch axes…, out]. Throws ShapeError where the extents do not fit, DtypeError
/// for different dtypes. (chainer.functions.linear)
CT_API Variable linear(const Variable& x, const Variable& W, int n_batch_axes = 1);
CT_API Variable linear(const Variable& x, const Variable& W, const Variable& b, int n_batch_axes = 1);

}  // namespace catenary::functions
