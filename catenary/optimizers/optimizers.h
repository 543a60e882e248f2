#pragma once
// The optimizers of Chainer 7, with its names and default hyperparameters. Each is its formula in optimizers.cpp.

#include "catenary/optimizers/optimizer.h"

namespace catenary::optimizers {

/// Stochastic gradient descent: x -= lr g.
class CT_API SGD : public Optimizer {
 public:
  explicit SGD(double lr = 0.01);
  Hyper lr{*this, "lr"};
};

/// SGD with momentum: v = momentum v - lr g; x += v.
class CT_API MomentumSGD : public Optimizer {
 public:
  explicit MomentumSGD(double lr = 0.01, double momentum = 0.9);
  Hyper lr{*this, "lr"}, momentum{*this, "momentum"};
};

/// Momentum in which a change of lr takes effect at once: v = momentum v - g; x += lr v.
class CT_API CorrectedMomentumSGD : public Optimizer {
 public:
  explicit CorrectedMomentumSGD(double lr = 0.01, double momentum = 0.9);
  Hyper lr{*this, "lr"}, momentum{*this, "momentum"};
};

/// Nesterov's accelerated gradient (Bengio et al., arXiv:1212.0901).
class CT_API NesterovAG : public Optimizer {
 public:
  explicit NesterovAG(double lr = 0.01, double momentum = 0.9);
  Hyper lr{*this, "lr"}, momentum{*this, "momentum"};
};

/// AdaGrad (Duchi et al., JMLR 12, 2011).
class CT_API AdaGrad : public Optimizer {
 public:
  explicit AdaGrad(double lr = 0.001, double eps = 1e-8);
  Hyper lr{*this, "lr"}, eps{*this, "eps"};
};

/// AdaDelta (Zeiler, arXiv:1212.5701).
class CT_API AdaDelta : public Optimizer {
 public:
  explicit AdaDelta(double rho = 0.95, double eps = 1e-6);
  Hyper rho{*this, "rho"}, eps{*this, "eps"};
};

/// RMSprop (Tieleman and Hinton, 2012).
class CT_API RMSprop : public Optimizer {
 public:
  explicit RMSprop(double lr = 0.01, double alpha = 0.99, double eps = 1e-8, bool eps_inside_sqrt = false);
  Hyper lr{*this, "lr"}, alpha{*this, "alpha"}, eps{*this, "eps"}, eps_inside_sqrt{*this, "eps_inside_sqrt"};
};

/// RMSprop as Alex Graves uses it (arXiv:1308.0850).
class CT_API RMSpropGraves : public Optimizer {
 public:
  explicit RMSpropGraves(double lr = 1e-4, double alpha = 0.95, double momentum = 0.9, double eps = 1e-4);
  Hyper lr{*this, "lr"}, alpha{*this, "alpha"}, momentum{*this, "momentum"}, eps{*this, "eps"};
};

/// Simon Funk's SMORMS3.
class CT_API SMORMS3 : public Optimizer {
 public:
  explicit SMORMS3(double lr = 0.001, double eps = 1e-16);
  Hyper lr{*this, "lr"}, eps{*this, "eps"};
};

/// M-SVAG (Balles and Hennig, arXiv:1705.07774).
class CT_API MSVAG : public Optimizer {
 public:
  explicit MSVAG(double lr = 0.1, double beta = 0.9, double eta = 1.0, double weight_decay_rate = 0);
  Hyper lr{*this, "lr"}, beta{*this, "beta"}, eta{*this, "eta"}, weight_decay_rate{*this, "weight_decay_rate"};
};

/// Hyperparameters of the Adam family.
struct AdamOptions {
  double alpha = 0.001;
  double beta1 = 0.9;
  double beta2 = 0.999;
  double eps = 1e-8;
  double eta = 1.0;
  double weight_decay_rate = 0;
  bool amsgrad = false;
  bool adabound = false;
  double final_lr = 0.1;
  double gamma = 1e-3;
};

/// Adam (Kingma and Ba, arXiv:1412.6980), and with its options AdamW (arXiv:1711.05101), AMSGrad (Reddi et al., ICLR
/// 2018) and AdaBound (Luo et al., ICLR 2019).
class CT_API Adam : public Optimizer {
 public:
  explicit Adam(double alpha = 0.001, double beta1 = 0.9, double beta2 = 0.999, double eps = 1e-8);
  explicit Adam(const AdamOptions& options);
  Hyper alpha{*this, "alpha"}, beta1{*this, "beta1"}, beta2{*this, "beta2"}, eps{*this, "eps"}, eta{*this, "eta"},
      weight_decay_rate{*this, "weight_decay_rate"}, final_lr{*this, "final_lr"}, gamma{*this, "gamma"};
  /// alpha with its bias correction, as of the last update. Throws ValueError before the first.
  double alpha_t() const;
  double lr() const { return alpha_t(); }

 protected:
  Adam(const char* name, const AdamOptions& options);
};

/// Adam with decoupled weight decay.
class CT_API AdamW : public Adam {
 public:
  explicit AdamW(double alpha = 0.001, double beta1 = 0.9, double beta2 = 0.999, double eps = 1e-8, double eta = 1.0,
                 double weight_decay_rate = 0);
};
/// Adam whose second moment never falls.
class CT_API AMSGrad : public Adam {
 public:
  explicit AMSGrad(double alpha = 0.001, double beta1 = 0.9, double beta2 = 0.999, double eps = 1e-8, double eta = 1.0);
};
/// Adam whose steps are bounded, more and more tightly, around final_lr.
class CT_API AdaBound : public Adam {
 public:
  explicit AdaBound(double alpha = 0.001, double beta1 = 0.9, double beta2 = 0.999, double final_lr = 0.1,
                    double gamma = 1e-3, double eps = 1e-8, double eta = 1.0);
};
/// AMSGrad and AdaBound together.
class CT_API AMSBound : public Adam {
 public:
  explicit AMSBound(double alpha = 0.001, double beta1 = 0.9, double beta2 = 0.999, double final_lr = 0.1,
                    double gamma = 1e-3, double eps = 1e-8, double eta = 1.0);
};

}  // namespace catenary::optimizers

namespace catenary::optimizer_hooks {

/// g += rate x.
class CT_API WeightDecay : public OptimizerHook {
 public:
  explicit WeightDecay(double rate) : rate(rate) {}
  double rate;
  std::string name() const override { return "WeightDecay"; }
  void operator()(const Optimizer& optimizer) override;
};

/// g += rate sign(x).
class CT_API Lasso : public OptimizerHook {
 public:
  explicit Lasso(double rate) : rate(rate) {}
  double rate;
  std::string name() const override { return "Lasso"; }
  void operator()(const Optimizer& optimizer) override;
};

/// Scales all gradients so that their joint L2 norm is at most `threshold`.
class CT_API GradientClipping : public OptimizerHook {
 public:
  explicit GradientClipping(double threshold) : threshold(threshold) {}
  double threshold;
  std::string name() const override { return "GradientClipping"; }
  void operator()(const Optimizer& optimizer) override;
};

/// Clips each element of each gradient.
class CT_API GradientHardClipping : public OptimizerHook {
 public:
  GradientHardClipping(double lower_bound, double upper_bound) : lower_bound(lower_bound), upper_bound(upper_bound) {}
  double lower_bound, upper_bound;
  std::string name() const override { return "GradientHardClipping"; }
  void operator()(const Optimizer& optimizer) override;
};

/// Adds normal noise of variance eta / (1 + t)^0.55 to the gradients (Neelakantan et al., arXiv:1511.06807).
class CT_API GradientNoise : public OptimizerHook {
 public:
  explicit GradientNoise(double eta) : eta(eta) {}
  double eta;
  std::string name() const override { return "GradientNoise"; }
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
  void operator()(const Optimizer& optimizer) override;
};

}  // namespace catenary::optimizer_hooks
