#pragma once
// Activation functions.

#include "catenary/autograd/variable.h"
#include "catenary/core/fields.h"

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

/// min(max(x, 0), z), with gradient 0 at both ends. (chainer.functions.clipped_relu)
CT_API Variable clipped_relu(const Variable& x, double z = 20.0);
/// min(max(x, 0), 6). (chainer.functions.relu6)
CT_API Variable relu6(const Variable& x);
/// x, or slope * x where x < 0. (chainer.functions.leaky_relu)
CT_API Variable leaky_relu(const Variable& x, double slope = 0.2);
/// x, or alpha * (exp(x) - 1) where x < 0. (chainer.functions.elu; Clevert, Unterthiner and Hochreiter 2015)
CT_API Variable elu(const Variable& x, double alpha = 1.0);
/// scale * elu(x, alpha); the defaults keep mean 0 and variance 1. (chainer.functions.selu; Klambauer et al. 2017)
CT_API Variable selu(const Variable& x, double alpha = 1.6732632423543772, double scale = 1.0507009873554805);
/// x, or W * x where x < 0. W has the shape of x's axes from the second on, as many as it has. Throws ShapeError.
/// (chainer.functions.prelu; He et al. 2015)
CT_API Variable prelu(const Variable& x, const Variable& W);
/// Options of rrelu.
struct RReLUOptions {
  /// Slopes to use in training instead of random ones, of x's shape.
  Array r = {};
  /// Where to put the slopes that were used.
  Array* return_r = nullptr;
};
CT_FIELDS(RReLUOptions, r, return_r)
/// x, or r * x where x < 0: in training each element's r is drawn uniformly from [l, u), else it is (l + u) / 2. Throws
/// ValueError unless 0 <= l < u < 1. (chainer.functions.rrelu; Xu et al. 2015)
CT_API Variable rrelu(const Variable& x, double l = 1.0 / 8, double u = 1.0 / 3, const RReLUOptions& options = {});
/// relu(x) and relu(-x), joined along an axis. (chainer.functions.crelu; Shang et al. 2016)
CT_API Variable crelu(const Variable& x, int axis = 1);
/// log(1 + exp(beta * x)) / beta, computed without overflow. (chainer.functions.softplus)
CT_API Variable softplus(const Variable& x, double beta = 1.0);
/// x * sigmoid(beta * x). beta has the shape of x's axes from the second on, as many as it has. Throws ShapeError.
/// (chainer.functions.swish; Ramachandran, Zoph and Le 2017)
CT_API Variable swish(const Variable& x, const Variable& beta);
/// How gelu computes the normal distribution.
enum class GeluForm { erf, tanh };
/// x times the probability that a standard normal number is below x: x (1 + erf(x / sqrt(2))) / 2, or its approximation
/// x (1 + tanh(sqrt(2 / pi) (x + 0.044715 x^3))) / 2. 16-bit floats are computed in float32 and rounded once.
/// (torch.nn.functional.gelu; Hendrycks and Gimpel 2016)
CT_API Variable gelu(const Variable& x, GeluForm form = GeluForm::erf);
/// x sigmoid(x). 16-bit floats are computed in float32 and rounded once. (torch.nn.functional.silu; Elfwing, Uchibe and
/// Doya 2017)
CT_API Variable silu(const Variable& x);
/// silu(gate) x, of one shape. (Shazeer 2020; the two halves are given apart)
CT_API Variable swiglu(const Variable& gate, const Variable& x);
/// min(max(0.2 x + 0.5, 0), 1). (chainer.functions.hard_sigmoid)
CT_API Variable hard_sigmoid(const Variable& x);
/// The largest of each pool_size neighbours along an axis, whose extent becomes that much smaller. Throws ShapeError
/// when it is no multiple of pool_size and ValueError for pool_size < 1. (chainer.functions.maxout)
CT_API Variable maxout(const Variable& x, std::int64_t pool_size, int axis = 1);

}  // namespace catenary::functions
