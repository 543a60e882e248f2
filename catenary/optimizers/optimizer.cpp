#include "catenary/optimizers/optimizer.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "catenary/array/lazy.h"
#include "catenary/core/format.h"
#include "catenary/optimizers/rule.h"

namespace catenary {

OptimizerHook::~OptimizerHook() = default;

double Hyperparameters::get(const std::string& name) const {
  for (const auto& [known, value] : values_)
    if (known == name) return value;
  if (parent_) return parent_->get(name);
  fail<ValueError>("there is no hyperparameter '{}'", name);
}

bool Hyperparameters::contains(const std::string& name) const {
  for (const auto& entry : values_)
    if (entry.first == name) return true;
  return parent_ && parent_->contains(name);
}

void Hyperparameters::set(const std::string& name, double value) {
  get(name);
  define(name, value);
}

void Hyperparameters::define(const std::string& name, double value) {
  for (auto& [known, current] : values_) {
    if (known == name) {
      current = value;
      return;
    }
  }
  values_.emplace_back(name, value);
}

std::vector<std::pair<std::string, double>> Hyperparameters::all() const {
  std::vector<std::pair<std::string, double>> result = parent_ ? parent_->all() : decltype(parent_->all()){};
  for (const auto& [name, value] : values_) {
    const auto known =
        std::find_if(result.begin(), result.end(), [&name = name](const auto& entry) { return entry.first == name; });
    if (known == result.end()) {
      result.emplace_back(name, value);
    } else {
      known->second = value;
    }
  }
  return result;
}

void UpdateRule::update(const Parameter& parameter) {
  if (run_) run_(parameter);
}

void UpdateRule::serialize(Serializer& serializer) {
  serializer("t", t);
  for (auto& [name, array] : state) {
    if (serializer.loading() ? serializer.contains(name) : array.defined()) serializer(name, array);
  }
}

namespace {

UpdateRule* rule_of(const Parameter& parameter) { return static_cast<UpdateRule*>(parameter.update_rule().get()); }

/// One parameter that is about to be updated.
struct Job {
  UpdateRule* rule;
  std::vector<Array> arrays;  // parameter, gradient, state
};

/// Makes a parameter ready: counts, fills the state, undoes the loss scale, runs the rule's hooks. False when there is
/// nothing to do.
bool prepare(const Parameter& parameter, double initial, Job& job) {
  UpdateRule* rule = rule_of(parameter);
  if (!rule || !rule->enabled) return false;
  ++rule->t;
  if (!parameter.is_initialized()) return false;
  Array grad = parameter.grad();
  if (!grad.defined()) return false;
  const Array& x = parameter.array();
  if (const auto scale = parameter.loss_scale(); scale && *scale != 1) grad /= *scale;
  for (const auto& [name, hook] : rule->hooks) hook(*rule, parameter);
  grad = parameter.grad();
  job.rule = rule;
  job.arrays = {x, grad};
  bool first = true;
  for (auto& [name, array] : rule->state) {
    if (!array.defined()) {
      array = Array::empty(x.shape(), x.dtype(), x.device());
      array.fill(first ? initial : 0.0);
    } else if (!(array.shape() == x.shape())) {
      fail<ShapeError>("the optimizer's state '{}' has shape {}, its parameter {} (was it loaded for another model?)",
                       name, array.shape(), x.shape());
    }
    array = array.to_device(x.device());  // the model may have moved since
    job.arrays.push_back(array);
    first = false;
  }
  return true;
}

bool same_rule(const Job& a, const Job& b) {
  return a.rule->t == b.rule->t && a.arrays[0].dtype() == b.arrays[0].dtype() &&
         a.arrays[0].device() == b.arrays[0].device() &&
         (!a.rule->hyperparam->overrides() && !b.rule->hyperparam->overrides()
              ? true
              : a.rule->hyperparam->all() == b.rule->hyperparam->all());
}

constexpr std::int64_t kFlushEvery = 8;

/// Every eighth update of a parameter ends with 0 in place of what is subnormal in it and in its state. What an
/// optimizer keeps decays geometrically where gradients are zero; it would become subnormal and stay so, and arithmetic
/// with such numbers takes a processor a hundred times as long. They are ordinary operations, so that all devices and
/// all ways to run them give the same bits; a pass over memory each time would cost a tenth of the updates.
void flush_subnormals(const std::vector<Job*>& jobs) {
  std::vector<std::vector<Array>> kept;
  for (const Job* job : jobs) {
    if (job->rule->t % kFlushEvery != 0) continue;
    for (std::size_t k = 0; k < job->arrays.size(); ++k)
      if (k != 1) kept.push_back({job->arrays[k]});  // 1: the gradient
  }
  lazy::for_each_segment(kept, [](const std::vector<Array>& a) {
    // of 16-bit floats as they are computed with
    const double smallest =
        a[0].dtype() == Dtype::float64 ? std::numeric_limits<double>::min() : double{std::numeric_limits<float>::min()};
    copyto(a[0], where(absolute(a[0]) < smallest, 0.0, a[0]));
  });
}

}  // namespace

std::shared_ptr<Optimizer::State> Optimizer::make_state(Rule rule) {
  auto state = std::make_shared<State>();
  state->rule = std::move(rule);
  return state;
}

const Optimizer& Optimizer::setup(const Model& target) const {
  const std::vector<Parameter> parameters = target.link().params();
  if (parameters.empty())
    fail<ValueError>(
        "{}: setup(model): the model has no parameters (a Chain has those of the members that CT_LINKS names)", name());
  target.link().check_members();
  state_->target = target;
  state_->t = state_->epoch = 0;
  for (const Parameter& parameter : parameters) {
    auto rule = std::make_shared<UpdateRule>(state_->hyperparam);
    for (const std::string& name : state_->rule.state) rule->state.emplace_back(name, Array());
    rule->run_ = [rule = rule.get(), own = state_->rule](const Parameter& p) {
      Job job;
      if (!prepare(p, own.initial, job)) return;
      own.step({*rule->hyperparam, rule->t, job.arrays[0], job.arrays[1], job.arrays.data() + 2});
      flush_subnormals({&job});
    };
    parameter.set_update_rule(std::move(rule));
  }
  return *this;
}

const Model& Optimizer::target() const {
  if (!state_->target.defined()) fail<ValueError>("{}: setup(model) has not been called", name());
  return state_->target;
}

void Optimizer::update() const {
  const std::vector<Parameter> parameters = target().link().params(false);
  const auto give_gradients = [&] {
    for (const Parameter& p : parameters)
      if (!p.grad().defined()) p.zerograd();
  };
  give_gradients();
  call_hooks(OptimizerHook::Timing::pre);
  ++state_->t;

  std::vector<const void*> frozen;
  target().link().for_each_link([&](const std::string&, const Link& link) {
    if (link.update_enabled()) return;
    struct Collect : MemberVisitor {
      std::vector<const void*>* frozen;
      void child(const std::string&, Link&) override {}
      void parameter(const std::string&, Parameter& p) override { frozen->push_back(&p.node()); }
      void persistent(const std::string&, Persistent&) override {}
    } collect;
    collect.frozen = &frozen;
    link.visit_members(collect);
  });

  std::vector<Job> jobs;
  for (const Parameter& p : parameters) {
    if (std::find(frozen.begin(), frozen.end(), &p.node()) != frozen.end()) continue;
    Job job;
    if (prepare(p, state_->rule.initial, job)) jobs.push_back(std::move(job));
  }
  std::vector<bool> done(jobs.size(), false);
  for (std::size_t i = 0; i < jobs.size(); ++i) {
    if (done[i]) continue;
    std::vector<std::vector<Array>> group;
    std::vector<Job*> of_group;
    for (std::size_t j = i; j < jobs.size(); ++j) {
      if (done[j] || !same_rule(jobs[i], jobs[j])) continue;
      done[j] = true;
      group.push_back(jobs[j].arrays);
      of_group.push_back(&jobs[j]);
    }
    const UpdateRule& rule = *jobs[i].rule;
    lazy::for_each_segment(group, [&](const std::vector<Array>& arrays) {
      state_->rule.step({*rule.hyperparam, rule.t, arrays[0], arrays[1], arrays.data() + 2});
    });
    flush_subnormals(of_group);
  }
  call_hooks(OptimizerHook::Timing::post);
}

void Optimizer::update(const std::function<Variable()>& loss) const {
  const Variable value = loss();
  target().link().cleargrads();
  value.backward(false, false, state_->loss_scale);
  update();
}

void Optimizer::update(const Batch& batch) const {
  update([&] { return target()(batch); });
}

void Optimizer::new_epoch() const { ++state_->epoch; }
std::int64_t Optimizer::t() const { return state_->t; }
std::int64_t Optimizer::epoch() const { return state_->epoch; }
void Optimizer::loss_scaling(double scale) const { state_->loss_scale = scale; }
Hyperparameters& Optimizer::hyperparam() const { return *state_->hyperparam; }
double Optimizer::learning_rate() const {
  const Hyperparameters& h = *state_->hyperparam;
  if (h.contains("lr") || !h.contains("alpha")) return h.get("lr");
  const double t = static_cast<double>(state_->t);
  if (t == 0 || !h.contains("beta1")) return h.get("alpha");
  return h.get("alpha") * std::sqrt(1 - std::pow(h.get("beta2"), t)) / (1 - std::pow(h.get("beta1"), t));
}
std::string Optimizer::name() const { return state_->rule.name; }

void Optimizer::add_hook(std::shared_ptr<OptimizerHook> hook) const {
  target();
  for (const auto& known : state_->hooks)
    if (known->name() == hook->name())
      fail<ValueError>("add_hook: the optimizer has a hook named '{}' already", hook->name());
  state_->hooks.push_back(std::move(hook));
}

void Optimizer::remove_hook(const std::string& name) const {
  if (std::erase_if(state_->hooks, [&](const auto& hook) { return hook->name() == name; }) == 0)
    fail<ValueError>("remove_hook: the optimizer has no hook named '{}'", name);
}

void Optimizer::call_hooks(OptimizerHook::Timing timing) const {
  for (const auto& hook : state_->hooks)
    if (hook->timing() == timing) (*hook)(*this);
}

void Optimizer::serialize(Serializer& serializer) const {
  serializer("t", state_->t);
  serializer("epoch", state_->epoch);
  for (const auto& [path, parameter] : target().link().namedparams()) {
    UpdateRule* rule = rule_of(parameter);
    if (!rule) continue;
    Serializer below = serializer[path.substr(1)];
    rule->serialize(below);
  }
}

}  // namespace catenary
