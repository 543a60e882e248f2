#include "catenary/functions/forget.h"

#include <algorithm>
#include <memory>
#include <utility>

#include "catenary/array/random.h"
#include "catenary/autograd/backward.h"
#include "catenary/autograd/function_node.h"
#include "catenary/autograd/operators.h"
#include "catenary/core/config.h"
#include "catenary/core/format.h"

namespace catenary::functions {

namespace {

/// A function's first pass, or the one that repeats it. They may be nested.
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
  bool again() const { return again_; }
  void see(Array& value) {
    if (!again_) {
      log_.push_back(value);
    } else if (next_ < log_.size()) {
      value = log_[next_++];
    } else {
      throw ValueError("forget: the function does something else than it did the first time");
    }
  }

 private:
  std::vector<Array>& log_;
  bool again_;
  std::size_t next_ = 0;
};

class Forget : public FunctionNode {
 public:
  using Function = std::function<Variables(const std::vector<Variable>&)>;
  /// The last inputs may be more than the function takes.
  Forget(Function f, std::size_t count) : f_(std::move(f)), count_(count) {}
  const char* name() const override { return "Forget"; }

 protected:
  Arrays forward(Inputs in) override {
    retain_inputs(in);
    train_ = config.train;
    random_ = random::get_state();
    std::vector<Variable> xs;
    for (std::size_t i = 0; i < count_; ++i) xs.emplace_back(in[static_cast<int>(i)], false);
    const auto mode = no_backprop_mode();
    const Pass pass(log_, false);
    Arrays ys;
    for (const Variable& y : f_(xs)) ys.push_back(y.array());
    return ys;
  }
  Variables backward(Targets targets, Grads gys) override {
    if (config.enable_backprop) throw ValueError("forget: its gradients cannot be differentiated again");
    std::vector<Variable> xs;
    for (std::size_t i = 0; i < count_; ++i) {
      const Variable x = retained_input(static_cast<int>(i));
      xs.emplace_back(x.array(), x.requires_grad());
    }
    Variables ys;
    {
      const RandomScope random(random_);
      const auto backprop = force_backprop_mode();
      const auto train = using_config(config.train, train_);
      const Pass pass(log_, true);
      ys = f_(xs);
    }
    std::vector<Variable> outputs, grads;
    for (std::size_t i = 0; i < ys.size(); ++i) {
      // what does not depend on anything that learns, and an input handed on, lead nowhere
      if (!gys[i].defined() || !ys[i].requires_grad()) continue;
      outputs.push_back(identity(ys[i]));
      grads.push_back(gys[i]);
    }
    catenary::backward(outputs, grads);
    return gradients(targets, [&](int i) {
      return static_cast<std::size_t>(i) < count_ ? xs[static_cast<std::size_t>(i)].grad_var() : Variable();
    });
  }

 private:
  /// The generator of the first pass, until the end of the scope.
  class RandomScope {
   public:
    explicit RandomScope(const random::Generator& state) : before_(random::get_state()) { random::set_state(state); }
    ~RandomScope() { random::set_state(before_); }
    RandomScope(const RandomScope&) = delete;
    RandomScope& operator=(const RandomScope&) = delete;

   private:
    random::Generator before_;
  };
  static Variable identity(const Variable& y) {
    const auto backprop = force_backprop_mode();
    return functions::identity(y);
  }

  Function f_;
  std::size_t count_;
  bool train_ = true;
  random::Generator random_;
  std::vector<Array> log_;
};

}  // namespace

Variables forget(std::function<Variables(const std::vector<Variable>&)> f, const std::vector<Variable>& xs) {
  std::vector<Variable> inputs = xs;
  // where no input wants a gradient, the function's parameters may
  if (std::none_of(xs.begin(), xs.end(), [](const Variable& x) { return x.requires_grad(); }))
    inputs.emplace_back(Array::empty({0}, Dtype::float32, xs.empty() ? current_device() : xs[0].device()));
  return node<Forget>(std::move(f), xs.size())->apply(inputs);
}

bool recomputing() {
  const auto& passes = Pass::all();
  return std::any_of(passes.begin(), passes.end(), [](const Pass* pass) { return pass->again(); });
}

Array remembered(const Array& value) {
  Array seen = value;
  for (Pass* pass : Pass::all()) pass->see(seen);  // those around it first
  return seen;
}

}  // namespace catenary::functions
