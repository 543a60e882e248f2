#include "chainer_optimizers.h"

#include <map>
#include <memory>

#include "catenary/links/link.h"
#include "catenary/optimizers/optimizers.h"
#include "chainer_arrays.h"

namespace reference {

namespace ct = catenary;
namespace O = catenary::optimizers;
namespace H = catenary::optimizer_hooks;
using ct::Optimizer;
using nlohmann::json;

namespace {

constexpr Tolerance kDoubleSteps = {1e-9, 1e-11};
constexpr Tolerance kSingleSteps = {1e-4, 1e-5};
/// MSVAG's first step divides the difference of two nearly equal numbers by 1e-4.
constexpr Tolerance kSingleMSVAG = {1e-3, 1e-3};

template <class T>
Optimizer make() {
  return T();
}

/// With Chainer's default hyperparameters.
Optimizer make_optimizer(const std::string& name) {
  static const std::map<std::string, Optimizer (*)()> makers = {
      {"SGD", make<O::SGD>},
      {"MomentumSGD", make<O::MomentumSGD>},
      {"CorrectedMomentumSGD", make<O::CorrectedMomentumSGD>},
      {"NesterovAG", make<O::NesterovAG>},
      {"AdaGrad", make<O::AdaGrad>},
      {"AdaDelta", make<O::AdaDelta>},
      {"RMSprop", make<O::RMSprop>},
      {"RMSpropGraves", make<O::RMSpropGraves>},
      {"SMORMS3", make<O::SMORMS3>},
      {"MSVAG", make<O::MSVAG>},
      {"Adam", make<O::Adam>},
      {"AdamW", []() -> Optimizer { return O::AdamW({.chainer_decay = 0}); }},
      {"AMSGrad", make<O::AMSGrad>},
      {"AdaBound", make<O::AdaBound>},
      {"AMSBound", make<O::AMSBound>},
  };
  const auto found = makers.find(name);
  if (found == makers.end()) throw NotImplemented("optimizer " + name);
  return found->second();
}

/// Sets the hyperparameters of an entry, or of one of its steps, by Chainer's names.
void set_hyperparameters(const Optimizer& optimizer, const json& values) {
  for (const auto& [name, value] : values.items())
    optimizer.hyperparam().set(name == "weight_decay_rate" ? "chainer_decay" : name, value);
}

void add_hook(const Optimizer& optimizer, const json& entry) {
  const json& hook = entry.at("hook");
  if (hook.is_null()) return;
  const std::vector<double> a = entry.at("hook_args");
  const std::string name = hook;
  if (name == "WeightDecay" && a.size() == 1) return optimizer.add_hook(H::WeightDecay(a[0]));
  if (name == "Lasso" && a.size() == 1) return optimizer.add_hook(H::Lasso(a[0]));
  if (name == "GradientClipping" && a.size() == 1) return optimizer.add_hook(H::GradientClipping(a[0]));
  if (name == "GradientHardClipping" && a.size() == 2) return optimizer.add_hook(H::GradientHardClipping(a[0], a[1]));
  if (name == "GradientLARS" && a.empty()) return optimizer.add_hook(H::GradientLARS());
  throw NotImplemented("hook " + name + " with " + entry["hook_args"].dump());
}

struct Weights : ct::Link {
  Weights(const ct::Array& w, const ct::Array& b)
      : w(ct::Parameter::from_array(w, "w")), b(ct::Parameter::from_array(b, "b")) {}
  ct::Parameter w, b;
  CT_LINKS(w, b)
  ct::Variable operator()(const ct::Variable& x) const { return x; }
};

}  // namespace

void check_trajectory(const json& entry, const Vectors& vectors) {
  const Weights link(vectors.given("w0"), vectors.given("b0"));
  const Optimizer optimizer = make_optimizer(entry.at("optimizer"));
  set_hyperparameters(optimizer, entry.value("hyperparameters", json::object()));
  optimizer.setup(link);
  add_hook(optimizer, entry);
  if (ct::is_16bit_float(vectors.dtype())) optimizer.set_loss_scale(1);  // the given gradients are not scaled
  const Tolerance& tolerance = vectors.dtype() == ct::Dtype::float64 ? kDoubleSteps
                               : entry["optimizer"] == "MSVAG"       ? kSingleMSVAG
                                                                     : kSingleSteps;
  for (int t = 1; t <= entry.at("steps").get<int>(); ++t) {
    const std::string step = std::to_string(t);
    if (entry.contains("changes") && entry["changes"].contains(step))
      set_hyperparameters(optimizer, entry["changes"][step]);
    link.w.set_grad(vectors.given("gw" + step));
    link.b.set_grad(vectors.given("gb" + step));
    optimizer.update();
    vectors.compare("w" + step, link.w.array(), Part::value, tolerance);
    vectors.compare("b" + step, link.b.array(), Part::value, tolerance);
  }
}

}  // namespace reference
