#pragma once
// The optimizers of Chainer 7, with its names and default hyperparameters. Their formulas are in optimizers.cpp.
//
// Options have names: `Adam({.alpha = 3e-4, .beta2 = 0.95})`. Positional numbers are accepted only in an order that is
// common to all frameworks: the learning rate alone, MomentumSGD's rate and momentum, Adam's alpha, beta1, beta2 and
// eps.

#include "catenary/core/fields.h"
#include "catenary/optimizers/optimizer.h"

namespace catenary::optimizers {

/// Options of SGD.
struct SGDOptions {
  double lr = 0.01;  ///< learning rate
};
CT_FIELDS(SGDOptions, lr)
/// Stochastic gradient descent: x -= lr g.
class CT_API SGD : public Optimizer {
 public:
  explicit SGD(const SGDOptions& options = {});
  explicit SGD(double lr) : SGD({.lr = lr}) {}
  Hyper lr{*this, "lr"};
};

/// Options of MomentumSGD and CorrectedMomentumSGD.
struct MomentumSGDOptions {
  double lr = 0.01;       ///< learning rate
  double momentum = 0.9;  ///< the fraction of the last step's v that is kept, 0 to 1
};
CT_FIELDS(MomentumSGDOptions, lr, momentum)
/// SGD with momentum: v = momentum v - lr g; x += v.
class CT_API MomentumSGD : public Optimizer {
 public:
  explicit MomentumSGD(const MomentumSGDOptions& options = {});
  explicit MomentumSGD(double lr, double momentum = 0.9) : MomentumSGD({.lr = lr, .momentum = momentum}) {}
  Hyper lr{*this, "lr"}, momentum{*this, "momentum"};
};

/// Momentum in which a change of lr takes effect at once: v = momentum v - g; x += lr v.
class CT_API CorrectedMomentumSGD : public Optimizer {
 public:
  explicit CorrectedMomentumSGD(const MomentumSGDOptions& options = {});
  explicit CorrectedMomentumSGD(double lr, double momentum = 0.9)
      : CorrectedMomentumSGD({.lr = lr, .momentum = momentum}) {}
  Hyper lr{*this, "lr"}, momentum{*this, "momentum"};
};

/// Options of NesterovAG.
struct NesterovAGOptions {
  double lr = 0.01;        ///< learning rate
  double momentum = 0.9;   ///< the fraction of the last step's v that is kept, 0 to 1
  bool published = false;  ///< use the published formula, as PyTorch does, instead of Chainer's
};
CT_FIELDS(NesterovAGOptions, lr, momentum, published)
/// Nesterov's accelerated gradient. Chainer's formula is the default: v = momentum v - lr g; x += momentum² v - (1 +
/// momentum) lr g. The published formula (Bengio et al., arXiv:1212.0901, eq. 7) has the previous v there, so Chainer's
/// steps are shorter along v. `published` selects that formula: x += momentum v - lr g.
class CT_API NesterovAG : public Optimizer {
 public:
  explicit NesterovAG(const NesterovAGOptions& options = {});
  explicit NesterovAG(double lr, double momentum = 0.9) : NesterovAG({.lr = lr, .momentum = momentum}) {}
  Hyper lr{*this, "lr"}, momentum{*this, "momentum"};
};

/// Options of AdaGrad.
struct AdaGradOptions {
  double lr = 0.001;  ///< learning rate
  double eps = 1e-8;  ///< added to the root, avoids division by 0
};
CT_FIELDS(AdaGradOptions, lr, eps)
/// AdaGrad (Duchi et al., JMLR 12, 2011).
class CT_API AdaGrad : public Optimizer {
 public:
  explicit AdaGrad(const AdaGradOptions& options = {});
  explicit AdaGrad(double lr) : AdaGrad({.lr = lr}) {}
  Hyper lr{*this, "lr"}, eps{*this, "eps"};
};

/// Options of AdaDelta.
struct AdaDeltaOptions {
  double rho = 0.95;  ///< decay rate of the squares' averages, 0 to 1
  double eps = 1e-6;  ///< added to both squares, larger values make the first steps larger
};
CT_FIELDS(AdaDeltaOptions, rho, eps)
/// AdaDelta (Zeiler, arXiv:1212.5701). It has no learning rate, and torch's first argument is another one, so options
/// must be named.
class CT_API AdaDelta : public Optimizer {
 public:
  explicit AdaDelta(const AdaDeltaOptions& options = {});
  Hyper rho{*this, "rho"}, eps{*this, "eps"};
};

/// Options of RMSprop.
struct RMSpropOptions {
  double lr = 0.01;              ///< learning rate
  double alpha = 0.99;           ///< decay rate of the squares' average, 0 to 1
  double eps = 1e-8;             ///< avoids division by 0
  bool eps_inside_sqrt = false;  ///< add eps under the root instead of to the root
};
CT_FIELDS(RMSpropOptions, lr, alpha, eps, eps_inside_sqrt)
/// RMSprop (Tieleman and Hinton, 2012).
class CT_API RMSprop : public Optimizer {
 public:
  explicit RMSprop(const RMSpropOptions& options = {});
  explicit RMSprop(double lr) : RMSprop({.lr = lr}) {}
  Hyper lr{*this, "lr"}, alpha{*this, "alpha"}, eps{*this, "eps"}, eps_inside_sqrt{*this, "eps_inside_sqrt"};
};

/// Options of RMSpropGraves.
struct RMSpropGravesOptions {
  double lr = 1e-4;       ///< learning rate
  double alpha = 0.95;    ///< decay rate of the averages of gradients and squares, 0 to 1
  double momentum = 0.9;  ///< the fraction of the last step that is kept, 0 to 1
  double eps = 1e-4;      ///< added under the root
};
CT_FIELDS(RMSpropGravesOptions, lr, alpha, momentum, eps)
/// RMSprop as Alex Graves uses it (arXiv:1308.0850).
class CT_API RMSpropGraves : public Optimizer {
 public:
  explicit RMSpropGraves(const RMSpropGravesOptions& options = {});
  explicit RMSpropGraves(double lr) : RMSpropGraves({.lr = lr}) {}
  Hyper lr{*this, "lr"}, alpha{*this, "alpha"}, momentum{*this, "momentum"}, eps{*this, "eps"};
};

/// Options of SMORMS3.
struct SMORMS3Options {
  double lr = 0.001;   ///< the largest learning rate
  double eps = 1e-16;  ///< avoids division by 0
};
CT_FIELDS(SMORMS3Options, lr, eps)
/// Simon Funk's SMORMS3.
class CT_API SMORMS3 : public Optimizer {
 public:
  explicit SMORMS3(const SMORMS3Options& options = {});
  explicit SMORMS3(double lr) : SMORMS3({.lr = lr}) {}
  Hyper lr{*this, "lr"}, eps{*this, "eps"};
};

/// Options of MSVAG.
struct MSVAGOptions {
  double lr = 0.1;           ///< learning rate
  double beta = 0.9;         ///< decay rate of the averages of gradients and squares, 0 to 1
  double eta = 1.0;          ///< factor of the whole step, for schedules
  double chainer_decay = 0;  ///< x -= eta chainer_decay x in each step, without lr: Chainer's weight_decay_rate
};
CT_FIELDS(MSVAGOptions, lr, beta, eta, chainer_decay)
/// M-SVAG (Balles and Hennig, arXiv:1705.07774).
class CT_API MSVAG : public Optimizer {
 public:
  explicit MSVAG(const MSVAGOptions& options = {});
  explicit MSVAG(double lr) : MSVAG({.lr = lr}) {}
  Hyper lr{*this, "lr"}, beta{*this, "beta"}, eta{*this, "eta"}, chainer_decay{*this, "chainer_decay"};
};

/// Options of Adam.
struct AdamOptions {
  double alpha = 0.001;      ///< learning rate (torch's lr)
  double beta1 = 0.9;        ///< decay rate of the gradients' average, 0 to 1
  double beta2 = 0.999;      ///< decay rate of the squares' average, 0 to 1
  double eps = 1e-8;         ///< added to the root of the squares before bias correction
  double eta = 1.0;          ///< factor of the whole step, for schedules (not the learning rate)
  double chainer_decay = 0;  ///< x -= eta chainer_decay x in each step, without alpha: Chainer's weight_decay_rate
  bool amsgrad = false;      ///< use AMSGrad
  bool adabound = false;     ///< use AdaBound, with the two options below
  double final_lr = 0.1;     ///< AdaBound's final learning rate (scaled by alpha's change since the start)
  double gamma = 1e-3;       ///< how fast AdaBound's bounds tighten
};
CT_FIELDS(AdamOptions, alpha, beta1, beta2, eps, eta, chainer_decay, amsgrad, adabound, final_lr, gamma)

/// Adam (Kingma and Ba, arXiv:1412.6980), with options for AMSGrad (Reddi et al., ICLR 2018) and AdaBound (Luo et al.,
/// ICLR 2019). torch's Adam(weight_decay = d) is this optimizer with the hook WeightDecay(d).
class CT_API Adam : public Optimizer {
 public:
  explicit Adam(const AdamOptions& options = {});
  explicit Adam(double alpha, double beta1 = 0.9, double beta2 = 0.999, double eps = 1e-8)
      : Adam({.alpha = alpha, .beta1 = beta1, .beta2 = beta2, .eps = eps}) {}
  Hyper alpha{*this, "alpha"}, beta1{*this, "beta1"}, beta2{*this, "beta2"}, eps{*this, "eps"}, eta{*this, "eta"};
  /// Returns alpha with its bias correction in the last update. Throws ValueError before the first update.
  double alpha_t() const;
  double lr() const { return alpha_t(); }

 protected:
  Adam(const char* name, const AdamOptions& options, std::optional<double> weight_decay = {});
};

/// Options of AdamW.
struct AdamWOptions {
  double alpha = 0.001;                      ///< learning rate (torch's lr)
  double beta1 = 0.9;                        ///< decay rate of the gradients' average, 0 to 1
  double beta2 = 0.999;                      ///< decay rate of the squares' average, 0 to 1
  double eps = 1e-8;                         ///< added to the root of the squares before bias correction
  double eta = 1.0;                          ///< factor of the whole step and the decay, for schedules
  std::optional<double> weight_decay = {};   ///< x -= alpha eta weight_decay x in each step, 0.01 by default
  std::optional<double> chainer_decay = {};  ///< replaces weight_decay by x -= eta chainer_decay x, without alpha
  bool amsgrad = false;                      ///< the second moment never decreases
};
CT_FIELDS(AdamWOptions, alpha, beta1, beta2, eps, eta, weight_decay, chainer_decay, amsgrad)
/// Adam with decoupled weight decay (Loshchilov and Hutter, arXiv:1711.05101). The learning rate scales the decay, as
/// in torch: x -= eta (alpha_t m / (sqrt(v) + eps) + alpha weight_decay x). The paper's lambda is alpha weight_decay.
/// Use `.chainer_decay` for Chainer's eta weight_decay_rate x. Throws ValueError if both are given. Only the learning
/// rate may be positional, because Chainer and torch order the others differently.
class CT_API AdamW : public Adam {
 public:
  explicit AdamW(const AdamWOptions& options = {});
  explicit AdamW(double alpha) : AdamW({.alpha = alpha}) {}
  Hyper weight_decay{*this, "weight_decay"}, chainer_decay{*this, "chainer_decay"};
};

/// Options of AMSGrad.
struct AMSGradOptions {
  double alpha = 0.001;  ///< learning rate
  double beta1 = 0.9;    ///< decay rate of the gradients' average, 0 to 1
  double beta2 = 0.999;  ///< decay rate of the squares' average, 0 to 1
  double eps = 1e-8;     ///< added to the root of the squares before bias correction
  double eta = 1.0;      ///< factor of the whole step, for schedules
};
CT_FIELDS(AMSGradOptions, alpha, beta1, beta2, eps, eta)
/// Adam whose second moment never decreases.
class CT_API AMSGrad : public Adam {
 public:
  explicit AMSGrad(const AMSGradOptions& options = {});
  explicit AMSGrad(double alpha) : AMSGrad({.alpha = alpha}) {}
};

/// Options of AdaBound and AMSBound.
struct AdaBoundOptions {
  double alpha = 0.001;   ///< learning rate
  double beta1 = 0.9;     ///< decay rate of the gradients' average, 0 to 1
  double beta2 = 0.999;   ///< decay rate of the squares' average, 0 to 1
  double final_lr = 0.1;  ///< the final learning rate (scaled by alpha's change since the start)
  double gamma = 1e-3;    ///< how fast the bounds tighten
  double eps = 1e-8;      ///< added to the root of the squares before bias correction
  double eta = 1.0;       ///< factor of the whole step, for schedules
};
CT_FIELDS(AdaBoundOptions, alpha, beta1, beta2, final_lr, gamma, eps, eta)
/// Adam whose steps are bounded, more and more tightly, around final_lr.
class CT_API AdaBound : public Adam {
 public:
  explicit AdaBound(const AdaBoundOptions& options = {});
  explicit AdaBound(double alpha) : AdaBound({.alpha = alpha}) {}
  Hyper final_lr{*this, "final_lr"}, gamma{*this, "gamma"};
};
/// AMSGrad combined with AdaBound.
class CT_API AMSBound : public Adam {
 public:
  explicit AMSBound(const AdaBoundOptions& options = {});
  explicit AMSBound(double alpha) : AMSBound({.alpha = alpha}) {}
  Hyper final_lr{*this, "final_lr"}, gamma{*this, "gamma"};
};

}  // namespace catenary::optimizers

namespace catenary::optimizer_hooks {

/// g += rate x. While the hook is attached, the rate is a hyperparameter "weight_decay" of the optimizer, which
/// schedules and parameter groups can change.
class CT_API WeightDecay : public OptimizerHook {
 public:
  explicit WeightDecay(double rate) : rate(rate) {}
  const double rate;  ///< the initial rate
  std::string name() const override { return "WeightDecay"; }
  Hyperparameters::Values hyperparameters() const override { return {{"weight_decay", rate}}; }
  void operator()(const Optimizer& optimizer) override;
};

/// g += rate sign(x).
class CT_API Lasso : public OptimizerHook {
 public:
  explicit Lasso(double rate) : rate(rate) {}
  double rate;
  std::string name() const override { return "Lasso"; }
  Hyperparameters::Values numbers() const override { return {{"rate", rate}}; }
  void operator()(const Optimizer& optimizer) override;
};

/// Scales all gradients so that their joint L2 norm is at most `threshold`.
class CT_API GradientClipping : public OptimizerHook {
 public:
  explicit GradientClipping(double threshold) : threshold(threshold) {}
  double threshold;
  std::string name() const override { return "GradientClipping"; }
  Hyperparameters::Values numbers() const override { return {{"threshold", threshold}}; }
  void operator()(const Optimizer& optimizer) override;
};

/// Limits each element of each gradient to [lower_bound, upper_bound].
class CT_API GradientHardClipping : public OptimizerHook {
 public:
  GradientHardClipping(double lower_bound, double upper_bound) : lower_bound(lower_bound), upper_bound(upper_bound) {}
  double lower_bound, upper_bound;
  std::string name() const override { return "GradientHardClipping"; }
  Hyperparameters::Values numbers() const override {
    return {{"lower_bound", lower_bound}, {"upper_bound", upper_bound}};
  }
  void operator()(const Optimizer& optimizer) override;
};

/// Adds normal noise of variance eta / (1 + t)^0.55 to the gradients (Neelakantan et al., arXiv:1511.06807).
class CT_API GradientNoise : public OptimizerHook {
 public:
  explicit GradientNoise(double eta) : eta(eta) {}
  double eta;
  std::string name() const override { return "GradientNoise"; }
  Hyperparameters::Values numbers() const override { return {{"eta", eta}}; }
  void operator()(const Optimizer& optimizer) override;
};

/// Layer-wise rates: scales each gradient by the ratio of the norms of parameter and gradient (You et al.,
/// arXiv:1708.03888).
class CT_API GradientLARS : public OptimizerHook {
 public:
  explicit GradientLARS(double threshold = 1e-2, double weight_decay = 0, double eps = 1e-9)
      : threshold(threshold), weight_decay(weight_decay), eps(eps) {}
  double threshold, weight_decay, eps;
  std::string name() const override { return "GradientLARS"; }
  Hyperparameters::Values numbers() const override {
    return {{"threshold", threshold}, {"weight_decay", weight_decay}, {"eps", eps}};
  }
  void operator()(const Optimizer& optimizer) override;
};

}  // namespace catenary::optimizer_hooks
