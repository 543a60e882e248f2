#pragma once
// optimizers/: updates parameters by their gradients. A rule is elementwise arithmetic, and runs as a single program
// over all parameters that share its hyperparameters. optimizers/ must not include training loops.

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "catenary/array/number.h"
#include "catenary/links/model.h"

namespace catenary {

/// Named numbers. A parameter's values take precedence over the optimizer's. Shared by handles.
/// (chainer.optimizer.Hyperparameter)
class CT_API Hyperparameters {
 public:
  using Values = std::vector<std::pair<std::string, double>>;
  explicit Hyperparameters(Values values) : values_(std::move(values)) {}
  explicit Hyperparameters(std::shared_ptr<const Hyperparameters> parent) : parent_(std::move(parent)) {}
  /// Returns a value from here or from the parent. Throws ValueError that lists the known names.
  double get(const std::string& name) const;
  bool contains(const std::string& name) const;
  /// Throws ValueError for a name that neither this object nor the parent defines.
  void set(const std::string& name, double value);
  /// Makes the value `factor` times the parent's from now on, also when the parent's changes. Throws ValueError for a
  /// name that the parent does not have.
  void scale(const std::string& name, double factor);
  /// Returns all names with their effective values.
  Values all() const;
  /// Whether any values override the parent's.
  bool overrides() const { return !values_.empty() || !factors_.empty(); }
  /// The source of values that are not set here. Null for an optimizer's.
  const std::shared_ptr<const Hyperparameters>& parent() const { return parent_; }
  /// Returns the error text for an undefined name, with the defined names.
  std::string missing(const std::string& name) const;
  /// Returns the name of the learning rate: "lr", or "alpha" if there is no "lr".
  std::string rate_name() const { return contains("lr") || !contains("alpha") ? "lr" : "alpha"; }
  /// Returns the learning rate of update t: "lr", or Adam's alpha with its bias correction (plain alpha for t = 0).
  /// Throws ValueError if there is neither.
  double learning_rate(std::int64_t t) const;
  /// Returns the learning rate when t (at least 1) may be known only on the device.
  Number learning_rate(const Number& t) const;

 private:
  friend class Optimizer;
  std::shared_ptr<const Hyperparameters> parent_;
  Values values_, factors_;  // disjoint
};

class UpdateRule;

/// The inputs of an optimizer's numbers, which are computed once for all parameters that share them.
struct UpdateNumbers {
  const Number& t;  ///< the number of this update, from 1, without skipped updates
  const Hyperparameters& hyperparam;
  double operator()(const std::string& name) const { return hyperparam.get(name); }
};

/// The arguments of an optimizer's formula for one parameter. The formula changes x and the state in place. If it uses
/// only elementwise operations, a single program updates all parameters at once, and the arrays are 1-d.
class CT_API UpdateStep {
 public:
  const Array& x;   ///< the parameter, in float32 if a 16-bit parameter is updated in float32
  const Array& g;   ///< the gradient
  const Number& t;  ///< the number of this update, from 1; reading it may wait for the device
  const Hyperparameters& hyperparam;
  /// Returns a hyperparameter, the parameter's or the optimizer's.
  double operator()(const std::string& name) const { return hyperparam.get(name); }
  /// Returns a state array. Throws ValueError for unknown names.
  const Array& operator[](const std::string& name) const;
  /// Returns a number of the rule. Throws ValueError for unknown names.
  const Number& number(const std::string& name) const;

 private:
  friend class UpdateRule;
  using Numbers = std::vector<std::pair<std::string, Number>>;
  UpdateStep(const UpdateRule& rule, const std::vector<Array>& arrays, const Array& gradient, const Number& t,
             const Numbers& numbers);
  const UpdateRule& rule_;
  const std::vector<Array>& arrays_;  // parameter, gradient, state
  const Numbers& numbers_;
};

/// An array of each parameter's shape that a rule keeps.
struct CT_API OptimizerState {
  OptimizerState(const char* name, std::optional<double> first = 0, std::optional<Dtype> dtype = {})
      : name(name), first(first), dtype(dtype) {}
  std::string name;             ///< key in snapshots
  std::optional<double> first;  ///< initial value, nullopt for a copy of the parameter
  std::optional<Dtype> dtype;   ///< nullopt for the parameter's, but at least float32 (16 bits would lose squares)
};

/// The rule by which an optimizer changes a parameter: everything that differs between optimizers.
struct OptimizerRule {
  std::string name;
  std::vector<OptimizerState> state = {};
  std::vector<std::pair<std::string, double>> hyperparameters = {};  ///< with their initial values
  std::function<void(const UpdateStep&)> step = {};
  /// Numbers for the step that depend on t. They are computed once, not for each element.
  std::function<std::vector<std::pair<std::string, Number>>(const UpdateNumbers&)> numbers = {};
};

class Optimizer;

/// A hyperparameter of an optimizer, read and written like a number: `optimizer.lr = 0.1`.
class CT_API Hyper {
 public:
  /// Throws ValueError for a name that the optimizer does not have.
  Hyper(const Optimizer& optimizer, std::string name);
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

/// The update state of a parameter: arrays such as Adam's m and v, the count t, and overridden hyperparameters.
class CT_API UpdateRule : public UpdateRuleBase {
 public:
  UpdateRule(std::shared_ptr<const OptimizerRule> rule, std::shared_ptr<const Hyperparameters> optimizer);
  /// Overrides for this parameter: `parameter_rule.hyperparam->set("lr", 0.01)`.
  const std::shared_ptr<Hyperparameters> hyperparam;
  bool enabled = true;
  /// Keeps a float32 copy of a 16-bit parameter and updates that. The parameter itself is the rounded copy.
  /// (chainer.UpdateRule.use_fp32_update)
  bool use_fp32_update = true;
  /// Returns the number of updates without skipped ones. May wait for the device if updates may have been skipped.
  std::int64_t t() const;
  /// In the rule's order, undefined before the first update.
  std::vector<std::pair<std::string, Array>> state;
  /// Named hooks of this parameter, run after the optimizer's.
  std::vector<std::pair<std::string, std::function<void(UpdateRule&, const Parameter&)>>> hooks;

  void update(const Parameter& parameter) override;
  void serialize(Serializer& serializer);

 private:
  friend class Optimizer;
  friend class OptimizerFormula;
  friend class UpdateStep;
  struct Job;
  struct Call;
  static void update_all(const std::vector<Parameter>& parameters, const Call& call);
  bool prepare(const Parameter& parameter, Job& job);
  static bool alike(const Job& a, const Job& b);
  static void run(const std::vector<Job>& group, const Call& call);
  static void unscale_for_hooks(const std::vector<Parameter>& parameters, bool has_hooks);
  bool in_float32(const Parameter& parameter) const;
  std::shared_ptr<const OptimizerRule> rule_;
  std::int64_t begun_ = 0;  // updates, including skipped ones
  Number skipped_ = 0;      // skipped updates
  Array float32_;           // float32 copy of the parameter, if used
};

/// The length and the steps of a planned training.
struct TrainingPlan {
  std::int64_t examples = 0;    ///< per epoch
  std::int64_t batch_size = 0;  ///< per iteration
  std::int64_t length = 0;      ///< epochs or iterations, 0 if unknown
  bool in_epochs = true;
};

/// Called with the optimizer in each update. (chainer.optimizer_hooks)
class CT_API OptimizerHook {
 public:
  virtual ~OptimizerHook();
  virtual std::string name() const = 0;
  /// When the hook runs. exchange: first, to combine the gradients of several processes, which still contain the loss
  /// scale. pre: on gradients without the loss scale, before parameters are updated. post: after the update.
  enum class Timing { exchange, pre, post };
  virtual Timing timing() const { return Timing::pre; }
  /// Returns hyperparameters, with initial values, that the optimizer has while the hook is attached. Schedules and
  /// parameter groups can change them.
  virtual Hyperparameters::Values hyperparameters() const { return {}; }
  /// Returns further numbers that affect the hook, for comparison between processes.
  virtual Hyperparameters::Values numbers() const { return {}; }
  /// Called when a trainer begins.
  virtual void begin_training(const TrainingPlan&) {}
  /// Called by update(loss) before it computes the loss.
  virtual void before_loss(const Optimizer&, const std::function<Variable()>&) {}
  /// Whether the hook wants after_gradient in the backward pass that begins now.
  virtual bool follows_backward(const Optimizer&) { return false; }
  /// Called by update(loss) during the backward pass with a parameter (or another leaf) and its final gradient, before
  /// it becomes the leaf's grad. Not called for leaves that backward does not reach.
  virtual void after_gradient(const Optimizer&, const VariableNode& /*leaf*/, const Array& /*gradient*/) {}
  /// Returns the signal (or 0) on which all cooperating processes act after this update, given this process's signal.
  virtual int agreed_signal(int own) const { return own; }
  virtual void operator()(const Optimizer& optimizer) = 0;
};

/// Updates a model's parameters. A handle: copies are the same optimizer. Derived classes (Adam, SGD, …) supply the
/// rule, and members for its hyperparameters. (chainer.GradientMethod)
class CT_API Optimizer {
 public:
  /// Creates an optimizer from a rule. Throws ValueError for a rule without step, and for names that are already in
  /// use.
  explicit Optimizer(OptimizerRule rule);
  Optimizer(const Optimizer&) = default;
  Optimizer& operator=(const Optimizer&) = delete;

  /// Sets the model to optimise and gives every parameter an update rule. Returns this optimizer. Throws ValueError for
  /// a model without parameters, or with members that CT_LINKS does not name (Link::check_members).
  const Optimizer& setup(const Model& target) const;
  /// Sets up a link that is known only by an abstract base, such as the result of load_language_model.
  template <class L>
  requires(std::is_abstract_v<L>) const Optimizer& setup(const L& target) const { return setup(target.model()); }
  const Model& target() const;

  /// Updates all parameters from their current gradients. Order: hooks of Timing::exchange, division by the loss scale,
  /// hooks of Timing::pre in the order they were added, the rules, hooks of Timing::post.
  void update() const;
  /// Clears the gradients, computes `loss(args…)` and its gradients, and updates. (Chainer's optimizer.update(lossfun,
  /// …))
  void update(const std::function<Variable()>& loss) const;
  /// Updates with the target itself as the loss function.
  void update(const Batch& batch) const;

  void new_epoch() const;
  std::int64_t t() const;
  std::int64_t epoch() const;
  /// Scales the loss, so that small gradients do not underflow in float16. Gradients are divided by the scale before
  /// hooks see them. The scale is `scale` or, if not given, dynamic: it doubles with each update up to 65504, and
  /// halves when a gradient is inf or NaN. After an overflow at a scale above 1, it doubles only after `interval`
  /// updates without overflow. An update with an overflow is skipped, and parameters and state stay as they are. The
  /// device decides that without waiting for the host.
  ///
  /// Models with float16 parameters use a dynamic scale by default. `loss_scaling({}, 1)` turns it off. Throws
  /// ValueError for an interval below 1, and for a scale that is not a positive number.
  /// (chainer.Optimizer.loss_scaling)
  void loss_scaling(std::int64_t interval = 1000, std::optional<double> scale = {}) const;
  void loss_scaling(std::floating_point auto) const = delete;  // for a scale use set_loss_scale
  /// Sets a constant loss scale. (chainer.Optimizer.set_loss_scale)
  void set_loss_scale(double scale) const;
  /// The loss scale of the next update: pass it as `loss.backward(false, false, optimizer.loss_scale())`.
  const Number& loss_scale() const;
  /// Whether the last update was not skipped because of inf or NaN. Waits for the device. Always true for a constant
  /// scale. (chainer.Optimizer.is_safe_to_update)
  bool is_safe_to_update() const;
  /// Throws ValueError that names the loss and a gradient if consecutive updates are skipped at a scale of 1: the last
  /// eight, or all so far. The data then contain NaN, and lowering the scale does not help. Every 32nd update calls
  /// this check, so a training without progress ends within 64 updates. Waits for the device.
  void check_skipped_updates() const;
  /// Keeps float32 copies of 16-bit parameters and updates these. On by default.
  /// (chainer.GradientMethod.use_fp32_update)
  void use_fp32_update(bool use = true) const;
  /// Makes updates check the gradients for inf and NaN while dividing by the loss scale.
  void look_for_non_finite(bool look = true) const;
  /// 0-d bool on the device: whether gradients of the last update, or of the current one while hooks run, had inf or
  /// NaN before hooks changed them. Reading it waits for the device, computing with it does not. Throws ValueError
  /// unless the last update was checked.
  const Array& non_finite() const;

  /// Overrides hyperparameters of the parameters inside a link: `{{"lr", 0.01}}`. The learning rate ("lr", Adam's
  /// "alpha") keeps its ratio to the optimizer's, so that schedules change both. Other values stay constant. Later
  /// groups take precedence. Call it after setup(model), which removes all groups, and before training, because
  /// snapshots do not store groups. Throws ValueError for unknown names, for a link without parameters of the target,
  /// and for a learning rate if the optimizer's is 0. (torch's parameter groups)
  const Optimizer& param_group(const Link& part, const Hyperparameters::Values& values) const;
  /// Overrides hyperparameters by path: of a parameter ("predictor/l1/W"), or of a link for all parameters below. `*`
  /// matches any characters ("*/b"). Throws ValueError that lists the paths if none matches.
  const Optimizer& param_group(const std::string& pattern, const Hyperparameters::Values& values) const;
  /// The same for those for which `chosen` is true.
  const Optimizer& param_group(const std::function<bool(const std::string& path, const Parameter&)>& chosen,
                               const Hyperparameters::Values& values) const;
  /// The value that is in effect for a parameter: its group's, else the optimizer's.
  double hyperparameter(const Parameter& parameter, const std::string& name) const;

  /// Adds a hook. Throws ValueError if a hook of its name exists, if one of its hyperparameters has a name in use, and
  /// before setup(model) unless its timing is Timing::exchange.
  void add_hook(std::shared_ptr<OptimizerHook> hook) const;
  template <std::derived_from<OptimizerHook> H>
  void add_hook(const H& hook) const {
    add_hook(std::make_shared<H>(hook));
  }
  void remove_hook(const std::string& name) const;
  void call_hooks(OptimizerHook::Timing timing) const;
  /// Called by an updater when training begins. Notifies the hooks.
  void begin_training(const TrainingPlan& plan) const;
  /// Ends the current update after the hooks of Timing::exchange, without counting it. Called by such a hook.
  void skip_update() const;
  /// Passes a received signal, or 0, through the hooks. Training ends if the result is a signal.
  int agreed_signal(int own) const;

  /// Returns the hyperparameters by name, for schedules.
  Hyperparameters& hyperparam() const;
  /// Returns the learning rate of the last update, see Hyperparameters::learning_rate.
  double learning_rate() const { return hyperparam().learning_rate(t()); }
  /// Returns the class name: "Adam".
  std::string name() const;
  /// Returns all numbers that affect updates beside gradients and state, one per line: hyperparameters of the
  /// optimizer, of hooks and of parameters, and the loss scale.
  std::vector<std::string> settings() const;

  /// Saves or loads counters, and each rule's state under the parameter's path.
  void serialize(Serializer& serializer) const;

 private:
  friend class Hyper;
  friend class OptimizerFormula;
  struct State;
  std::shared_ptr<State> state_;
};

}  // namespace catenary
