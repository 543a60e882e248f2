// Optimizer: the order of an update, hooks, and groups of parameters.

#include <algorithm>
#include <string_view>
#include <unordered_set>

#include "catenary/array/body.h"
#include "catenary/array/creation.h"
#include "catenary/autograd/walk.h"
#include "catenary/core/format.h"
#include "catenary/optimizers/detail.h"

namespace catenary {

OptimizerHook::~OptimizerHook() = default;

Optimizer::Optimizer(OptimizerRule rule) {
  if (!rule.step) fail<ValueError>("{}: the rule has no step", rule.name);
  std::unordered_set<std::string> names{"t"};  // snapshots use "t" for the count
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
  state_->in_a_row = Array();
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

/// Whether several elements share memory. (The gradient of a sum is its gradient, broadcast.)
bool is_broadcast(const Array& x) {
  for (int axis = 0; axis < x.ndim(); ++axis)
    if (x.strides()[axis] == 0 && x.shape()[axis] > 1) return true;
  return false;
}

/// Gives every parameter a gradient in separate memory, so that changing it in place affects no other. (The gradients
/// of a and b in a + b are the same array.)
void give_gradients(const std::vector<Parameter>& parameters, const Number& scale) {
  const std::optional<Number> of_zeros = walk::scale_of_zeros(parameters, scale);
  std::unordered_set<const void*> seen;
  for (const Parameter& p : parameters) {
    const Array grad = p.grad();
    if (!grad.defined()) {
      p.zerograd();
      p.set_loss_scale(of_zeros);
    } else if (const ArrayBody& body = grad.body();
               !seen.insert(body.storage ? static_cast<const void*>(body.storage.get()) : &body).second ||
               is_broadcast(grad)) {
      p.set_grad(grad.copy());
    }
  }
}

}  // namespace

void Optimizer::update() const {
  const std::vector<Parameter> parameters = target().link().params(false);
  give_gradients(parameters, loss_scale());
  call_hooks(OptimizerHook::Timing::exchange);
  if (std::exchange(state_->skip, false)) return;
  state_->decide_scale();
  const bool may_skip = state_->interval > 0;
  state_->loss = std::exchange(state_->coming, Array());
  state_->non_finite = Array();
  if (may_skip || state_->look_for_non_finite) state_->look_through(parameters);
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
        if (p.defined()) frozen->insert(&p.node());  // a layer without bias has an undefined parameter
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
  bring_gradients_back(parameters);
  call_hooks(OptimizerHook::Timing::post);
  if (!may_skip) return;
  state_->next_scale();
  if (state_->t % kLookEvery == 0) check_skipped_updates();
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
  state_->coming = state_->interval > 0 ? value.array() : Array();
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

void Optimizer::use_fp32_update(bool use) const {
  state_->use_fp32_update = use;
  if (!state_->target.defined()) return;
  for (const Parameter& p : state_->target.link().params())
    if (auto* const rule = dynamic_cast<UpdateRule*>(p.update_rule().get())) rule->use_fp32_update = use;
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
      fail<ValueError>("add_hook: {} already has a hyperparameter '{}', which {} would add again", name(), entry.first,
                       hook->name());
  for (const auto& [given_name, value] : given) state_->hyperparam->values_.emplace_back(given_name, value);
  state_->hooks.push_back(std::move(hook));
}

void Optimizer::remove_hook(const std::string& name) const {
  const auto at =
      std::find_if(state_->hooks.begin(), state_->hooks.end(), [&](const auto& hook) { return hook->name() == name; });
  if (at == state_->hooks.end()) fail<ValueError>("remove_hook: the optimizer has no hook named '{}'", name);
  for (const auto& entry : (*at)->hyperparameters()) remove_entry(state_->hyperparam->values_, entry.first);
  state_->hooks.erase(at);
}

namespace {

/// Whether the text matches a pattern, in which `*` stands for any characters.
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
      fail<ValueError>("param_group: the optimizer's {} is 0, so a group's value cannot keep its ratio to it", rate);
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

namespace {
/// Whether the file has the state of another parameter of the link.
bool has_sibling(const Serializer& serializer, const std::vector<std::pair<std::string, Parameter>>& all,
                 const std::string& path) {
  const std::string link = path.substr(0, path.rfind('/') + 1);
  return std::ranges::any_of(all, [&](const auto& other) {
    return other.first != path && other.first.starts_with(link) && serializer[other.first.substr(1)].contains("t");
  });
}
}  // namespace

void Optimizer::serialize(Serializer& serializer) const {
  serializer("t", state_->t);
  serializer("epoch", state_->epoch);
  state_->serialize_scale(serializer);
  const auto parameters = target().link().namedparams();
  for (const auto& [path, parameter] : parameters) {
    auto* rule = dynamic_cast<UpdateRule*>(parameter.update_rule().get());
    if (!rule) continue;
    Serializer below = serializer[path.substr(1)];
    try {
      rule->serialize(below);
    } catch (const FileError& error) {
      if (!below.loading() || below.contains("t")) throw;
      fail<FileError>(
          "{}: the file has nothing of the optimizer for {}: {} {}", name(), path,
          has_sibling(serializer, parameters, path)
              ? "there this parameter was not updated. (Of a net with quantised or frozen weights: quantise or "
                "freeze this one, too, before setup.)"
              : "it was saved of another model, or with other options.",
          error.what());
    }
  }
}

}  // namespace catenary
