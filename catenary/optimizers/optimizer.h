#pragma once
// optimizers/: how parameters are changed by their gradients. A rule is elementwise arithmetic, written once; it runs
// as one program over all parameters that share its hyperparameters. Training loops may not come in.

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "catenary/array/number.h"
#include "catenary/links/model.h"

namespace catenary {

/// Numbers by name, with the optimizer's behind a parameter's own. Shared by handles.
/// (chainer.optimizer.Hyperparameter)
class CT_API Hyperparameters {
 public:
  using Values = std::vector<std::pair<std::string, double>>;
  explicit Hyperparameters(Values values) : values_(std::move(values)) {}
  explicit Hyperparameters(std::shared_ptr<const Hyperparameters> parent) : parent_(std::move(parent)) {}
  /// The value of a name, here or in the parent; throws ValueError, which lists the names, for one that neither has.
  double get(const std::string& name) const;
  bool contains(const std::string& name) const;
  /// Throws ValueError for a name that is not defined, here or in the parent: it would change nothing.
  void set(const std::string& name, double value);
  /// From now on the value is `factor` times the parent's, whatever that becomes. Throws ValueError for a name that the
  /// parent does not have.
  void scale(const std::string& name, double factor);
  /// All names with the values in effect.
  Values all() const;
  /// Are there values that override the parent's?
  bool overrides() const { return !values_.empty() || !factors_.empty(); }
  /// What a value comes from that is not here; null for an optimizer's.
  const std::shared_ptr<const Hyperparameters>& parent() const { return parent_; }
  /// What an error says of a name that is not defined: it, and those that are.
  std::string missing(const std::string& name) const;
  /// The name of the rate: "lr", or "alpha" where there is no "lr".
  std::string rate_name() const { return contains("lr") || !contains("alpha") ? "lr" : "alpha"; }
  /// The rate of update t: "lr", or Adam's alpha with its bias correction (alpha itself for t = 0). Throws ValueError
  /// where there is neither.
  double learning_rate(std::int64_t t) const;
  /// The same where perhaps only the device knows t, which is 1 or more.
  Number learning_rate(const Number& t) const;

 private:
  friend class Optimizer;
  std::shared_ptr<const Hyperparameters> parent_;
  Values values_, factors_;  // a name is in one of them at most
};

class UpdateRule;

/// What an optimizer's numbers are computed from, once for all parameters that share them.
struct UpdateNumbers {
  const Number& t;  ///< the number of this update, from 1; updates that were skipped do not count
  const Hyperparameters& hyperparam;
  double operator()(const std::string& name) const { return hyperparam.get(name); }
};

/// What an optimizer's formula sees of one parameter. It changes x and the state in place, by elementwise operations
/// best: then one program updates all parameters at once, and the arrays are 1-d.
class CT_API UpdateStep {
 public:
  const Array& x;   ///< the parameter; the float32 one of a 16-bit parameter that is updated in float32
  const Array& g;   ///< its gradient
  const Number& t;  ///< the number of this update, from 1: reading it may wait for the device
  const Hyperparameters& hyperparam;
  /// A hyperparameter: the parameter's own, else the optimizer's.
  double operator()(const std::string& name) const { return hyperparam.get(name); }
  /// The state of this name; throws ValueError for one that the rule does not have.
  const Array& operator[](const std::string& name) const;
  /// A number of the rule's; throws ValueError for one that it does not have.
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

/// An array that a rule keeps for each parameter, of its shape.
struct CT_API OptimizerState {
  OptimizerState(const char* name, std::optional<double> first = 0, std::optional<Dtype> dtype = {})
      : name(name), first(first), dtype(dtype) {}
  std::string name;             ///< in snapshots
  std::optional<double> first;  ///< what it is filled with before the first update; none: the parameter's own values
  std::optional<Dtype> dtype;   ///< none: the parameter's, float32 for a 16-bit one (squares would be lost there)
};

/// How an optimizer changes a parameter by its gradient: all that tells one optimizer from another.
struct OptimizerRule {
  std::string name;
  std::vector<OptimizerState> state = {};
  std::vector<std::pair<std::string, double>> hyperparameters = {};  ///< with their first values
  std::function<void(const UpdateStep&)> step = {};
  /// Numbers that the step needs and that depend on t: they are computed once, and not for each element.
  std::function<std::vector<std::pair<std::string, Number>>(const UpdateNumbers&)> numbers = {};
};

class Optimizer;

/// One hyperparameter of an optimizer, read and written like a number: `optimizer.lr = 0.1`.
class CT_API Hyper {
 public:
  /// Throws ValueError for a name that the optimizer's rule does not have.
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

/// The state of one parameter's updates: arrays such as Adam's m and v, the count t, and hyperparameters of its own.
class CT_API UpdateRule : public UpdateRuleBase {
 public:
  UpdateRule(std::shared_ptr<const OptimizerRule> rule, std::shared_ptr<const Hyperparameters> optimizer);
  /// Overrides for this parameter: `parameter_rule.hyperparam->set("lr", 0.01)`.
  const std::shared_ptr<Hyperparameters> hyperparam;
  bool enabled = true;
  /// Is a 16-bit parameter kept in float32 beside, where it is updated? Then its own values are those, rounded.
  /// (chainer.UpdateRule.use_fp32_update)
  bool use_fp32_update = true;
  /// How many updates there were, without those that were skipped. Waits for the device where some may have been.
  std::int64_t t() const;
  /// In the order of the rule's; undefined before the first update.
  std::vector<std::pair<std::string, Array>> state;
  /// Own hooks, run after the optimizer's, by name.
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
  std::int64_t begun_ = 0;  // updates, with those that were skipped
  Number skipped_ = 0;      // of these
  Array float32_;           // the parameter, where it is updated in float32
};

/// How long a trainer is going to train, and in what steps.
struct TrainingPlan {
  std::int64_t examples = 0;    ///< of an epoch
  std::int64_t batch_size = 0;  ///< of an iteration
  std::int64_t length = 0;      ///< epochs, or iterations; 0: not known
  bool in_epochs = true;
};

/// Called with the optimizer in each update. (chainer.optimizer_hooks)
class CT_API OptimizerHook {
 public:
  virtual ~OptimizerHook();
  virtual std::string name() const = 0;
  /// exchange: before everything else, where processes make one gradient of theirs; the loss scale is still in it.
  /// pre: on gradients without the loss scale, before parameters are updated; post: after that.
  enum class Timing { exchange, pre, post };
  virtual Timing timing() const { return Timing::pre; }
  /// Hyperparameters that the optimizer has while the hook is there, with their first values: schedules and groups of
  /// parameters know them as they know the optimizer's own.
  virtual Hyperparameters::Values hyperparameters() const { return {}; }
  /// Numbers beside these that it goes by, for processes to compare.
  virtual Hyperparameters::Values numbers() const { return {}; }
  /// Called when a trainer begins.
  virtual void begin_training(const TrainingPlan&) {}
  /// Called by update(loss) before it computes the loss.
  virtual void before_loss(const Optimizer&, const std::function<Variable()>&) {}
  /// Does this hook want after_gradient in the backward that begins now?
  virtual bool follows_backward(const Optimizer&) { return false; }
  /// Called by update(loss) while backward goes on, with a parameter (or another leaf) and its gradient, which is final
  /// but not yet its grad. What backward does not reach is never called with.
  virtual void after_gradient(const Optimizer&, const VariableNode& /*leaf*/, const Array& /*gradient*/) {}
  /// Of processes that train together: the signal (or 0) that all of them go by after this update, given one's own.
  virtual int agreed_signal(int own) const { return own; }
  virtual void operator()(const Optimizer& optimizer) = 0;
};

/// What is updated by what. A handle: copies are the same optimizer. Derived classes (Adam, SGD, …) give the rule, and
/// members for its hyperparameters. (chainer.GradientMethod)
class CT_API Optimizer {
 public:
  /// An optimizer by its rule. Throws ValueError for a rule without step, and for names that are not its own.
  explicit Optimizer(OptimizerRule rule);
  Optimizer(const Optimizer&) = default;
  Optimizer& operator=(const Optimizer&) = delete;

  /// Sets what is to be optimised; every parameter gets an update rule. Throws ValueError for a model without
  /// parameters, and for one with members that CT_LINKS does not name (Link::check_members). Returns this optimizer.
  const Optimizer& setup(const Model& target) const;
  const Model& target() const;

  /// Updates all parameters from their gradients as they are: hooks of Timing::exchange, the loss scale divided out,
  /// hooks of Timing::pre in the order in which they were added, the rules, hooks of Timing::post.
  void update() const;
  /// Clears the gradients, computes `loss(args…)`, its gradients, and updates. (Chainer's optimizer.update(lossfun, …))
  void update(const std::function<Variable()>& loss) const;
  /// The same with the target itself as the loss function.
  void update(const Batch& batch) const;

  void new_epoch() const;
  std::int64_t t() const;
  std::int64_t epoch() const;
  /// Multiplies the loss before backward by a number, and divides it out again before hooks see the gradients, so that
  /// small gradients are not lost in float16. The number is `scale`; or, without it, one that is doubled with each
  /// update up to 65504, halved when a gradient is inf or NaN, and, where that was above 1, from then on doubled in
  /// `interval` updates that have none. Such an update is skipped: parameters and state stay as they are, which the
  /// device decides, so that nobody waits. A model with float16 parameters has the second by itself: `loss_scaling({},
  /// 1)` leaves it out. Throws ValueError for an interval below 1, and for a scale that is not a positive number.
  /// (chainer.Optimizer.loss_scaling)
  void loss_scaling(std::int64_t interval = 1000, std::optional<double> scale = {}) const;
  void loss_scaling(std::floating_point auto) const = delete;  // was it meant for the scale? set_loss_scale
  /// loss_scaling with a number that does not change. (chainer.Optimizer.set_loss_scale)
  void set_loss_scale(double scale) const;
  /// What the next update multiplies its loss by: for `loss.backward(false, false, optimizer.loss_scale())`.
  const Number& loss_scale() const;
  /// Had the last update no gradient that is inf or NaN, so that it was not skipped? Waits for the device. True where
  /// the scale does not change. (chainer.Optimizer.is_safe_to_update)
  bool is_safe_to_update() const;
  /// Throws ValueError that names the loss and a gradient when update after update is skipped though the scale is 1:
  /// the last eight, or all that there were. So it is where a NaN is in the data and not in a scale that is too large.
  /// Each 32nd update does so by itself, so that a training which no longer changes anything is told within 64 updates.
  /// Waits for the device.
  void check_skipped_updates() const;
  /// Are 16-bit parameters kept in float32 beside, and updated there? They are unless this says otherwise.
  /// (chainer.GradientMethod.use_fp32_update)
  void use_fp32_update(bool use = true) const;
  /// From now on updates look for inf and NaN in the gradients when they divide the loss scale out.
  void look_for_non_finite(bool look = true) const;
  /// 0-d bool on the device: had the gradients of the last update, or of the one whose hooks run, an inf or a NaN
  /// before hooks changed them? Reading it waits for the device, computing with it does not. Throws ValueError unless
  /// the last update looked.
  const Array& non_finite() const;

  /// Gives some of the parameters hyperparameters of their own, by the link that they are in: `{{"lr", 0.01}}`. The
  /// rate
  /// ("lr", Adam's "alpha") keeps its proportion to the optimizer's, so that a schedule changes both; all else stays as
  /// it is given. A later group goes before an earlier one. Call it after setup(model), which forgets groups, and
  /// before training: groups are not in snapshots. Throws ValueError for a name that the optimizer does not have, for a
  /// link without parameters of the target, and for a rate where the optimizer's is 0. (torch's parameter groups)
  const Optimizer& param_group(const Link& part, const Hyperparameters::Values& values) const;
  /// The same by name: the path of a parameter ("predictor/l1/W") or of a link, for all that is below; `*` stands for
  /// any characters ("*/b"). Throws ValueError that lists the paths when there is none such.
  const Optimizer& param_group(const std::string& pattern, const Hyperparameters::Values& values) const;
  /// The same for those for which `chosen` is true.
  const Optimizer& param_group(const std::function<bool(const std::string& path, const Parameter&)>& chosen,
                               const Hyperparameters::Values& values) const;
  /// The value that is in effect for a parameter: its group's, else the optimizer's.
  double hyperparameter(const Parameter& parameter, const std::string& name) const;

  /// Adds a hook; throws ValueError when one of its name is there, when one of its hyperparameters has a name that is
  /// taken, and for one that is not of Timing::exchange before setup(model).
  void add_hook(std::shared_ptr<OptimizerHook> hook) const;
  template <std::derived_from<OptimizerHook> H>
  void add_hook(const H& hook) const {
    add_hook(std::make_shared<H>(hook));
  }
  void remove_hook(const std::string& name) const;
  void call_hooks(OptimizerHook::Timing timing) const;
  /// Called by an updater when training begins: tells the hooks.
  void begin_training(const TrainingPlan& plan) const;
  /// Called by a hook of Timing::exchange: the update ends with these hooks, and does not count.
  void skip_update() const;
  /// What the hooks make of a signal that came, or of 0: with it training ends.
  int agreed_signal(int own) const;

  /// The hyperparameters by name, for schedules.
  Hyperparameters& hyperparam() const;
  /// The rate of the last update, by Hyperparameters::learning_rate.
  double learning_rate() const { return hyperparam().learning_rate(t()); }
  /// Class name: "Adam".
  std::string name() const;
  /// All numbers that decide an update beside gradients and state, a line each: hyperparameters, those of hooks, those
  /// that parameters have of their own, and the loss scale.
  std::vector<std::string> settings() const;

  /// Counters, and each rule's state under the parameter's path.
  void serialize(Serializer& serializer) const;

 private:
  friend class Hyper;
  friend class OptimizerFormula;
  struct State;
  std::shared_ptr<State> state_;
};

}  // namespace catenary
