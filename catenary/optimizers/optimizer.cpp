#include "catenary/optimizers/optimizer.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string_view>
#include <unordered_set>

#include "catenary/array/creation.h"
#include "catenary/array/elementwise_core.h"
#include "catenary/array/lazy.h"
#include "catenary/array/reduction.h"
#include "catenary/autograd/walk.h"
#include "catenary/core/format.h"

namespace catenary {

OptimizerHook::~OptimizerHook() = default;

struct Optimizer::State {
  std::shared_ptr<const OptimizerRule> rule;
  std::shared_ptr<Hyperparameters> hyperparam;
  Model target = {};
  std::int64_t t = 0, epoch = 0;
  bool look_for_non_finite = false, skip = false, use_fp32_update = true;
  // The loss scale: 1 and not decided for a model that has no float16 parameter.
  bool scale_is_given = false;
  std::int64_t interval = 0;  // 0: the scale does not change
  Number scale = 1;
  Array overflowed = {};    // 0-d bool: was there an inf or a NaN ever?
  double stored_scale = 1;  // in a snapshot
  bool stored_overflowed = false;

  void decide_scale();
  void next_scale();
  void serialize_scale(Serializer& serializer);
  Array non_finite = {};
  std::vector<std::shared_ptr<OptimizerHook>> hooks = {};
};

/// One parameter that is about to be updated.
struct UpdateRule::Job {
  UpdateRule* rule = nullptr;
  std::vector<Array> arrays = {};    // parameter, gradient, state; where it is updated in float32, the 16-bit parameter
  std::optional<Number> scale = {};  // what is in the gradient, where it is divided out with the update
};

/// What all parameters of an update have in common.
struct UpdateRule::Call {
  bool flush = false;
  Array unless = {};  // 0-d bool: nothing is to change where it is true
};

Hyper::Hyper(const Optimizer& optimizer, std::string name)
    : all_(optimizer.state_->hyperparam), name_(std::move(name)) {
  all_->get(name_);
}

namespace {

/// The entry of a name, or null.
template <class Values>
auto* entry_of(Values& values, const std::string& name) {
  const auto at = std::find_if(values.begin(), values.end(), [&](const auto& entry) { return entry.first == name; });
  return at == values.end() ? nullptr : &at->second;
}

/// Sets the value of a name, at the end where it is new.
void put(Hyperparameters::Values& values, const std::string& name, double value) {
  if (double* const known = entry_of(values, name)) {
    *known = value;
  } else {
    values.emplace_back(name, value);
  }
}

void remove(Hyperparameters::Values& values, const std::string& name) {
  std::erase_if(values, [&](const auto& entry) { return entry.first == name; });
}

}  // namespace

double Hyperparameters::get(const std::string& name) const {
  if (const double* const own = entry_of(values_, name)) return *own;
  if (!parent_) fail<ValueError>("{}", missing(name));
  const double* const factor = entry_of(factors_, name);
  const double value = parent_->get(name);
  return factor ? *factor * value : value;
}

bool Hyperparameters::contains(const std::string& name) const {
  return entry_of(values_, name) || (parent_ && parent_->contains(name));
}

void Hyperparameters::set(const std::string& name, double value) {
  get(name);
  remove(factors_, name);
  put(values_, name, value);
}

void Hyperparameters::scale(const std::string& name, double factor) {
  if (!parent_ || !parent_->contains(name)) fail<ValueError>("{}", missing(name));
  remove(values_, name);
  put(factors_, name, factor);
}

Hyperparameters::Values Hyperparameters::all() const {
  Values result = parent_ ? parent_->all() : Values{};
  for (const auto& [name, factor] : factors_)
    if (double* const value = entry_of(result, name)) *value *= factor;
  for (const auto& [name, value] : values_) put(result, name, value);
  return result;
}

std::string Hyperparameters::missing(const std::string& name) const {
  std::vector<std::string> names;
  for (const auto& entry : all()) names.push_back(entry.first);
  return fmt::format("there is no hyperparameter '{}'; there {}: {}{}", name, names.size() == 1 ? "is" : "are",
                     names.empty() ? "none" : fmt::format("{}", fmt::join(names, ", ")),
                     (name == "lr" || name == "learning_rate") && contains(rate_name())
                         ? fmt::format(" (the rate is '{}')", rate_name())
                         : "");
}

double Hyperparameters::learning_rate(std::int64_t t) const {
  return t == 0 ? get(rate_name()) : learning_rate(Number(static_cast<double>(t))).value();
}

Number Hyperparameters::learning_rate(const Number& t) const {
  const std::string rate = rate_name();
  if (rate == "lr" || !contains("beta1")) return get(rate);
  return get("alpha") * sqrt(one_minus_power(get("beta2"), t)) / one_minus_power(get("beta1"), t);
}

UpdateStep::UpdateStep(const UpdateRule& rule, const std::vector<Array>& arrays, const Array& gradient,
                       const Number& count, const Numbers& numbers)
    : x(arrays[0]),
      g(gradient),
      t(count),
      hyperparam(*rule.hyperparam),
      rule_(rule),
      arrays_(arrays),
      numbers_(numbers) {}

const Number& UpdateStep::number(const std::string& name) const {
  if (const Number* const found = entry_of(numbers_, name)) return *found;
  fail<ValueError>("{}: the rule has no number '{}'", rule_.rule_->name, name);
}

const Array& UpdateStep::operator[](const std::string& name) const {
  for (std::size_t k = 0; k < rule_.state.size(); ++k)
    if (rule_.state[k].first == name) return arrays_[k + 2];
  fail<ValueError>("{}: the rule has no state '{}'", rule_.rule_->name, name);
}

UpdateRule::UpdateRule(std::shared_ptr<const OptimizerRule> rule, std::shared_ptr<const Hyperparameters> optimizer)
    : hyperparam(std::make_shared<Hyperparameters>(std::move(optimizer))), rule_(std::move(rule)) {
  for (const OptimizerState& array : rule_->state) state.emplace_back(array.name, Array());
}

std::int64_t UpdateRule::t() const { return begun_ - std::llround(skipped_.value()); }

bool UpdateRule::in_float32(const Parameter& parameter) const {
  return use_fp32_update && is_16bit_float(parameter.dtype());
}

void UpdateRule::serialize(Serializer& serializer) {
  // Chainer stores no float32 parameter: it is made of the 16-bit one then
  if (serializer.loading()) {
    serializer("t", begun_);
    serializer.after_loading([this] { skipped_ = 0; });
    if (serializer.contains("fp32_param"))
      serializer("fp32_param", float32_);
    else
      serializer.after_loading([this] { float32_ = Array(); });
  } else {
    std::int64_t count = t();
    serializer("t", count);
    if (float32_.defined()) serializer("fp32_param", float32_);
  }
  for (auto& [name, array] : state) {
    if (serializer.loading() ? serializer.contains(name) : array.defined()) serializer(name, array);
  }
}

/// Makes a parameter ready: counts, runs the rule's hooks, fills the state. False when there is nothing to do.
bool UpdateRule::prepare(const Parameter& parameter, Job& job) {
  if (!enabled) return false;
  ++begun_;
  if (!parameter.is_initialized() || !parameter.grad().defined()) return false;
  for (const auto& [name, hook] : hooks) hook(*this, parameter);
  const Array& own = parameter.array();
  const bool wide = in_float32(parameter);
  const auto brought = [&](Array& array, Dtype dtype) {
    array = array.to_device(own.device());                    // the model may have moved since
    if (array.dtype() != dtype) array = array.astype(dtype);  // a snapshot of another precision
  };
  if (!wide) {
    float32_ = Array();
  } else if (!float32_.defined()) {
    float32_ = own.astype(Dtype::float32);
  } else {
    brought(float32_, Dtype::float32);
  }
  const Array& x = wide ? float32_ : own;
  job = {this, {x, parameter.grad()}};
  if (wide) {
    job.scale = parameter.loss_scale();
    parameter.set_loss_scale({});
  }
  for (std::size_t k = 0; k < state.size(); ++k) {
    auto& [name, array] = state[k];
    const std::optional<double>& first = rule_->state[k].first;
    const Dtype dtype = rule_->state[k].dtype.value_or(is_16bit_float(x.dtype()) ? Dtype::float32 : x.dtype());
    if (!array.defined()) {
      array = Array::empty(x.shape(), dtype, x.device());
      copyto(array, first ? Operand(*first) : Operand(x));
    } else if (!(array.shape() == x.shape())) {
      fail<ShapeError>("the optimizer's state '{}' has shape {}, its parameter {} (was it loaded for another model?)",
                       name, array.shape(), x.shape());
    }
    brought(array, dtype);
    job.arrays.push_back(array);
  }
  if (wide) job.arrays.push_back(own);
  return true;
}

bool UpdateRule::alike(const Job& a, const Job& b) {
  const auto overrides = [](const Job& job) { return job.rule->hyperparam->overrides(); };
  const auto same_scale = [&] {
    return a.scale.has_value() == b.scale.has_value() && (!a.scale || a.scale->is(*b.scale));
  };
  return a.rule->rule_ == b.rule->rule_ && a.rule->begun_ == b.rule->begun_ && a.rule->skipped_.is(b.rule->skipped_) &&
         a.arrays.size() == b.arrays.size() && a.arrays[0].dtype() == b.arrays[0].dtype() &&
         a.arrays[1].dtype() == b.arrays[1].dtype() && a.arrays.back().dtype() == b.arrays.back().dtype() &&
         a.arrays[0].device() == b.arrays[0].device() && same_scale() &&
         ((!overrides(a) && !overrides(b)) || a.rule->hyperparam->all() == b.rule->hyperparam->all());
}

namespace {

/// Calls f with the items that are alike, group after group, in the order of each group's first.
template <class Item, class Alike, class F>
void for_each_group(std::vector<Item> items, const Alike& alike, const F& f) {
  while (!items.empty()) {
    const auto others = std::stable_partition(
        items.begin(), items.end(), [&, first = items.front()](const Item& item) { return alike(first, item); });
    const std::vector<Item> group(std::make_move_iterator(items.begin()), std::make_move_iterator(others));
    items.erase(items.begin(), others);
    f(group);
  }
}

constexpr std::int64_t kFlushEvery = 8;

/// Every eighth update of a parameter ends with 0 in place of what is subnormal in it and in its state. What an
/// optimizer keeps decays geometrically where gradients are zero; it would become subnormal and stay so, and arithmetic
/// with such numbers takes a processor a hundred times as long. They are ordinary operations, so that all devices and
/// all ways to run them give the same bits; a pass over memory each time would cost a tenth of the updates.
void flush_subnormals(const std::vector<std::vector<Array>>& kept, const Array& unless) {
  const auto flush = [](const std::vector<Array>& a) {
    // of 16-bit floats as they are computed with
    const double smallest =
        a[0].dtype() == Dtype::float64 ? std::numeric_limits<double>::min() : double{std::numeric_limits<float>::min()};
    copyto(a[0], where(absolute(a[0]) < smallest, 0.0, a[0]));
  };
  lazy::for_each_segment(kept, flush, unless);
}

}  // namespace

void UpdateRule::run(const std::vector<Job>& group, const Call& call) {
  const UpdateRule& rule = *group.front().rule;
  const bool wide = group.front().arrays.size() > rule.state.size() + 2;
  std::vector<std::vector<Array>> segments, kept[2];  // the 16-bit parameters are of another dtype than all else
  for (const Job& job : group) {
    segments.push_back(job.arrays);
    if (!call.flush) continue;
    for (std::size_t k = 0; k < job.arrays.size(); ++k)  // 1: the gradient
      if (k != 1) kept[job.arrays[k].dtype() == job.arrays.back().dtype()].push_back({job.arrays[k]});
  }
  const Device device = segments.front().front().device();
  const Number skipped = rule.skipped_.to_device(device);
  const Number t = (static_cast<double>(rule.begun_) - skipped).eval();
  UpdateStep::Numbers numbers;
  if (rule.rule_->numbers) numbers = rule.rule_->numbers({t, *rule.hyperparam});
  for (const auto& [name, number] : numbers) number.eval();
  const std::optional<Number> scale =
      group.front().scale ? std::optional(group.front().scale->to_device(device).eval()) : std::nullopt;
  const auto step = [&](const std::vector<Array>& arrays) {
    const Array &x = arrays[0], &gradient = arrays[1];
    if (!wide) {  // squares of 16-bit gradients would be lost
      const bool is_narrow = is_16bit_float(gradient.dtype());
      return rule.rule_->step({rule, arrays, is_narrow ? gradient.astype(Dtype::float32) : gradient, t, numbers});
    }
    const Array& own = arrays.back();
    // what changed the parameter elsewhere holds
    copyto(x, where(x.astype(own.dtype()) == own, x, own));
    Array g = gradient.astype(Dtype::float32);
    if (scale) {
      g = divide(g, *scale);
      copyto(gradient, g.astype(gradient.dtype()));
    }
    rule.rule_->step({rule, arrays, g, t, numbers});
    copyto(own, x.astype(own.dtype()));
  };
  lazy::for_each_segment(segments, step, call.unless);
  for (const auto& arrays : kept) flush_subnormals(arrays, call.unless);
  if (!call.unless.defined()) return;
  const Number now = (skipped + Number(call.unless.to_device(device).astype(Dtype::float32))).eval();
  for (const Job& job : group) job.rule->skipped_ = now;
}

void UpdateRule::update_all(const std::vector<Parameter>& parameters, const Call& call) {
  std::vector<Job> jobs;
  for (const Parameter& p : parameters) {
    const auto& rule = p.update_rule();
    Job job;
    if (auto* own = dynamic_cast<UpdateRule*>(rule.get())) {
      if (own->prepare(p, job)) jobs.push_back(std::move(job));
    } else if (rule) {
      rule->update(p);
    }
  }
  for_each_group(std::move(jobs), alike, [&](const std::vector<Job>& group) { run(group, call); });
}

Optimizer::Optimizer(OptimizerRule rule) {
  if (!rule.step) fail<ValueError>("{}: the rule has no step", rule.name);
  std::unordered_set<std::string> names{"t"};  // the count, in snapshots
  for (const OptimizerState& array : rule.state)
    if (!names.insert(array.name).second) fail<ValueError>("{}: another state is named '{}'", rule.name, array.name);
  auto hyperparam = std::make_shared<Hyperparameters>(rule.hyperparameters);
  state_ = std::make_shared<State>(
      State{.rule = std::make_shared<const OptimizerRule>(std::move(rule)), .hyperparam = std::move(hyperparam)});
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
    const auto rule = std::make_shared<UpdateRule>(state_->rule, state_->hyperparam);
    rule->use_fp32_update = state_->use_fp32_update;
    parameter.set_update_rule(rule);
  }
  return *this;
}

const Model& Optimizer::target() const {
  if (!state_->target.defined()) fail<ValueError>("{}: setup(model) has not been called", name());
  return state_->target;
}

namespace {

/// Do several elements lie in one place? (The gradient of a sum is its gradient, broadcast.)
bool is_broadcast(const Array& x) {
  for (int axis = 0; axis < x.ndim(); ++axis)
    if (x.strides()[axis] == 0 && x.shape()[axis] > 1) return true;
  return false;
}

/// Gives every parameter a gradient, in memory of its own: what changes one in place changes no other. (The gradients
/// of a and b in a + b are one array.)
void give_gradients(const std::vector<Parameter>& parameters) {
  std::unordered_set<const void*> seen;
  for (const Parameter& p : parameters) {
    const Array grad = p.grad();
    if (!grad.defined()) {
      p.zerograd();
    } else if (const ArrayBody& body = grad.body();
               !seen.insert(body.storage ? static_cast<const void*>(body.storage.get()) : &body).second ||
               is_broadcast(grad)) {
      p.set_grad(grad.copy());
    }
  }
}

/// Do all share a scale, a dtype and a device?
bool scaled_alike(const Parameter& a, const Parameter& b) {
  return a.loss_scale()->is(*b.loss_scale()) && a.grad().dtype() == b.grad().dtype() && a.device() == b.device();
}

/// Divides the gradients by the loss scale that is in them, all that have one in common by one program.
void unscale(const std::vector<Parameter>& parameters) {
  std::vector<Parameter> scaled;
  for (const Parameter& p : parameters)
    if (p.grad().defined() && p.loss_scale()) scaled.push_back(p);
  for_each_group(std::move(scaled), scaled_alike, [](const std::vector<Parameter>& group) {
    const Number scale = group.front().loss_scale()->to_device(group.front().device()).eval();
    std::vector<std::vector<Array>> gradients;
    for (const Parameter& p : group) {
      gradients.push_back({p.grad()});
      p.set_loss_scale({});
    }
    if (scale.on_device() || scale.value() != 1)
      lazy::for_each_segment(gradients, [&](const std::vector<Array>& g) { g[0] /= scale; });
  });
}

/// Has a gradient an inf or a NaN? One kernel for each.
Array look_for_non_finite_in(const std::vector<Parameter>& parameters) {
  Array found;
  for (const Parameter& p : parameters) {
    if (!p.grad().defined()) continue;
    Array here = any(logical_not(isfinite(p.grad())));
    found = found.defined() ? logical_or(found, here.to_device(found.device())) : here;
  }
  return found.defined() ? found.eval() : full({}, false);
}

Array on_device(double value, const Device& device) {
  const Array array = Array::empty({}, Dtype::float32, device);
  array.fill(value);
  return array;
}

constexpr std::int64_t kInterval = 1000;  // in which the scale is doubled, as in Chainer
constexpr double kMostScale = 65504;      // the largest number of float16

}  // namespace

/// Brings the gradients to what hooks see: without the loss scale, and those of parameters that are updated in float32
/// in float32, where they are not lost. What no hook sees is divided when it is used.
void UpdateRule::unscale_for_hooks(const std::vector<Parameter>& parameters, bool has_hooks) {
  std::vector<Parameter> seen;
  for (const Parameter& p : parameters) {
    const auto* const rule = dynamic_cast<const UpdateRule*>(p.update_rule().get());
    const bool wide = rule && rule->in_float32(p);
    if (wide && !has_hooks && rule->hooks.empty()) continue;
    if (wide && p.grad().defined()) p.set_grad(p.grad().astype(Dtype::float32));
    seen.push_back(p);
  }
  unscale(seen);
}

void UpdateRule::update(const Parameter& parameter) {
  unscale_for_hooks({parameter}, false);
  update_all({parameter}, {.flush = (begun_ + 1) % kFlushEvery == 0});
}

void Optimizer::update() const {
  const std::vector<Parameter> parameters = target().link().params(false);
  give_gradients(parameters);
  call_hooks(OptimizerHook::Timing::exchange);
  if (std::exchange(state_->skip, false)) return;
  state_->decide_scale();
  const bool may_skip = state_->interval > 0;
  state_->non_finite = may_skip || state_->look_for_non_finite ? look_for_non_finite_in(parameters) : Array();
  const bool has_hooks = std::any_of(state_->hooks.begin(), state_->hooks.end(),
                                     [](const auto& hook) { return hook->timing() == OptimizerHook::Timing::pre; });
  UpdateRule::unscale_for_hooks(parameters, has_hooks);
  call_hooks(OptimizerHook::Timing::pre);
  ++state_->t;

  std::unordered_set<const void*> frozen;
  target().link().for_each_link([&](const std::string&, const Link& link) {
    if (link.update_enabled()) return;
    struct Collect : MemberVisitor {
      std::unordered_set<const void*>* frozen;
      void child(const std::string&, Link&) override {}
      void parameter(const std::string&, Parameter& p) override {
        if (p.defined()) frozen->insert(&p.node());  // a layer without a bias has an undefined one
      }
      void persistent(const std::string&, Persistent&) override {}
    } collect;
    collect.frozen = &frozen;
    link.visit_all_members(collect);
  });
  std::vector<Parameter> updated;
  for (const Parameter& p : parameters)
    if (!frozen.count(&p.node())) updated.push_back(p);
  UpdateRule::update_all(updated,
                         {.flush = state_->t % kFlushEvery == 0, .unless = may_skip ? state_->non_finite : Array()});
  for (const Parameter& p : parameters)  // gradients that hooks saw in float32
    if (const Array grad = p.grad(); grad.dtype() != p.dtype()) p.set_grad(grad.astype(p.dtype()));
  call_hooks(OptimizerHook::Timing::post);
  if (may_skip) state_->next_scale();
}

void Optimizer::update(const std::function<Variable()>& loss) const {
  for (const auto& hook : state_->hooks) hook->before_loss(*this, loss);
  const Variable value = loss();
  target().link().cleargrads();
  std::vector<OptimizerHook*> followers;
  for (const auto& hook : state_->hooks)
    if (hook->follows_backward(*this)) followers.push_back(hook.get());
  walk::Final final;
  if (!followers.empty())
    final = [&](const VariableNode& leaf, const Variable& gradient) {
      for (OptimizerHook* const hook : followers) hook->after_gradient(*this, leaf, gradient.array());
    };
  const Number scale = loss_scale();
  walk::backward(value, false, false, scale.is(1) ? std::nullopt : std::optional(scale), final);
  update();
}

void Optimizer::update(const Batch& batch) const {
  update([&] { return target()(batch); });
}

void Optimizer::begin_training(const TrainingPlan& plan) const {
  for (const auto& hook : state_->hooks) hook->begin_training(plan);
}

void Optimizer::new_epoch() const { ++state_->epoch; }
std::int64_t Optimizer::t() const { return state_->t; }
std::int64_t Optimizer::epoch() const { return state_->epoch; }

void Optimizer::loss_scaling(std::int64_t interval, std::optional<double> scale) const {
  if (scale && !(*scale > 0 && std::isfinite(*scale)))
    fail<ValueError>("{}: loss_scaling: the scale must be a positive number, not {}", name(), *scale);
  if (!scale && interval < 1)
    fail<ValueError>("{}: loss_scaling: the interval must be 1 or more, not {}", name(), interval);
  state_->scale_is_given = true;
  state_->interval = scale ? 0 : interval;
  state_->scale = scale.value_or(1);
  state_->overflowed = Array();
}

void Optimizer::set_loss_scale(double scale) const { loss_scaling({}, scale); }

const Number& Optimizer::loss_scale() const {
  state_->decide_scale();
  return state_->scale;
}

bool Optimizer::is_safe_to_update() const {
  return state_->interval == 0 || !state_->non_finite.defined() || !state_->non_finite.item<bool>();
}

void Optimizer::use_fp32_update(bool use) const {
  state_->use_fp32_update = use;
  if (!state_->target.defined()) return;
  for (const Parameter& p : state_->target.link().params())
    if (auto* const rule = dynamic_cast<UpdateRule*>(p.update_rule().get())) rule->use_fp32_update = use;
}

/// Models with float16 parameters have a scale by themselves.
void Optimizer::State::decide_scale() {
  if (scale_is_given || !target.defined()) return;
  const std::vector<Parameter> parameters = target.link().params(false);
  const bool is_needed =
      std::any_of(parameters.begin(), parameters.end(), [](const Parameter& p) { return p.dtype() == Dtype::float16; });
  interval = is_needed ? kInterval : 0;
}

/// The scale of the next update, by Chainer's rule.
void Optimizer::State::next_scale() {
  const Device device = non_finite.device();
  const Array now = scale.on_device() ? scale.array().to_device(device) : on_device(scale.value(), device);
  overflowed = overflowed.defined() ? logical_or(overflowed.to_device(device), non_finite) : non_finite;
  const double slowly = std::pow(2.0, 1.0 / static_cast<double>(interval));
  const Array next = where(non_finite, now * 0.5, where(overflowed, now * slowly, now * 2.0));
  scale = Number(maximum(minimum(next, kMostScale), 1.0).eval());
  overflowed.eval();
}
void Optimizer::look_for_non_finite(bool look) const { state_->look_for_non_finite = look; }
const Array& Optimizer::non_finite() const {
  if (!state_->non_finite.defined())
    fail<ValueError>("{}: non_finite(): call look_for_non_finite() before the update", name());
  return state_->non_finite;
}
Hyperparameters& Optimizer::hyperparam() const { return *state_->hyperparam; }
std::string Optimizer::name() const { return state_->rule->name; }

std::vector<std::string> Optimizer::settings() const {
  std::vector<std::string> lines = {name()};
  const auto add = [&](const std::string& of, const Hyperparameters::Values& numbers) {
    for (const auto& [key, value] : numbers) lines.push_back(fmt::format("{}: {} {}", of, key, value));
  };
  add(name(), state_->hyperparam->all());
  if (state_->interval > 0) {
    lines.push_back(fmt::format("loss scale doubled in {} updates", state_->interval));
  } else if (!state_->scale.is(1)) {
    lines.push_back(fmt::format("loss scale {}", state_->scale.value()));
  }
  for (const auto& hook : state_->hooks) add(hook->name(), hook->numbers());
  const Hyperparameters::Values common = state_->hyperparam->all();
  for (const auto& [path, parameter] : target().link().namedparams()) {
    const auto rule = std::dynamic_pointer_cast<UpdateRule>(parameter.update_rule());
    if (!rule || (!rule->hyperparam->overrides() && rule->hyperparam->parent() == state_->hyperparam)) continue;
    Hyperparameters::Values own = rule->hyperparam->all();
    std::erase_if(own,
                  [&](const auto& value) { return std::find(common.begin(), common.end(), value) != common.end(); });
    add(path, own);
  }
  return lines;
}

void Optimizer::add_hook(std::shared_ptr<OptimizerHook> hook) const {
  if (hook->timing() != OptimizerHook::Timing::exchange) target();
  for (const auto& known : state_->hooks)
    if (known->name() == hook->name())
      fail<ValueError>("add_hook: the optimizer has a hook named '{}' already", hook->name());
  const Hyperparameters::Values given = hook->hyperparameters();
  for (const auto& entry : given)
    if (state_->hyperparam->contains(entry.first))
      fail<ValueError>("add_hook: {} has a hyperparameter '{}' of its own, which {} would have too", name(),
                       entry.first, hook->name());
  for (const auto& [given_name, value] : given) state_->hyperparam->values_.emplace_back(given_name, value);
  state_->hooks.push_back(std::move(hook));
}

void Optimizer::remove_hook(const std::string& name) const {
  const auto at =
      std::find_if(state_->hooks.begin(), state_->hooks.end(), [&](const auto& hook) { return hook->name() == name; });
  if (at == state_->hooks.end()) fail<ValueError>("remove_hook: the optimizer has no hook named '{}'", name);
  for (const auto& entry : (*at)->hyperparameters()) remove(state_->hyperparam->values_, entry.first);
  state_->hooks.erase(at);
}

namespace {

/// Does the text match a pattern, in which `*` stands for any characters?
bool matches(std::string_view pattern, std::string_view text) {
  if (pattern.empty()) return text.empty();
  if (pattern[0] != '*') return !text.empty() && pattern[0] == text[0] && matches(pattern.substr(1), text.substr(1));
  for (std::size_t skipped = 0; skipped <= text.size(); ++skipped)
    if (matches(pattern.substr(1), text.substr(skipped))) return true;
  return false;
}

using Named = std::vector<std::pair<std::string, Parameter>>;

void set_group(const Hyperparameters& optimizer, const Named& group, const Hyperparameters::Values& values) {
  const std::string rate = optimizer.rate_name();
  for (const auto& [name, value] : values) {
    const double base = optimizer.get(name);
    if (name == rate && base == 0)
      fail<ValueError>("param_group: the optimizer's {} is 0, so that a group's has no proportion to it", rate);
  }
  for (const auto& [path, parameter] : group) {
    auto* const rule = dynamic_cast<UpdateRule*>(parameter.update_rule().get());
    if (!rule || rule->hyperparam->parent().get() != &optimizer)
      fail<ValueError>("param_group: '{}' is updated by another optimizer (or by none)", path);
    for (const auto& [name, value] : values) {
      if (name == rate) {
        rule->hyperparam->scale(name, value / optimizer.get(name));
      } else {
        rule->hyperparam->set(name, value);
      }
    }
  }
}

}  // namespace

const Optimizer& Optimizer::param_group(const std::function<bool(const std::string&, const Parameter&)>& chosen,
                                        const Hyperparameters::Values& values) const {
  Named group;
  for (const auto& [path, parameter] : target().link().namedparams())
    if (chosen(path, parameter)) group.emplace_back(path, parameter);
  if (group.empty()) fail<ValueError>("{}: param_group: no parameter was chosen", name());
  set_group(*state_->hyperparam, group, values);
  return *this;
}

const Optimizer& Optimizer::param_group(const std::string& pattern, const Hyperparameters::Values& values) const {
  const std::string whole = pattern.starts_with("/") || pattern.starts_with("*") ? pattern : "/" + pattern;
  const auto chosen = [&](const std::string& path) { return matches(whole, path) || matches(whole + "/*", path); };
  std::vector<std::string> paths;
  for (const auto& [path, parameter] : target().link().namedparams()) paths.push_back(path);
  if (std::none_of(paths.begin(), paths.end(), chosen))
    fail<ValueError>("{}: param_group: there is no parameter or link '{}'; parameters are {}", name(), pattern,
                     fmt::join(paths, ", "));
  return param_group([&](const std::string& path, const Parameter&) { return chosen(path); }, values);
}

const Optimizer& Optimizer::param_group(const Link& part, const Hyperparameters::Values& values) const {
  std::unordered_set<const void*> nodes;
  for (const Parameter& parameter : part.params()) nodes.insert(&parameter.node());
  const std::vector<Parameter> all = target().link().params();
  if (std::none_of(all.begin(), all.end(), [&](const Parameter& p) { return nodes.contains(&p.node()); }))
    fail<ValueError>("{}: param_group: the link ({}) has no parameter of the model", name(), part.type_name());
  return param_group([&](const std::string&, const Parameter& parameter) { return nodes.contains(&parameter.node()); },
                     values);
}

double Optimizer::hyperparameter(const Parameter& parameter, const std::string& name) const {
  const auto* const rule = dynamic_cast<const UpdateRule*>(parameter.update_rule().get());
  const Hyperparameters& all = *state_->hyperparam;
  return rule && rule->hyperparam->parent().get() == &all ? rule->hyperparam->get(name) : all.get(name);
}

void Optimizer::call_hooks(OptimizerHook::Timing timing) const {
  for (const auto& hook : state_->hooks)
    if (hook->timing() == timing) (*hook)(*this);
}

void Optimizer::skip_update() const { state_->skip = true; }

int Optimizer::agreed_signal(int own) const {
  int signal = own;
  for (const auto& hook : state_->hooks) signal = hook->agreed_signal(signal);
  return signal;
}

/// A scale that changes. Chainer stores none: then it goes on from where it is.
void Optimizer::State::serialize_scale(Serializer& serializer) {
  if (serializer.loading()) {
    if (!serializer.contains("loss_scale")) return;
    serializer("loss_scale", stored_scale);
    serializer("loss_scale_overflowed", stored_overflowed);
    serializer.after_loading([this] {
      scale = stored_scale;
      overflowed = stored_overflowed ? full({}, true) : Array();
    });
  } else if (interval > 0) {
    stored_scale = scale.value();
    stored_overflowed = overflowed.defined() && overflowed.item<bool>();
    serializer("loss_scale", stored_scale);
    serializer("loss_scale_overflowed", stored_overflowed);
  }
}

void Optimizer::serialize(Serializer& serializer) const {
  serializer("t", state_->t);
  serializer("epoch", state_->epoch);
  state_->serialize_scale(serializer);
  for (const auto& [path, parameter] : target().link().namedparams()) {
    auto* rule = dynamic_cast<UpdateRule*>(parameter.update_rule().get());
    if (!rule) continue;
    Serializer below = serializer[path.substr(1)];
    rule->serialize(below);
  }
}

}  // namespace catenary
