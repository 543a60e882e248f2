#pragma once
// Functions with weights.

#include <optional>

#include "catenary/autograd/variable.h"

namespace catenary::functions {

/// y = x Wᵀ (+ b): x [batch axes…, in…], W [out, in], b [out]. The first n_batch_axes axes of x count as the batch, the
/// others are flattened to `in`; y is [batch axes…, out]. Negative ones count from the end: with -1 the last axis is
/// the input, as in torch. Throws ShapeError where the extents do not fit, DtypeError for different dtypes.
/// (chainer.functions.linear)
CT_API Variable linear(const Variable& x, const Variable& W, int n_batch_axes = 1);
CT_API Variable linear(const Variable& x, const Variable& W, const Variable& b, int n_batch_axes = 1);

/// The rows of W [ids, size] that the integers x [d…] name: [d…, size]; zeros for ignore_label. Throws DtypeError,
/// ShapeError, and IndexError for an id that W has not. (chainer.functions.embed_id)
CT_API Variable embed_id(const Variable& x, const Variable& W, std::optional<std::int64_t> ignore_label = {});

/// y[n, l] = Σ e1[n, j] e2[n, k] W[j, k, l], and with them e1 V1 + e2 V2 + b: V1 [j, l], V2 [k, l], b [l]. Inputs of
/// more than two axes are flattened to rows. Throws ShapeError. (chainer.functions.bilinear)
CT_API Variable bilinear(const Variable& e1, const Variable& e2, const Variable& W);
CT_API Variable bilinear(const Variable& e1, const Variable& e2, const Variable& W, const Variable& V1,
                         const Variable& V2, const Variable& b);

}  // namespace catenary::functions
