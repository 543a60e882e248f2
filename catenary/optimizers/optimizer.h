#pragma once
// optimizers/: how parameters are changed by their gradients. A rule is elementwise arithmetic, written once; it runs
// as one program over all parameters that share its hyperparameters. Training loops may not come in.

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "catenary/links/model.h"

namespace catenary {

/// Numbers by name, with the optimizer's behind a parameter's own. Shared by handles.
/// (chainer.optimizer.Hyperparameter)
class CT_API Hyperparameters {
 public:
  explicit Hyperparameters(std::shared_ptr<const Hyperparameters> parent = {}) : parent_(std::move(parent)) {}
  /// The value of a name, here or in the parent; throws ValueError for a name that neither has.
  double get(const std::string& name) const;
  bool contains(const std::string& name) const;
  /// Throws ValueError for a name that is not defined, here or in the parent: it would change nothing.
  void set(const std::string& name, double value);
  /// Adds a name, or gives it another value. For those who write an optimizer.
  void define(const std::string& name, double value);
  /// All names with the values in effect.
  std::vector<std::pair<std::string, double>> all() const;
  /// Are there values that override the parent's?
  bool overrides() const { return !values_.empty(); }

 private:
  std::shared_ptr<const Hyperparameters> parent_;
  std::vector<std::pair<std::string, double>> values_;
};

/// One hyperparameter of an optimizer, read and written like a number: `optimizer.lr = 0.1`.
class CT_API Hyper {
 public:
  /// Defines the name, with its first value.
  Hyper(std::shared_ptr<Hyperparameters> all, std::string name, double value)
      : all_(std::move(all)), name_(std::move(name)) {
    all_->define(name_, value);
  }
  Hyper(const Hyper&) = default;
  operator double() const { return all_->get(name_); }
  const Hyper& operator=(double value) const {
    all_->set(name_, value);
    return *this;
  }
  const Hyper& operator=(const Hyper& other) const { return *this = static_cast<double>(other); }
  const Hyper& operator*=(double factor) const { return *this = *this * factor; }

 private:
  std::shared_ptr<Hyperparameters> all_;
  std::string name_;
};

class Optimizer;

/// The state of one parameter's updates: arrays such as Adam's m and v, the count t, and hyperparameters of its own.
class CT_API UpdateRule : public UpdateRuleBase {
 public:
  explicit UpdateRule(std::shared_ptr<Hyperparameters> optimizer)
      : hyperparam(std::make_shared<Hyperparameters>(std::move(optimizer))) {}
  /// Overrides for this parameter: `parameter_rule.hyperparam->set("lr", 0.01)`.
  const std::shared_ptr<Hyperparameters> hyperparam;
  bool enabled = true;
  std::int64_t t = 0;
  std::vector<std::pair<std::string, Array>> state;
  /// Own hooks, run after the optimizer's, by name.
  std::vector<std::pair<std::string, std::function<void(UpdateRule&, const Parameter&)>>> hooks;

  void update(const Parameter& parameter) override;
  void serialize(Serializer& serializer);

 private:
  friend class Optimizer;
  std::function<void(const Parameter&)> run_;
};

/// Called with the optimizer before parameters are updated. (chainer.optimizer_hooks)
class CT_API OptimizerHook {
 public:
  virtual ~OptimizerHook();
  virtual std::string name() const = 0;
  enum class Timing { pre, post };
  virtual Timing timing() const { return Timing::pre; }
  virtual void operator()(const Optimizer& optimizer) = 0;
};

/// What is updated by what. A handle: copies are the same optimizer. Derived classes (Adam, SGD, …) add the rule.
/// (chainer.GradientMethod)
class CT_API Optimizer {
 public:
  Optimizer(const Optimizer&) = default;
  Optimizer& operator=(const Optimizer&) = delete;

  /// Sets what is to be optimised; every parameter gets an update rule. Throws ValueError for a model without
  /// parameters, and for one with members that CT_LINKS does not name (Link::check_members). Returns this optimizer.
  const Optimizer& setup(const Model& target) const;
  const Model& target() const;

  /// Updates all parameters from their gradients as they are.
  void update() const;
  /// Clears the gradients, computes `loss(args…)`, its gradients, and updates. (Chainer's optimizer.update(lossfun, …))
  void update(const std::function<Variable()>& loss) const;
  /// The same with the target itself as the loss function.
  void update(const Batch& batch) const;

  void new_epoch() const;
  std::int64_t t() const;
  std::int64_t epoch() const;
  /// Factor on the loss before backward, divided out again before the update; for 16-bit training.
  void loss_scaling(double scale) const;

  /// Adds a hook; throws ValueError when one of its name is there.
  void add_hook(std::shared_ptr<OptimizerHook> hook) const;
  template <std::derived_from<OptimizerHook> H>
  void add_hook(const H& hook) const {
    add_hook(std::make_shared<H>(hook));
  }
  void remove_hook(const std::string& name) const;
  void call_hooks(OptimizerHook::Timing timing) const;

  /// The hyperparameters by name, for schedules.
  Hyperparameters& hyperparam() const;
  /// The rate in effect: "lr", or Adam's alpha with its bias correction (alpha before the first update). Throws
  /// ValueError for an optimizer without either.
  double learning_rate() const;
  /// Class name: "Adam".
  std::string name() const;

  /// Counters, and each rule's state under the parameter's path.
  void serialize(Serializer& serializer) const;

 protected:
  struct Rule;
  struct State;
  static std::shared_ptr<State> make_state(Rule rule);
  explicit Optimizer(std::shared_ptr<State> state) : state_(std::move(state)) {}
  std::shared_ptr<State> state_;
};

}  // namespace catenary
