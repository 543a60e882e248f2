#pragma once
// Activation functions.

#include "catenary/autograd/variable.h"
#include "catenary/core/fields.h"

namespace catenary::functions {

/// Returns max(x, 0). (chainer.functions.relu)
CT_API Variable relu(const Variable& x);
/// Returns 1 / (1 + exp(-x)). (chainer.functions.sigmoid)
CT_API Variable sigmoid(const Variable& x);
/// Hyperbolic tangent. (chainer.functions.tanh)
CT_API Variable tanh(const Variable& x);
/// Returns exp(x) / sum(exp(x)) along an axis. (chainer.functions.softmax)
CT_API Variable softmax(const Variable& x, int axis = 1);
/// Returns log(softmax(x)), computed without overflow. (chainer.functions.log_softmax)
CT_API Variable log_softmax(const Variable& x, int axis = 1);

/// Returns min(max(x, 0), z), with gradient 0 at both ends. (chainer.functions.clipped_relu)
CT_API Variable clipped_relu(const Variable& x, double z = 20.0);
/// Returns min(max(x, 0), 6). (chainer.functions.relu6)
CT_API Variable relu6(const Variable& x);
/// Returns x, or slope * x where x < 0. (chainer.functions.leaky_relu)
CT_API Variable leaky_relu(const Variable& x, double slope = 0.2);
/// Returns x, or alpha * (exp(x) - 1) where x < 0. (chainer.functions.elu) (Clevert, Unterthiner and Hochreiter 2015)
CT_API Variable elu(const Variable& x, double alpha = 1.0);
/// The alpha with which selu() preserves mean 0 and variance 1.
inline constexpr double kSeluAlpha = 1.6732632423543772;
/// Returns scale * elu(x, alpha). The defaults preserve mean 0 and variance 1. (chainer.functions.selu) (Klambauer et
/// al. 2017)
CT_API Variable selu(const Variable& x, double alpha = kSeluAlpha, double scale = 1.0507009873554805);
/// Returns x, or W * x where x < 0. W's shape must equal the shape of x's axes from the second on, as many as W has.
/// Throws ShapeError. (chainer.functions.prelu) (He et al. 2015)
CT_API Variable prelu(const Variable& x, const Variable& W);
/// Options of rrelu.
struct RReLUOptions {
  /// Slopes of x's shape to use in training instead of random ones.
  Array r = {};
  /// Receives the slopes that were used.
  Array* return_r = nullptr;
};
CT_FIELDS(RReLUOptions, r, return_r)
/// Returns x, or r * x where x < 0. In training r is drawn uniformly from [l, u) for each element, otherwise it is (l +
/// u) / 2. Throws ValueError unless 0 <= l < u < 1. (chainer.functions.rrelu) (Xu et al. 2015)
CT_API Variable rrelu(const Variable& x, double l = 1.0 / 8, double u = 1.0 / 3, const RReLUOptions& options = {});
/// Returns relu(x) and relu(-x), joined along an axis. (chainer.functions.crelu) (Shang et al. 2016)
CT_API Variable crelu(const Variable& x, int axis = 1);
/// Returns log(1 + exp(beta * x)) / beta, computed without overflow. (chainer.functions.softplus)
CT_API Variable softplus(const Variable& x, double beta = 1.0);
/// Returns x * sigmoid(beta * x). beta's shape must equal the shape of x's axes from the second on, as many as beta
/// has. Throws ShapeError. (chainer.functions.swish) (Ramachandran, Zoph and Le 2017)
CT_API Variable swish(const Variable& x, const Variable& beta);
/// The formula of gelu: exact, or the tanh approximation.
enum class GeluForm { erf, tanh };
/// Returns x times the probability that a standard normal number is less than x: x (1 + erf(x / sqrt(2))) / 2, or its
/// approximation x (1 + tanh(sqrt(2 / pi) (x + 0.044715 x^3))) / 2. 16-bit floats are computed in float32 and rounded
/// once. (torch.nn.functional.gelu) (Hendrycks and Gimpel 2016)
CT_API Variable gelu(const Variable& x, GeluForm form = GeluForm::erf);
/// Returns x sigmoid(x). 16-bit floats are computed in float32 and rounded once. (torch.nn.functional.silu) (Elfwing,
/// Uchibe and Doya 2017)
CT_API Variable silu(const Variable& x);
/// Returns silu(gate) x for gate and x of equal shape. (Shazeer 2020, with the two halves as separate arguments)
CT_API Variable swiglu(const Variable& gate, const Variable& x);
/// Returns min(max(0.2 x + 0.5, 0), 1). (chainer.functions.hard_sigmoid)
CT_API Variable hard_sigmoid(const Variable& x);
/// Returns the maximum of each group of pool_size adjacent elements along an axis, whose length is divided by
/// pool_size. Throws ShapeError if the length is not a multiple of pool_size and ValueError for pool_size < 1.
/// (chainer.functions.maxout)
CT_API Variable maxout(const Variable& x, std::int64_t pool_size, int axis = 1);

}  // namespace catenary::functions
