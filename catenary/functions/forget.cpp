#include "catenary/functions/forget.h"

#include <iterator>
#include <memory>
#include <utility>

#include "catenary/array/random.h"
#include "catenary/autograd/defined.h"
#include "catenary/autograd/function_node.h"
#include "catenary/autograd/operators.h"
#include "catenary/autograd/state_variable.h"
#include "catenary/autograd/walk.h"
#include "catenary/core/config.h"
#include "catenary/core/format.h"

namespace catenary::functions {

namespace {

/// A call of a function, the first or the repeated one. Calls may be nested.
class Pass {
 public:
  Pass(std::vector<Array>& log, bool again) : log_(log), again_(again) { all().push_back(this); }
  ~Pass() { all().pop_back(); }
  Pass(const Pass&) = delete;
  Pass& operator=(const Pass&) = delete;

  static std::vector<Pass*>& all() {
    thread_local std::vector<Pass*> passes;
    return passes;
  }
  void see(Array& value) {
    if (!again_) {
      log_.push_back(value);
    } else if (next_ < log_.size()) {
      value = log_[next_++];
    } else {
      throw ValueError("forget: the function does not behave as in the first call");
    }
  }

 private:
  std::vector<Array>& log_;
  bool again_;
  std::size_t next_ = 0;
};

constexpr detail::Setting kSettings[] = {
#define CT_SETTING(type, name, initial) detail::Setting::name,
#include "catenary/core/settings.def"
#undef CT_SETTING
};

/// The thread's settings at construction.
class Settings {
 public:
  Settings() {
    for (const detail::Setting s : kSettings) values_.push_back(detail::setting(s));
  }
  /// Restores the settings until the end of the scope.
  class Scope {
   public:
    explicit Scope(const Settings& settings) {
      for (std::size_t i = 0; i < std::size(kSettings); ++i) {
        before_.push_back(detail::local_setting(kSettings[i]));
        detail::set_local_setting(kSettings[i], settings.values_[i]);
      }
    }
    ~Scope() {
      for (std::size_t i = 0; i < before_.size(); ++i) detail::set_local_setting(kSettings[i], before_[i]);
    }
    Scope(const Scope&) = delete;
    Scope& operator=(const Scope&) = delete;

   private:
    std::vector<int> before_;
  };

 private:
  std::vector<std::uint8_t> values_;
};

/// Restores the generator of the first call until the end of the scope.
class RandomScope {
 public:
  explicit RandomScope(const random::Generator& state) : before_(random::get_state()) { random::set_state(state); }
  ~RandomScope() { random::set_state(before_); }
  RandomScope(const RandomScope&) = delete;
  RandomScope& operator=(const RandomScope&) = delete;

 private:
  random::Generator before_;
};

/// A link's state before and after the first call. Refers to the states weakly: the link holds its state, and the state
/// holds the graph.
struct State {
  std::weak_ptr<Variable> slot;
  Variable before;
  bool replaced = false;  ///< if true, `after` is an output of the node
};

/// Restores the states before the first call, until the end of the scope.
class StatesAgain {
 public:
  explicit StatesAgain(const std::vector<State>& states) {
    for (const State& state : states) {
      slots_.push_back(state.slot.lock());
      if (!slots_.back()) throw ValueError("forget: a link that the function called has been destroyed");
      now_.push_back(std::exchange(*slots_.back(), state.before));
    }
  }
  ~StatesAgain() {
    for (std::size_t k = 0; k < now_.size(); ++k) *slots_[k] = now_[k];
  }
  StatesAgain(const StatesAgain&) = delete;
  StatesAgain& operator=(const StatesAgain&) = delete;
  const Variable& operator[](std::size_t k) const { return *slots_[k]; }

 private:
  std::vector<std::shared_ptr<Variable>> slots_;
  std::vector<Variable> now_;
};

using Function = std::function<Variables(const std::vector<Variable>&)>;

/// The first call of a function, with everything needed to repeat it.
struct Call {
  explicit Call(Function function) : f(std::move(function)) {}

  Function f;
  std::size_t arguments = 0, results = 0;
  const Settings settings;
  const random::Generator random = catenary::random::get_state();
  const Device device = current_device();
  std::vector<Array> log;
  std::vector<State> states;
};

/// Inputs: the function's arguments, then captured variables, mostly parameters. Outputs: its results, then replaced
/// states. So the graph knows all of them, and gradients flow as through the function's own graph.
class Forget : public FunctionNode {
 public:
  Forget(std::shared_ptr<Call> call, Arrays results) : call_(std::move(call)), results_(std::move(results)) {}
  const char* name() const override { return "Forget"; }

 protected:
  Arrays forward(Inputs in) override {
    retain_inputs(in);
    for (const Array& y : results_) likes_.emplace_back(y.shape(), y.dtype());
    return std::exchange(results_, {});
  }
  Variables backward(Targets targets, Grads gys) override {
    if (config.enable_backprop) throw ValueError("forget: its gradients cannot be differentiated again");
    const auto same = [&](int i) {  // as the function sees it
      const Variable x = retained_input(i);
      return static_cast<std::size_t>(i) < call_->arguments ? Variable(x.array(), x.requires_grad()) : x;
    };
    std::vector<Variable> xs, wanted, outputs;
    for (int i = 0; i < input_count(); ++i) xs.push_back(same(i));
    for (const int i : targets) wanted.push_back(xs[static_cast<std::size_t>(i)]);
    xs.resize(call_->arguments);
    const auto identities = [&] {  // inputs that are returned unchanged must become separate outputs
      for (Variable& y : outputs)
        if (y.requires_grad()) y = functions::identity(y);
    };
    {
      const RandomScope random(call_->random);
      const Settings::Scope settings(call_->settings);
      const DeviceScope device(call_->device);
      const auto backprop = force_backprop_mode();
      const auto recomputing = using_config(config.in_recomputing, true);
      const StatesAgain states(call_->states);
      const Pass pass(call_->log, true);
      for (const Variable& y : call_->f(xs)) outputs.push_back(y);
      check_count(outputs.size());
      for (std::size_t k = 0; k < call_->states.size(); ++k)
        if (call_->states[k].replaced) outputs.push_back(states[k]);
      check_likes(outputs);
      identities();
    }
    std::vector<Variable> reached, grads;
    for (std::size_t i = 0; i < outputs.size(); ++i) {
      // skip outputs that do not depend on trainable variables
      if (!gys[i].defined() || !outputs[i].requires_grad()) continue;
      reached.push_back(outputs[i]);
      grads.push_back(gys[i]);
    }
    const std::vector<Variable> all = walk::grad(reached, wanted, {.grad_outputs = grads}, true);
    return Variables(std::span<const Variable>(all));
  }

 private:
  void check_count(std::size_t again) const {
    if (again != call_->results)
      fail<ValueError>(
          "forget: the function returned {} variables in the first call, but {} when it was computed again",
          call_->results, again);
  }
  void check_likes(const std::vector<Variable>& outputs) const {
    for (std::size_t i = 0; i < outputs.size(); ++i) {
      const auto& [shape, dtype] = likes_[i];
      const char* const what = i < call_->results ? "result" : "state of a link";
      if (!outputs[i].defined() || outputs[i].shape() != shape || outputs[i].dtype() != dtype)
        fail<ValueError>(
            "forget: {} was {}, {} the first time, and is {} when it is computed again", what, shape, dtype,
            outputs[i].defined() ? fmt::format("{}, {}", outputs[i].shape(), outputs[i].dtype()) : "nothing");
    }
  }

  std::shared_ptr<Call> call_;
  Arrays results_;
  std::vector<std::pair<Shape, Dtype>> likes_;  // shapes and dtypes of the outputs
};

}  // namespace

Variables forget(Function f, const std::vector<Variable>& xs) {
  CT_DEFINED(xs);
  const auto call = std::make_shared<Call>(std::move(f));
  call->arguments = xs.size();
  std::vector<Variable> inputs = xs;
  Arrays results;
  {
    const auto mode = no_backprop_mode();
    const Pass pass(call->log, false);
    const detail::StateUses uses;
    walk::Captured captured;
    const auto give = [&](const Variable& y) {
      if (y.requires_grad()) captured.see(y.node());  // returned unchanged
      results.push_back(y.array());
    };
    std::vector<Variable> arguments;
    for (const Variable& x : xs) arguments.emplace_back(x.array(), false);
    for (const Variable& y : call->f(arguments)) give(y);
    call->results = results.size();
    for (const auto& use : uses.all()) {
      const auto slot = use.slot.lock();
      if (!slot) continue;  // belongs to a link that the function created
      call->states.push_back({slot, use.before, slot->defined() && !slot->is(use.before)});
      if (call->states.back().replaced) give(*slot);
    }
    inputs.insert(inputs.end(), captured.all().begin(), captured.all().end());
  }
  Variables outputs = node<Forget>(call, std::move(results))->apply(inputs);
  Variables ys(std::span<const Variable>(outputs.begin(), call->results));
  std::size_t next = call->results;
  for (const State& state : call->states)
    if (state.replaced) *state.slot.lock() = outputs[next++];
  return ys;
}

bool recomputing() { return config.in_recomputing; }

Array remembered(const Array& value) {
  Array seen = value;
  for (Pass* pass : Pass::all()) pass->see(seen);  // enclosing calls first
  return seen;
}

}  // namespace catenary::functions
