#pragma once
// Functions with noise. Random numbers come from the calling thread's generator (array/random.h) and are equal on all
// devices.

#include <optional>

#include "catenary/autograd/variable.h"
#include "catenary/core/fields.h"

namespace catenary::functions {

/// Options of dropout.
struct DropoutOptions {
  /// A factor for each element, used instead of a random mask.
  Array mask = {};
  /// Receives the mask that was used, undefined outside of training.
  Array* return_mask = nullptr;
};
CT_FIELDS(DropoutOptions, mask, return_mask)
/// In training (config.train) sets each element to 0 with probability `ratio` and multiplies the others by 1 / (1 -
/// ratio). Returns x itself outside of training, and if the ratio is 0 and no mask is given or requested. Throws
/// ValueError unless 0 <= ratio < 1, and ShapeError for a mask of another shape. (chainer.functions.dropout)
CT_API Variable dropout(const Variable& x, double ratio = 0.5, const DropoutOptions& options = {});

/// Options of gaussian.
struct GaussianOptions {
  /// Standard normal noise, used instead of random noise.
  Array eps = {};
  Array* return_eps = nullptr;
};
CT_FIELDS(GaussianOptions, eps, return_eps)
/// Draws a sample of normal distributions with these means and logarithms of variances: mean + exp(ln_var / 2) eps.
/// (chainer.functions.gaussian)
CT_API Variable gaussian(const Variable& mean, const Variable& ln_var, const GaussianOptions& options = {});

/// Returns softmax of (log_pi + Gumbel noise) / tau: nearly one-hot samples for small tau.
/// (chainer.functions.gumbel_softmax) (Jang et al., arXiv:1611.01144)
CT_API Variable gumbel_softmax(const Variable& log_pi, double tau = 0.1, int axis = 1);

/// In training takes each element from h with probability `ratio`, otherwise from x. Outside of training returns x
/// itself. Throws ShapeError unless the shapes are equal, and ValueError for a ratio outside [0, 1].
/// (chainer.functions.zoneout) (Krueger et al., arXiv:1606.01305)
CT_API Variable zoneout(const Variable& h, const Variable& x, double ratio = 0.5);

/// Options of simplified_dropconnect.
struct DropconnectOptions {
  double ratio = 0.5;
  /// If false, drops no weights.
  bool train = true;
  /// Weights that are kept, [out, in] or [n, out, in], instead of a random mask.
  Array mask = {};
  /// Draws a separate mask for each example.
  bool use_batchwise_mask = true;
};
CT_FIELDS(DropconnectOptions, ratio, train, mask, use_batchwise_mask)
/// Computes linear() with each weight set to 0 with probability `ratio` and the others multiplied by 1 / (1 - ratio): x
/// [n, in…], W [out, in], b [out] or undefined. Throws ShapeError and ValueError.
/// (chainer.functions.simplified_dropconnect)
CT_API Variable simplified_dropconnect(const Variable& x, const Variable& W, const Variable& b = {},
                                       const DropconnectOptions& options = {});

}  // namespace catenary::functions
