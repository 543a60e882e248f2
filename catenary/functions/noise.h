#pragma once
// Functions with noise. What is random is drawn from the calling thread's generator (array/random.h), the same on every
// device.

#include <optional>

#include "catenary/autograd/variable.h"
#include "catenary/core/fields.h"

namespace catenary::functions {

/// Options of dropout.
struct DropoutOptions {
  /// A factor for each element, used instead of a random one.
  Array mask = {};
  /// Where to put the mask that was used: undefined outside of training.
  Array* return_mask = nullptr;
};
CT_FIELDS(DropoutOptions, mask, return_mask)
/// In training (config.train) each element is 0 with probability `ratio`, else scaled by 1 / (1 - ratio); else x
/// itself, as it is where the ratio is 0 and no mask is asked for. Throws ValueError unless 0 <= ratio < 1, ShapeError
/// for a mask of another shape. (chainer.functions.dropout)
CT_API Variable dropout(const Variable& x, double ratio = 0.5, const DropoutOptions& options = {});

/// Options of gaussian.
struct GaussianOptions {
  /// Standard normal noise, used instead of a random one.
  Array eps = {};
  Array* return_eps = nullptr;
};
CT_FIELDS(GaussianOptions, eps, return_eps)
/// A sample of normal distributions with these means and logarithms of variances: mean + exp(ln_var / 2) eps.
/// (chainer.functions.gaussian)
CT_API Variable gaussian(const Variable& mean, const Variable& ln_var, const GaussianOptions& options = {});

/// Softmax of (log_pi + Gumbel noise) / tau: nearly one-hot samples for small tau. (chainer.functions.gumbel_softmax;
/// Jang et al., arXiv:1611.01144)
CT_API Variable gumbel_softmax(const Variable& log_pi, double tau = 0.1, int axis = 1);

/// In training each element is that of h with probability `ratio`, else that of x; else x itself. Throws ShapeError
/// unless both are of one shape, ValueError for a ratio that is no probability. (chainer.functions.zoneout; Krueger et
/// al., arXiv:1606.01305)
CT_API Variable zoneout(const Variable& h, const Variable& x, double ratio = 0.5);

/// Options of simplified_dropconnect.
struct DropconnectOptions {
  double ratio = 0.5;
  /// Without it no weight is dropped.
  bool train = true;
  /// Weights that stay, [out, in] or [n, out, in]; used instead of a random one.
  Array mask = {};
  /// Has every example a mask of its own?
  bool use_batchwise_mask = true;
};
CT_FIELDS(DropconnectOptions, ratio, train, mask, use_batchwise_mask)
/// linear() of which each weight is 0 with probability `ratio`, else scaled by 1 / (1 - ratio): x [n, in…], W [out,
/// in], b [out] or undefined. Throws ShapeError and ValueError. (chainer.functions.simplified_dropconnect)
CT_API Variable simplified_dropconnect(const Variable& x, const Variable& W, const Variable& b = {},
                                       const DropconnectOptions& options = {});

}  // namespace catenary::functions
