#include "catenary/links/link_hooks.h"

#include <utility>
#include <vector>

#include "catenary/array/axes.h"
#include "catenary/array/elementwise_core.h"
#include "catenary/array/linalg.h"
#include "catenary/array/random.h"
#include "catenary/core/config.h"
#include "catenary/core/format.h"
#include "catenary/functions/array.h"
#include "catenary/functions/forget.h"
#include "catenary/functions/math_basic.h"
#include "catenary/functions/math_reduction.h"
#include "catenary/functions/normalization.h"
#include "catenary/links/convolution.h"

namespace catenary::link_hooks {

namespace {

/// Collects a link's own parameters.
struct OwnParameters : MemberVisitor {
  std::vector<std::pair<std::string, Parameter*>> all;
  void child(const std::string&, Link&) override {}
  void parameter(const std::string& name, Parameter& p) override {
    if (p.defined()) all.emplace_back(name, &p);
  }
  void persistent(const std::string&, Persistent&) override {}
};

/// Returns the link's handle of the parameter, or null.
Parameter* find(const Link& link, const std::string& name) {
  OwnParameters own;
  link.visit_members(own);
  for (const auto& [other, parameter] : own.all)
    if (other == name) return parameter;
  return nullptr;
}

}  // namespace

WeightHook::WeightHook(std::string name, std::string weight_name)
    : name_(std::move(name)), weight_name_(std::move(weight_name)) {}

void WeightHook::added(const Link* link) {
  if (!link) fail<ValueError>("{}: the hook belongs to one link; give it to the link's add_hook", name_);
  if (in_use_) fail<ValueError>("{}: the hook has a link already; each link needs a hook of its own", name_);
  const Parameter* weight = find(*link, weight_name_);
  if (!weight) {
    OwnParameters own;
    link->visit_members(own);
    std::vector<std::string> names;
    for (const auto& [other, parameter] : own.all) names.push_back(other);
    fail<ValueError>("{}: {} has no parameter named '{}'; it has [{}]", name_, link->type_name(), weight_name_,
                     fmt::join(names, ", "));
  }
  start(*link, *weight);
  in_use_ = true;
}

void WeightHook::deleted(const Link*) noexcept { in_use_ = false; }

void WeightHook::forward_preprocess(const LinkCall& call) {
  Parameter* const found = find(call.link, weight_name_);
  if (!found) fail<ValueError>("{}: the link has no parameter '{}' any more; was it quantised?", name_, weight_name_);
  Parameter& weight = *found;
  const Variable computed = normalized(weight);
  // if another hook has already replaced the parameter, that hook restores it
  if (Parameter::is_parameter(weight)) learnt_ = weight;
  static_cast<Variable&>(weight) = computed;
}

void WeightHook::restore(const Link& link) noexcept {
  if (!learnt_.defined()) return;
  *find(link, weight_name_) = std::exchange(learnt_, Parameter());
}

SpectralNormalization::SpectralNormalization(const SpectralNormalizationOptions& options)
    : WeightHook(options.name, options.weight_name), options_(options) {
  if (options.n_power_iteration < 1)
    fail<ValueError>("{}: n_power_iteration must be at least 1, not {}", options.name, options.n_power_iteration);
  if (options.use_gamma) gamma_ = Parameter(1, "gamma");
}

void SpectralNormalization::start(const Link& link, const Parameter& weight) {
  axis_ = dynamic_cast<const links::DeconvolutionND*>(&link) ? 1 : 0;
  if (weight.is_initialized()) prepare(weight.array());
}

void SpectralNormalization::deleted(const Link* link) noexcept {
  WeightHook::deleted(link);
  u_ = Persistent();
  v_ = Array();
  if (options_.use_gamma) gamma_ = Parameter(1, "gamma");
}

void SpectralNormalization::visit_members(MemberVisitor& visitor) {
  visitor(vector_name(), u_);
  if (options_.use_gamma) visitor("gamma", gamma_);
}

template <class T>
T SpectralNormalization::as_matrix(const T& weight) const {
  Axes order = {axis_};
  for (int axis = 0; axis < weight.ndim(); ++axis)
    if (axis != axis_) order.push_back(axis);
  return weight.transpose(order).reshape({weight.shape()[axis_], -1});
}

void SpectralNormalization::prepare(const Array& weight) {
  if (weight.ndim() <= axis_ || weight.shape()[axis_] == 0)
    fail<ValueError>("{}: the weight has no elements along axis {}, its shape is {}", name(), axis_, weight.shape());
  if (!u_.defined())
    u_ = random::standard_normal({weight.shape()[axis_]}, {.device = weight.device()}).astype(weight.dtype());
  if (!gamma_.defined() || gamma_.is_initialized()) return;
  // overridden if a file contains gamma
  gamma_.set_initializer(linalg::norm(as_matrix(weight), 2));
  gamma_.initialize({});
}

Variable SpectralNormalization::normalized(const Variable& weight) {
  prepare(weight.array());
  const Variable matrix = as_matrix(weight);
  Array u = u_, v;
  if (!functions::recomputing()) {
    const auto unit = [&](const Array& x) { return x / (linalg::norm(x) + options_.eps); };
    for (int i = 0; i < options_.n_power_iteration; ++i) {
      v = unit(matmul(u, matrix.array()));
      u = unit(matmul(matrix.array(), v));
    }
    if (config.train) copyto(u_.array(), u);
  }
  u = functions::remembered(u);
  v_ = functions::remembered(v);
  Variable sigma = functions::matmul(functions::matmul(u, matrix), v_);
  if (options_.factor) sigma = sigma / *options_.factor;
  return (gamma_.defined() ? gamma_ * weight : weight) / sigma;
}

WeightStandardization::WeightStandardization(const WeightStandardizationOptions& options)
    : WeightHook(options.name, options.weight_name), eps_(options.eps) {}

Variable WeightStandardization::normalized(const Variable& weight) {
  const auto same_for_all = [&](double value) {
    return detail::filled({weight.shape(1)}, value, weight.dtype(), weight.device());
  };
  return functions::group_normalization(weight, 1, same_for_all(1), same_for_all(0), eps_);
}

}  // namespace catenary::link_hooks
