#include "catenary/optimizers/optimizers.h"

#include <algorithm>
#include <cmath>

#include "catenary/array/elementwise_core.h"
#include "catenary/array/lazy.h"
#include "catenary/array/random.h"
#include "catenary/array/reduction.h"
#include "catenary/core/error.h"

namespace catenary::optimizers {

// Each constructor gives the rule: its name, its state, its hyperparameters and the formula, where `h` is the step.

SGD::SGD(double lr0) : Optimizer({"SGD", {}, {{"lr", lr0}}, [](const UpdateStep& h) { h.x -= h("lr") * h.g; }}) {}

MomentumSGD::MomentumSGD(double lr0, double momentum0)
    : Optimizer({"MomentumSGD", {"v"}, {{"lr", lr0}, {"momentum", momentum0}}, [](const UpdateStep& h) {
                   copyto(h["v"], h("momentum") * h["v"] - h("lr") * h.g);
                   h.x += h["v"];
                 }}) {}

CorrectedMomentumSGD::CorrectedMomentumSGD(double lr0, double momentum0)
    : Optimizer({"CorrectedMomentumSGD", {"v"}, {{"lr", lr0}, {"momentum", momentum0}}, [](const UpdateStep& h) {
                   copyto(h["v"], h("momentum") * h["v"] - h.g);
                   h.x += h("lr") * h["v"];
                 }}) {}

NesterovAG::NesterovAG(double lr0, double momentum0)
    : Optimizer({"NesterovAG", {"v"}, {{"lr", lr0}, {"momentum", momentum0}}, [](const UpdateStep& h) {
                   const double mu = h("momentum"), rate = h("lr");
                   copyto(h["v"], mu * h["v"] - rate * h.g);
                   h.x += mu * mu * h["v"] - (1 + mu) * rate * h.g;
                 }}) {}

AdaGrad::AdaGrad(double lr0, double eps0)
    : Optimizer({"AdaGrad", {"h"}, {{"lr", lr0}, {"eps", eps0}}, [](const UpdateStep& h) {
                   h["h"] += h.g * h.g;
                   h.x -= h("lr") * h.g / (sqrt(h["h"]) + h("eps"));
                 }}) {}

AdaDelta::AdaDelta(double rho0, double eps0)
    : Optimizer({"AdaDelta", {"msg", "msdx"}, {{"rho", rho0}, {"eps", eps0}}, [](const UpdateStep& h) {
                   const Array &msg = h["msg"], &msdx = h["msdx"];
                   const double rho = h("rho"), eps = h("eps");
                   copyto(msg, rho * msg + (1 - rho) * h.g * h.g);
                   const Array dx = sqrt((msdx + eps) / (msg + eps)) * h.g;
                   copyto(msdx, rho * msdx + (1 - rho) * dx * dx);
                   h.x -= dx;
                 }}) {}

RMSprop::RMSprop(double lr0, double alpha0, double eps0, bool inside)
    : Optimizer({"RMSprop",
                 {"ms"},
                 {{"lr", lr0}, {"alpha", alpha0}, {"eps", eps0}, {"eps_inside_sqrt", inside}},
                 [](const UpdateStep& h) {
                   const Array& ms = h["ms"];
                   const double alpha = h("alpha"), eps = h("eps");
                   copyto(ms, alpha * ms + (1 - alpha) * h.g * h.g);
                   h.x -= h("lr") * h.g / (h("eps_inside_sqrt") != 0 ? sqrt(ms + eps) : sqrt(ms) + eps);
                 }}) {}

RMSpropGraves::RMSpropGraves(double lr0, double alpha0, double momentum0, double eps0)
    : Optimizer({"RMSpropGraves",
                 {"n", "g", "delta"},
                 {{"lr", lr0}, {"alpha", alpha0}, {"momentum", momentum0}, {"eps", eps0}},
                 [](const UpdateStep& h) {
                   const Array &n = h["n"], &g = h["g"], &delta = h["delta"];
                   const double alpha = h("alpha");
                   copyto(n, alpha * n + (1 - alpha) * h.g * h.g);
                   copyto(g, alpha * g + (1 - alpha) * h.g);
                   copyto(delta, h("momentum") * delta - h("lr") * h.g / sqrt(n - g * g + h("eps")));
                   h.x += delta;
                 }}) {}

SMORMS3::SMORMS3(double lr0, double eps0)
    : Optimizer({"SMORMS3", {{"mem", 1}, "g", "g2"}, {{"lr", lr0}, {"eps", eps0}}, [](const UpdateStep& h) {
                   const Array &mem = h["mem"], &g = h["g"], &g2 = h["g2"];
                   const double eps = h("eps");
                   const Array r = 1 / (mem + 1);
                   copyto(g, (1 - r) * g + r * h.g);
                   copyto(g2, (1 - r) * g2 + r * h.g * h.g);
                   const Array x = g * g / (g2 + eps);
                   h.x -= h.g * minimum(x, h("lr")) / (sqrt(g2) + eps);
                   copyto(mem, 1 + mem * (1 - x));
                 }}) {}

MSVAG::MSVAG(double lr0, double beta0, double eta0, double decay0)
    : Optimizer({"MSVAG",
                 {"m", "v"},
                 {{"lr", lr0}, {"beta", beta0}, {"eta", eta0}, {"weight_decay_rate", decay0}},
                 [](const UpdateStep& h) {
                   const Array &m = h["m"], &v = h["v"];
                   const double beta = h("beta"), power = std::pow(beta, static_cast<double>(h.t));
                   const double rho = std::min(
                       (1 - beta) * (1 - beta) * (1 - power * power) / ((1 - power) * (1 - power) * (1 - beta * beta)),
                       0.9999);
                   m += (1 - beta) * (h.g - m);
                   v += (1 - beta) * (h.g * h.g - v);
                   const Array mt = m / (1 - power), mt2 = mt * mt;
                   const Array s = (v / (1 - power) - mt2) / (1 - rho);
                   const Array ratio = mt2 / (mt2 + rho * s);
                   const Array factor = where(isnan(ratio), 0, minimum(maximum(ratio, 0), 1));
                   h.x -= h("eta") * (h("lr") * mt * factor + h("weight_decay_rate") * h.x);
                 }}) {}

namespace {

void adam_step(const UpdateStep& h, const AdamOptions& options) {
  const Array &m = h["m"], &v = h["v"];
  m += (1 - h("beta1")) * (h.g - m);
  v += (1 - h("beta2")) * (h.g * h.g - v);
  Array second = v;
  if (options.amsgrad) {
    second = h["vhat"];
    copyto(second, maximum(second, v));
  }
  Array step = h.hyperparam.learning_rate(h.t) / (sqrt(second) + h("eps"));
  if (options.adabound) {
    // final_lr follows changes of alpha
    const double final_lr = h("final_lr") * h("alpha") / options.alpha, gamma = h("gamma"),
                 t = static_cast<double>(h.t);
    step = minimum(maximum(step, final_lr * (1 - 1 / (gamma * t + 1))), final_lr * (1 + 1 / (gamma * t)));
  }
  const double eta = h("eta"), decay = h("weight_decay_rate");
  const Array change = eta == 1 ? step * m : eta * (step * m);
  if (decay == 0) {
    h.x -= change;
  } else {
    copyto(h.x, (1 - eta * decay) * h.x - change);
  }
}

}  // namespace

Adam::Adam(const char* name, const AdamOptions& options)
    : Optimizer(
          {name,
           options.amsgrad ? std::vector<OptimizerState>{"m", "v", "vhat"} : std::vector<OptimizerState>{"m", "v"},
           {{"alpha", options.alpha},
            {"beta1", options.beta1},
            {"beta2", options.beta2},
            {"eps", options.eps},
            {"eta", options.eta},
            {"weight_decay_rate", options.weight_decay_rate},
            {"final_lr", options.final_lr},
            {"gamma", options.gamma}},
           [options](const UpdateStep& h) { adam_step(h, options); }}) {}

Adam::Adam(const AdamOptions& options) : Adam("Adam", options) {}
Adam::Adam(double alpha0, double beta10, double beta20, double eps0)
    : Adam(AdamOptions{.alpha = alpha0, .beta1 = beta10, .beta2 = beta20, .eps = eps0}) {}

double Adam::alpha_t() const {
  if (t() == 0) throw ValueError("Adam: the learning rate is not known before the first update");
  return learning_rate();
}

AdamW::AdamW(double alpha0, double beta10, double beta20, double eps0, double eta0, double decay0)
    : Adam("AdamW",
           {.alpha = alpha0, .beta1 = beta10, .beta2 = beta20, .eps = eps0, .eta = eta0, .weight_decay_rate = decay0}) {
}
AMSGrad::AMSGrad(double alpha0, double beta10, double beta20, double eps0, double eta0)
    : Adam("AMSGrad", {.alpha = alpha0, .beta1 = beta10, .beta2 = beta20, .eps = eps0, .eta = eta0, .amsgrad = true}) {}
AdaBound::AdaBound(double alpha0, double beta10, double beta20, double final0, double gamma0, double eps0, double eta0)
    : Adam("AdaBound", {.alpha = alpha0,
                        .beta1 = beta10,
                        .beta2 = beta20,
                        .eps = eps0,
                        .eta = eta0,
                        .adabound = true,
                        .final_lr = final0,
                        .gamma = gamma0}) {}
AMSBound::AMSBound(double alpha0, double beta10, double beta20, double final0, double gamma0, double eps0, double eta0)
    : Adam("AMSBound", {.alpha = alpha0,
                        .beta1 = beta10,
                        .beta2 = beta20,
                        .eps = eps0,
                        .eta = eta0,
                        .amsgrad = true,
                        .adabound = true,
                        .final_lr = final0,
                        .gamma = gamma0}) {}

}  // namespace catenary::optimizers

namespace catenary::optimizer_hooks {

namespace {

/// Gradients and parameters that have both, grouped for one program.
std::vector<std::vector<Array>> pairs(const Optimizer& optimizer) {
  std::vector<std::vector<Array>> all;
  for (const Parameter& p : optimizer.target().link().params(false))
    if (p.grad().defined()) all.push_back({p.grad(), p.array()});
  return all;
}

}  // namespace

void WeightDecay::operator()(const Optimizer& optimizer) {
  lazy::for_each_segment(pairs(optimizer), [&](const std::vector<Array>& a) { a[0] += rate * a[1]; });
}

void Lasso::operator()(const Optimizer& optimizer) {
  lazy::for_each_segment(pairs(optimizer), [&](const std::vector<Array>& a) { a[0] += rate * sign(a[1]); });
}

void GradientClipping::operator()(const Optimizer& optimizer) {
  Array total;
  const auto all = pairs(optimizer);
  for (const auto& a : all) {
    const Array squares = sum(square(a[0]));
    total = total.defined() ? total + squares : squares;
  }
  if (!total.defined()) return;
  // the rate stays on the device: nobody waits for it
  const Array rate = minimum(threshold / sqrt(total), 1);
  for (const auto& a : all) a[0] *= rate;
}

void GradientHardClipping::operator()(const Optimizer& optimizer) {
  lazy::for_each_segment(pairs(optimizer), [&](const std::vector<Array>& a) {
    copyto(a[0], minimum(maximum(a[0], lower_bound), upper_bound));
  });
}

void GradientNoise::operator()(const Optimizer& optimizer) {
  const double deviation = std::sqrt(eta / std::pow(1.0 + static_cast<double>(optimizer.t()), 0.55));
  for (const auto& a : pairs(optimizer))
    a[0] += random::normal(0, deviation, a[0].shape(), {.dtype = a[0].dtype(), .device = a[0].device()});
}

void GradientLARS::operator()(const Optimizer& optimizer) {
  for (const auto& a : pairs(optimizer)) {
    const Array norm_x = sqrt(sum(square(a[1]))), norm_g = sqrt(sum(square(a[0])));
    const Array rate = where(norm_x > threshold, norm_x / (eps + norm_g + weight_decay * norm_x), 1.0);
    copyto(a[0], (a[0] + weight_decay * a[1]) * rate);
  }
}

}  // namespace catenary::optimizer_hooks
