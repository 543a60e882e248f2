#include "catenary/optimizers/optimizers.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <map>

#include "catenary/array/axes.h"
#include "catenary/array/elementwise_core.h"
#include "catenary/array/lazy.h"
#include "catenary/array/random.h"
#include "catenary/array/reduction.h"
#include "catenary/core/error.h"

namespace catenary::optimizers {

namespace {

/// Converts options to hyperparameters.
template <class Options>
std::vector<std::pair<std::string, double>> numbers_of(const Options& options) {
  std::vector<std::pair<std::string, double>> all;
  visit_fields(options, [&](const std::string& name, double value) { all.emplace_back(name, value); });
  return all;
}

}  // namespace

// Each constructor defines the rule: its name, state, hyperparameters and formula. `h` is the step.

SGD::SGD(const SGDOptions& o)
    : Optimizer({"SGD", {}, numbers_of(o), [](const UpdateStep& h) { h.x -= h("lr") * h.g; }}) {}

MomentumSGD::MomentumSGD(const MomentumSGDOptions& o)
    : Optimizer({"MomentumSGD", {"v"}, numbers_of(o), [](const UpdateStep& h) {
                   copyto(h["v"], h("momentum") * h["v"] - h("lr") * h.g);
                   h.x += h["v"];
                 }}) {}

CorrectedMomentumSGD::CorrectedMomentumSGD(const MomentumSGDOptions& o)
    : Optimizer({"CorrectedMomentumSGD", {"v"}, numbers_of(o), [](const UpdateStep& h) {
                   copyto(h["v"], h("momentum") * h["v"] - h.g);
                   h.x += h("lr") * h["v"];
                 }}) {}

NesterovAG::NesterovAG(const NesterovAGOptions& o)
    : Optimizer({"NesterovAG",
                 {"v"},
                 {{"lr", o.lr}, {"momentum", o.momentum}},
                 [published = o.published](const UpdateStep& h) {
                   const double mu = h("momentum"), rate = h("lr");
                   copyto(h["v"], mu * h["v"] - rate * h.g);
                   h.x += published ? mu * h["v"] - rate * h.g : mu * mu * h["v"] - (1 + mu) * rate * h.g;
                 }}) {}

AdaGrad::AdaGrad(const AdaGradOptions& o)
    : Optimizer({"AdaGrad", {"h"}, numbers_of(o), [](const UpdateStep& h) {
                   h["h"] += h.g * h.g;
                   h.x -= h("lr") * h.g / (sqrt(h["h"]) + h("eps"));
                 }}) {}

AdaDelta::AdaDelta(const AdaDeltaOptions& o)
    : Optimizer({"AdaDelta", {"msg", "msdx"}, numbers_of(o), [](const UpdateStep& h) {
                   const Array &msg = h["msg"], &msdx = h["msdx"];
                   const double rho = h("rho"), eps = h("eps");
                   copyto(msg, rho * msg + (1 - rho) * h.g * h.g);
                   const Array dx = sqrt((msdx + eps) / (msg + eps)) * h.g;
                   copyto(msdx, rho * msdx + (1 - rho) * dx * dx);
                   h.x -= dx;
                 }}) {}

RMSprop::RMSprop(const RMSpropOptions& o)
    : Optimizer({"RMSprop", {"ms"}, numbers_of(o), [](const UpdateStep& h) {
                   const Array& ms = h["ms"];
                   const double alpha = h("alpha"), eps = h("eps");
                   copyto(ms, alpha * ms + (1 - alpha) * h.g * h.g);
                   h.x -= h("lr") * h.g / (h("eps_inside_sqrt") != 0 ? sqrt(ms + eps) : sqrt(ms) + eps);
                 }}) {}

RMSpropGraves::RMSpropGraves(const RMSpropGravesOptions& o)
    : Optimizer({"RMSpropGraves", {"n", "g", "delta"}, numbers_of(o), [](const UpdateStep& h) {
                   const Array &n = h["n"], &g = h["g"], &delta = h["delta"];
                   const double alpha = h("alpha");
                   copyto(n, alpha * n + (1 - alpha) * h.g * h.g);
                   copyto(g, alpha * g + (1 - alpha) * h.g);
                   copyto(delta, h("momentum") * delta - h("lr") * h.g / sqrt(n - g * g + h("eps")));
                   h.x += delta;
                 }}) {}

SMORMS3::SMORMS3(const SMORMS3Options& o)
    : Optimizer({"SMORMS3", {{"mem", 1}, "g", "g2"}, numbers_of(o), [](const UpdateStep& h) {
                   const Array &mem = h["mem"], &g = h["g"], &g2 = h["g2"];
                   const double eps = h("eps");
                   const Array r = 1 / (mem + 1);
                   copyto(g, (1 - r) * g + r * h.g);
                   copyto(g2, (1 - r) * g2 + r * h.g * h.g);
                   const Array x = g * g / (g2 + eps);
                   h.x -= h.g * minimum(x, h("lr")) / (sqrt(g2) + eps);
                   copyto(mem, 1 + mem * (1 - x));
                 }}) {}

MSVAG::MSVAG(const MSVAGOptions& o)
    : Optimizer({"MSVAG",
                 {"m", "v"},
                 numbers_of(o),
                 [](const UpdateStep& h) {
                   const Array &m = h["m"], &v = h["v"];
                   const double beta = h("beta");
                   const Number &rho = h.number("rho"), &bias = h.number("bias");
                   m += (1 - beta) * (h.g - m);
                   v += (1 - beta) * (h.g * h.g - v);
                   const Array mt = divide(m, bias), mt2 = mt * mt;
                   const Array s = divide(divide(v, bias) - mt2, h.number("1 - rho"));
                   const Array ratio = mt2 / (mt2 + multiply(rho, s));
                   const Array factor = where(isnan(ratio), 0, minimum(maximum(ratio, 0), 1));
                   h.x -= h("eta") * (h("lr") * mt * factor + h("chainer_decay") * h.x);
                 },
                 [](const UpdateNumbers& h) -> std::vector<std::pair<std::string, Number>> {
                   const double beta = h("beta");
                   const Number bias = one_minus_power(beta, h.t);
                   const Number rho = minimum(
                       (1 - beta) * (1 - beta) * one_minus_power(beta, 2 * h.t) / (bias * bias * (1 - beta * beta)),
                       0.9999);
                   // a separate formula avoids cancellation in 1 - rho; at least 1 - 0.9999
                   const Number minus_rest =
                       minimum(-2 * beta * one_minus_power(beta, h.t - 1) / ((1 + beta) * bias), 0.9999 - 1);
                   return {{"bias", bias}, {"rho", rho}, {"1 - rho", 0 - minus_rest}};
                 }}) {}

namespace {

/// The differences between the optimizers of Adam's family.
struct AdamForm {
  bool amsgrad, adabound, decoupled;
  double first_alpha;
};

void adam_step(const UpdateStep& h, const AdamForm& form) {
  const Array &m = h["m"], &v = h["v"];
  m += (1 - h("beta1")) * (h.g - m);
  v += (1 - h("beta2")) * (h.g * h.g - v);
  Array second = v;
  if (form.amsgrad) {
    second = h["vhat"];
    copyto(second, maximum(second, v));
  }
  Array step = divide(h.number("rate"), sqrt(second) + h("eps"));
  if (form.adabound) step = minimum(maximum(step, h.number("lower")), h.number("upper"));
  const double eta = h("eta");
  const double decay = h("chainer_decay") + (form.decoupled ? h("alpha") * h("weight_decay") : 0);
  Array change = step * m;
  // a separate term: in float32, 1 - decay is 1 if the decay is below 3e-8
  if (decay != 0) change = change + decay * h.x;
  h.x -= eta == 1 ? change : eta * change;
}

std::vector<std::pair<std::string, Number>> adam_numbers(const UpdateNumbers& h, const AdamForm& form) {
  std::vector<std::pair<std::string, Number>> numbers = {{"rate", h.hyperparam.learning_rate(h.t)}};
  if (!form.adabound) return numbers;
  // final_lr follows changes of alpha
  const double final_lr = h("final_lr") * h("alpha") / form.first_alpha, gamma = h("gamma");
  // equals 1 - 1 / (gamma t + 1), without cancellation
  numbers.emplace_back("lower", final_lr * (gamma * h.t / (gamma * h.t + 1)));
  numbers.emplace_back("upper", final_lr * (1 + 1 / (gamma * h.t)));
  return numbers;
}

OptimizerRule adam_rule(const char* name, const AdamOptions& o, std::optional<double> weight_decay) {
  OptimizerRule rule{name, {"m", "v"}, {{"alpha", o.alpha}, {"beta1", o.beta1}, {"beta2", o.beta2}, {"eps", o.eps}}};
  const auto have = [&](const char* hyperparameter, double value) {
    rule.hyperparameters.emplace_back(hyperparameter, value);
  };
  have("eta", o.eta);
  if (weight_decay) have("weight_decay", *weight_decay);
  have("chainer_decay", o.chainer_decay);
  if (o.amsgrad) rule.state.emplace_back("vhat");
  if (o.adabound) {
    have("final_lr", o.final_lr);
    have("gamma", o.gamma);
  }
  const AdamForm form{o.amsgrad, o.adabound, weight_decay.has_value(), o.alpha};
  rule.step = [form](const UpdateStep& h) { adam_step(h, form); };
  rule.numbers = [form](const UpdateNumbers& h) { return adam_numbers(h, form); };
  return rule;
}

/// The decay that AdamW scales by its learning rate.
double scaled_decay(const AdamWOptions& o) {
  if (o.weight_decay && o.chainer_decay)
    throw ValueError("AdamW: give either weight_decay (scaled by the rate) or chainer_decay (not scaled), not both");
  return o.chainer_decay ? 0 : o.weight_decay.value_or(0.01);
}

}  // namespace

Adam::Adam(const char* name, const AdamOptions& options, std::optional<double> weight_decay)
    : Optimizer(adam_rule(name, options, weight_decay)) {}

Adam::Adam(const AdamOptions& options) : Adam("Adam", options) {}

double Adam::alpha_t() const {
  if (t() == 0) throw ValueError("Adam: the learning rate is not known before the first update");
  return learning_rate();
}

AdamW::AdamW(const AdamWOptions& o)
    : Adam("AdamW",
           {.alpha = o.alpha,
            .beta1 = o.beta1,
            .beta2 = o.beta2,
            .eps = o.eps,
            .eta = o.eta,
            .chainer_decay = o.chainer_decay.value_or(0),
            .amsgrad = o.amsgrad},
           scaled_decay(o)) {}

AMSGrad::AMSGrad(const AMSGradOptions& o)
    : Adam("AMSGrad",
           {.alpha = o.alpha, .beta1 = o.beta1, .beta2 = o.beta2, .eps = o.eps, .eta = o.eta, .amsgrad = true}) {}

namespace {

AdamOptions bounded(const AdaBoundOptions& o, bool amsgrad) {
  return {.alpha = o.alpha,
          .beta1 = o.beta1,
          .beta2 = o.beta2,
          .eps = o.eps,
          .eta = o.eta,
          .amsgrad = amsgrad,
          .adabound = true,
          .final_lr = o.final_lr,
          .gamma = o.gamma};
}

}  // namespace

AdaBound::AdaBound(const AdaBoundOptions& options) : Adam("AdaBound", bounded(options, false)) {}
AMSBound::AMSBound(const AdaBoundOptions& options) : Adam("AMSBound", bounded(options, true)) {}

}  // namespace catenary::optimizers

namespace catenary::optimizer_hooks {

namespace {

/// Casts x to the dtype for computing with the gradient. 16-bit parameters may have float32 gradients here, whose
/// precision should be kept.
Array beside(const Array& gradient, const Array& x) { return catenary::detail::as_dtype(x, gradient.dtype()); }

/// In float32 for 16-bit x, because squares overflow float16 soon.
Array sum_of_squares(const Array& x) {
  return sum(square(catenary::detail::as_dtype(x, promote(x.dtype(), Dtype::float32))));
}

/// Gradients with their parameters, grouped for single programs.
std::vector<std::vector<Array>> pairs(const Optimizer& optimizer) {
  std::vector<std::vector<Array>> all;
  for (const Parameter& p : optimizer.target().link().params(false))
    if (p.grad().defined()) all.push_back({p.grad(), p.array()});
  return all;
}

}  // namespace

void WeightDecay::operator()(const Optimizer& optimizer) {
  std::map<std::uint64_t, std::vector<std::vector<Array>>> by_rate;  // keyed by bits, so that NaN works
  for (const Parameter& p : optimizer.target().link().params(false))
    if (p.grad().defined())
      by_rate[std::bit_cast<std::uint64_t>(optimizer.hyperparameter(p, "weight_decay"))].push_back(
          {p.grad(), p.array()});
  for (const auto& [bits, arrays] : by_rate)
    if (const double of_these = std::bit_cast<double>(bits); of_these != 0)
      lazy::for_each_segment(arrays, [&](const std::vector<Array>& a) { a[0] += of_these * beside(a[0], a[1]); });
}

void Lasso::operator()(const Optimizer& optimizer) {
  lazy::for_each_segment(pairs(optimizer),
                         [&](const std::vector<Array>& a) { a[0] += rate * sign(beside(a[0], a[1])); });
}

void GradientClipping::operator()(const Optimizer& optimizer) {
  Array total;
  const auto all = pairs(optimizer);
  for (const auto& a : all) {
    const Array squares = sum_of_squares(a[0]);
    total = total.defined() ? total + squares : squares;
  }
  if (!total.defined()) return;
  // keep the rate on the device, so that the host does not wait
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
    const Array norm_x = sqrt(sum_of_squares(a[1])), norm_g = sqrt(sum_of_squares(a[0]));
    const Array rate = where(norm_x > threshold, norm_x / (eps + norm_g + weight_decay * norm_x), 1.0);
    copyto(a[0], (a[0] + weight_decay * beside(a[0], a[1])) * rate);
  }
}

}  // namespace catenary::optimizer_hooks
