#pragma once
// Functions with weights.

#include <optional>

#include "catenary/autograd/variable.h"

namespace catenary::functions {

/// Computes y = x Wᵀ (+ b): x [batch axes…, in…], W [out, in], b [out]. The first n_batch_axes axes of x are the batch,
/// the others are flattened to `in`, and y is [batch axes…, out]. Negative values count from the end: with -1 the last
/// axis is the input, as in torch. Throws ShapeError for shapes that do not match and DtypeError for different dtypes.
/// (chainer.functions.linear)
CT_API Variable linear(const Variable& x, const Variable& W, int n_batch_axes = 1);
CT_API Variable linear(const Variable& x, const Variable& W, const Variable& b, int n_batch_axes = 1);

/// Returns the rows of W [ids, size] selected by integers x [d…]: [d…, size], with zeros for ignore_label. Throws
/// DtypeError, ShapeError, and IndexError for ids outside W. (chainer.functions.embed_id)
CT_API Variable embed_id(const Variable& x, const Variable& W, std::optional<std::int64_t> ignore_label = {});

/// Computes y[n, l] = Σ e1[n, j] e2[n, k] W[j, k, l], with V1 [j, l], V2 [k, l] and b [l] also + e1 V1 + e2 V2 + b.
/// Inputs with more than two axes are flattened to rows. Throws ShapeError. (chainer.functions.bilinear)
CT_API Variable bilinear(const Variable& e1, const Variable& e2, const Variable& W);
CT_API Variable bilinear(const Variable& e1, const Variable& e2, const Variable& W, const Variable& V1,
                         const Variable& V2, const Variable& b);

}  // namespace catenary::functions
