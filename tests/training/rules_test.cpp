// User-defined optimizers, and the order of an update: exchange, loss scale, hooks, rules.

#include "tests/training/rules.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "catenary/array/lazy.h"
#include "catenary/catenary.h"
#include "tests/folder.h"
#include "tests/texts.h"

namespace catenary {
namespace {

using Timing = OptimizerHook::Timing;
using tests::error_of;
using tests::rule_of;
using tests::Values;
using tests::values_of;

struct Two : Link {
  Parameter a, b;
  CT_LINKS(a, b)
  explicit Two(Dtype dtype = Dtype::float32, const Shape& shape = {3, 4})
      : a(made(dtype, shape, 1)), b(made(dtype, {5}, 2)) {}

 private:
  static Parameter made(Dtype dtype, const Shape& shape, double phase) {
    Values values;
    for (std::int64_t i = 0; i < shape.product(); ++i) values.push_back(std::sin(static_cast<double>(i) + phase));
    return Parameter::from_array(
        Array::from_host(values.data(), shape, Dtype::float64, Device()).astype(dtype).to_device(current_device()));
  }
};

Values values_of(const Link& link) {
  Values all;
  for (const Parameter& p : link.params()) {
    const Values own = values_of(p.array());
    all.insert(all.end(), own.begin(), own.end());
  }
  return all;
}

/// Updates by the gradients of sum(x^3), computed by backward.
template <class Model>
Values trained(const Optimizer& optimizer, const Model& model, int updates) {
  for (int t = 0; t < updates; ++t)
    optimizer.update([&] { return functions::sum(model.a * model.a * model.a) + functions::sum(model.b * model.b); });
  return values_of(model);
}

/// MomentumSGD as user code would write it.
OptimizerRule momentum_rule() {
  return {.name = "Momentum",
          .state = {"v"},
          .hyperparameters = {{"lr", 0.1}, {"momentum", 0.9}},
          .step = [](const UpdateStep& h) {
            copyto(h["v"], h("momentum") * h["v"] - h("lr") * h.g);
            h.x += h["v"];
          }};
}

class Hook : public OptimizerHook {
 public:
  Hook(std::string name, Timing timing, std::function<void(const Optimizer&)> call)
      : name_(std::move(name)), timing_(timing), call_(std::move(call)) {}
  std::string name() const override { return name_; }
  Timing timing() const override { return timing_; }
  void operator()(const Optimizer& optimizer) override { call_(optimizer); }

 private:
  std::string name_;
  Timing timing_;
  std::function<void(const Optimizer&)> call_;
};

}  // namespace

TEST(Rules, OneOfOnesOwnIsAsTheLibrarys) {
  const Two mine, theirs;
  const Optimizer own(momentum_rule());
  own.setup(mine);
  const optimizers::MomentumSGD library(0.1, 0.9);
  library.setup(theirs);
  EXPECT_EQ(own.name(), "Momentum");
  EXPECT_EQ(trained(own, mine, 5), trained(library, theirs, 5));
  own.hyperparam().set("lr", 0.02);
  library.lr = 0.02;
  rule_of(mine.b).hyperparam->set("momentum", 0.5);
  rule_of(theirs.b).hyperparam->set("momentum", 0.5);
  EXPECT_EQ(trained(own, mine, 12), trained(library, theirs, 12));
  EXPECT_EQ(own.learning_rate(), 0.02);
}

// Updates user-owned parameters and state with the library's formulas.
TEST(Rules, AFormulaByItself) {
  const optimizers::Adam adam({.alpha = 0.1, .amsgrad = true});
  const Two model;
  adam.setup(model);
  const OptimizerFormula formula(adam);
  ASSERT_EQ(formula.state().size(), 3U);
  std::vector<std::vector<Array>> mine;
  for (const Parameter& p : model.params()) {
    mine.push_back({p.array().copy(), Array()});
    for (std::size_t k = 0; k < formula.state().size(); ++k) mine.back().push_back(p.array() * 0);
  }
  for (int t = 1; t <= 9; ++t) {
    if (t == 5) adam.hyperparam().set("beta1", 0.5);
    trained(adam, model, 1);
    std::size_t k = 0;
    for (const Parameter& p : model.params()) mine[k++][1] = p.grad().copy();
    formula.update(mine, t, {{"alpha", 0.1}, {"beta1", t < 5 ? 0.9 : 0.5}});
    Values all;
    for (const auto& arrays : mine)
      for (const double value : values_of(arrays[0])) all.push_back(value);
    EXPECT_EQ(all, values_of(model)) << t;
  }
  formula.update({}, 1, {});
  const std::string said = error_of<ValueError>([&] { formula.update(mine, 1, {{"lr", 1}}); });
  EXPECT_NE(said.find("(the rate is 'alpha')"), std::string::npos);
  EXPECT_THROW(formula.update(mine, 0, {}), ValueError);
  EXPECT_THROW(formula.update({{mine[0][0], mine[0][1]}}, 1, {}), ValueError);
  std::swap(mine[0][1], mine[1][1]);
  EXPECT_THROW(formula.update(mine, 1, {}), ShapeError);
  mine[0][1] = mine[0][0].astype(Dtype::float64);
  EXPECT_THROW(formula.update(mine, 1, {}), DtypeError);
}

namespace {

struct Shared : Chain {
  links::Linear first{4, 4}, twice{4, 4}, last{4, 2}, unused{4, 2}, cut{4, 4};
  CT_LINKS(first, twice, last, unused, cut)
  bool forgets = false;
  Variable operator()(const Variable& x) const {
    const auto begin = [&](const Variable& v) { return twice(functions::tanh(first(v))); };
    const Variable h = forgets ? functions::forget(begin, x) : begin(x);
    // the right operand of a comparison gets no gradient, but its graph contains parameters
    const Variable sign = functions::sign(cut(h));
    return functions::sum(last(twice(functions::tanh(h)) * sign));
  }
};

/// Records gradients during backward, and checks that none is assigned before the end.
class Follower : public OptimizerHook {
 public:
  std::string name() const override { return "Follower"; }
  Timing timing() const override { return Timing::exchange; }
  bool follows_backward(const Optimizer&) override { return true; }
  void after_gradient(const Optimizer& optimizer, const VariableNode& leaf, const Array& gradient) override {
    for (const auto& [name, p] : optimizer.target().link().namedparams()) {
      EXPECT_FALSE(p.grad().defined()) << name;
      if (&p.node() == &leaf) told->emplace_back(name, gradient.to_vector<float>());
    }
  }
  void operator()(const Optimizer&) override {}
  std::shared_ptr<std::vector<std::pair<std::string, std::vector<float>>>> told =
      std::make_shared<std::vector<std::pair<std::string, std::vector<float>>>>();
};

}  // namespace

// Frozen parameters are not updated: neither the rule nor its hooks are called, and nothing is counted.
TEST(Rules, HooksDoNotReachFrozenParameters) {
  struct Two : Chain {
    links::Linear frozen{2, 2}, learns{2, 2};
    CT_LINKS(frozen, learns)
    Variable operator()(const Variable& x) const { return functions::sum(learns(frozen(x))); }
  };
  const Two model;
  const optimizers::Adam optimizer(0.1);
  optimizer.setup(model);
  optimizer.add_hook(optimizer_hooks::WeightDecay(0.1));
  std::map<const void*, int> calls;
  for (const Parameter& p : model.params())
    rule_of(p).hooks.emplace_back("count", [&](UpdateRule& rule, const Parameter&) { ++calls[&rule]; });
  const auto values = [&](const links::Linear& link) { return link.W.array().to_vector<float>(); };
  const std::vector<float> before = values(model.frozen);
  const auto update = [&] { optimizer.update([&] { return model(ones({3, 2}, Dtype::float32)); }); };
  model.frozen.disable_update();
  rule_of(model.learns.b).enabled = false;
  update();
  update();
  const auto seen = [&](const Parameter& p) { return calls[&rule_of(p)]; };
  EXPECT_EQ(seen(model.frozen.W), 0);
  EXPECT_EQ(seen(model.frozen.b), 0);
  EXPECT_EQ(seen(model.learns.W), 2);
  EXPECT_EQ(seen(model.learns.b), 0);
  EXPECT_EQ(rule_of(model.frozen.W).t(), 0);
  EXPECT_EQ(rule_of(model.learns.b).t(), 0);
  EXPECT_FALSE(rule_of(model.frozen.W).state[0].second.defined());
  EXPECT_EQ(values(model.frozen), before);
  EXPECT_EQ(model.learns.b.array().to_vector<float>(), (std::vector<float>{0, 0}));
  model.frozen.enable_update();
  update();
  EXPECT_EQ(seen(model.frozen.W), 1);
  EXPECT_EQ(rule_of(model.frozen.W).t(), 1);
  EXPECT_NE(values(model.frozen), before);
}

/// Parameters used inside F::forget() are reported like others.
class Followed : public testing::TestWithParam<bool> {};
INSTANTIATE_TEST_SUITE_P(Rules, Followed, testing::Bool());

TEST_P(Followed, ByAHook) {
  Shared model;
  model.forgets = GetParam();
  const optimizers::SGD optimizer(0.1);
  optimizer.setup(model);
  const Follower follower;
  optimizer.add_hook(follower);
  const Variable x(arange(12).astype(Dtype::float32).reshape({3, 4}) * 0.1f);
  for (const double scale : {1.0, 128.0}) {
    if (scale != 1) optimizer.set_loss_scale(scale);
    model.cleargrads();
    model(x).backward(false, false, scale);
    std::map<std::string, std::vector<float>> expected;
    for (const auto& [name, p] : model.namedparams())
      if (p.grad().defined()) expected[name] = p.grad().to_vector<float>();
    follower.told->clear();
    optimizer.update([&] { return model(x); });
    std::vector<std::string> order;
    for (const auto& [name, gradient] : *follower.told) {
      order.push_back(name);
      EXPECT_EQ(gradient, expected.at(name)) << name;
    }
    // each once, from the last link to the first, a link used twice after both uses, parameters without gradient never
    std::vector<std::string> links;
    for (const std::string& name : order) links.push_back(name.substr(0, name.find('/', 1)));
    const std::vector<std::string> one_by_one = {"/last", "/last", "/twice", "/twice", "/first", "/first"},
                                   together = {"/last", "/last", "/first", "/first", "/twice", "/twice"};
    EXPECT_EQ(links, GetParam() ? together : one_by_one);
    EXPECT_EQ(std::set<std::string>(order.begin(), order.end()).size(), 6u);
    EXPECT_EQ(expected.size(), 6u);
  }
}

TEST(Rules, AGradientThatWasBroadcastMayBeChanged) {
  const Two model;
  const optimizers::SGD optimizer(0.5);
  optimizer.setup(model);
  optimizer.set_loss_scale(4);
  optimizer.add_hook(optimizer_hooks::WeightDecay(0.25));  // both change gradients in place
  const Values a = values_of(model.a.array()), b = values_of(model.b.array());
  optimizer.update([&] { return functions::sum(model.a) + functions::sum(model.b) * 2; });
  const Values got_a = values_of(model.a.array()), got_b = values_of(model.b.array());
  for (std::size_t i = 0; i < a.size(); ++i) EXPECT_NEAR(got_a[i], a[i] - 0.5 * (1 + 0.25 * a[i]), 1e-6);
  for (std::size_t i = 0; i < b.size(); ++i) EXPECT_NEAR(got_b[i], b[i] - 0.5 * (2 + 0.25 * b[i]), 1e-6);
}

TEST(Rules, StateHasItsOwnDtypeAndFirstValue) {
  const Optimizer optimizer({.name = "Masters",
                             .state = {{"master", std::nullopt, Dtype::float32}, {"count", 3}},
                             .hyperparameters = {{"lr", 1e-4}},
                             .step = [](const UpdateStep& h) {
                               h["master"] -= h("lr") * h.g.astype(Dtype::float32);
                               h["count"] += 1;
                               copyto(h.x, h["master"]);
                             }});
  for (const Dtype dtype : {Dtype::float16, Dtype::bfloat16, Dtype::float32}) {
    const Two model(dtype);
    model.a.array().fill(1);
    optimizer.setup(model);
    for (int t = 0; t < 100; ++t) {
      for (const Parameter& p : model.params()) p.set_grad(full(p.shape(), 1, dtype));
      optimizer.update();
    }
    const UpdateRule& rule = rule_of(model.a);
    EXPECT_EQ(rule.state[0].second.dtype(), Dtype::float32);
    EXPECT_EQ(rule.state[1].second.dtype(), Dtype::float32);
    EXPECT_EQ(values_of(rule.state[1].second), Values(12, 103));
    for (const double x : values_of(rule.state[0].second)) EXPECT_NEAR(x, 0.99, 1e-5);
    for (const double x : values_of(model.a.array()))
      EXPECT_NEAR(x, 0.99, 4e-3);  // each single step would be lost in 16 bits
  }
}

// A step that is not elementwise runs separately for each parameter: here a rate from the norms of parameter and
// gradient.
TEST(Rules, AStepMayReduce) {
  const Optimizer optimizer(
      {.name = "ByNorms", .step = [](const UpdateStep& h) { h.x -= h.g * (sum(h.x * h.x) / sum(h.g * h.g)); }});
  const Two model;
  optimizer.setup(model);
  for (const Parameter& p : model.params()) {
    const Array x = p.array().to_device(Device()).astype(Dtype::float64);
    p.set_grad(p.array() * 2 + 1);
    const Array g = x * 2 + 1;
    const Values expected = values_of(x - g * (sum(x * x) / sum(g * g)));
    p.update();
    const Values got = values_of(p.array());
    for (std::size_t i = 0; i < got.size(); ++i) EXPECT_NEAR(got[i], expected[i], 1e-5);
  }
  const Two together;
  optimizer.setup(together);
  for (const Parameter& p : together.params()) p.set_grad(p.array() * 2 + 1);
  optimizer.update();
  EXPECT_EQ(values_of(together), values_of(model));
}

TEST(Rules, AreSavedAndLoaded) {
  const tests::Folder folder;
  const Two first, second;
  const Optimizer before(momentum_rule()), after(momentum_rule());
  before.setup(first);
  trained(before, first, 3);
  serializers::save_npz(folder / "optimizer.npz", before);
  serializers::save_npz(folder / "model.npz", first);
  after.setup(second);
  serializers::load_npz(folder / "optimizer.npz", after);
  serializers::load_npz(folder / "model.npz", second);
  EXPECT_EQ(after.t(), 3);
  EXPECT_EQ(trained(after, second, 4), trained(before, first, 4));
}

TEST(Rules, Errors) {
  const auto step = [](const UpdateStep& h) { h.x -= h["w"]; };
  EXPECT_EQ(error_of<ValueError>([] { Optimizer({.name = "Lazy"}); }), "Lazy: the rule has no step");
  EXPECT_EQ(error_of<ValueError>([&] {
              Optimizer({.name = "Twice", .state = {"m", "m"}, .step = step});
            }),
            "Twice: another state is named 'm'");
  EXPECT_EQ(error_of<ValueError>([&] { Optimizer({.name = "Count", .state = {"t"}, .step = step}); }),
            "Count: another state is named 't'");
  const Optimizer optimizer({.name = "Misspelt", .state = {"v"}, .step = step});
  EXPECT_EQ(error_of<ValueError>([&] { Hyper(optimizer, "lr"); }), "there is no hyperparameter 'lr'; there are: none");
  const Two model;
  optimizer.setup(model);
  model.a.set_grad(ones_like(model.a.array()));
  EXPECT_EQ(error_of<ValueError>([&] { optimizer.update(); }), "Misspelt: the rule has no state 'w'");
}

TEST(StepOrder, HooksSeeGradientsWithoutTheLossScale) {
  const auto with = [](double scale, const auto& hook) {
    const Two model;
    const optimizers::SGD optimizer(0.1);
    optimizer.setup(model);
    optimizer.add_hook(hook);
    if (scale != 1) optimizer.set_loss_scale(scale);
    return trained(optimizer, model, 3);
  };
  const auto check = [&](const auto& hook) { EXPECT_EQ(with(1024, hook), with(1, hook)) << hook.name(); };
  check(optimizer_hooks::WeightDecay(0.01));
  check(optimizer_hooks::Lasso(0.01));
  check(optimizer_hooks::GradientClipping(0.5));
  check(optimizer_hooks::GradientHardClipping(-0.2, 0.3));
  check(optimizer_hooks::GradientLARS());
}

TEST(StepOrder, ExchangeThenScaleThenHooksAsTheyWereAdded) {
  const Two model;
  const optimizers::SGD optimizer(0.5);
  optimizer.setup(model);
  optimizer.set_loss_scale(8);
  const Values start = values_of(model.b.array());
  std::string order;
  const auto add = [&](const char* name, Timing timing, double factor) {
    optimizer.add_hook(Hook(name, timing, [&, name, timing, factor](const Optimizer&) {
      order += name;
      const Values grad = values_of(model.b.grad()), x = values_of(model.b.array());
      for (std::size_t i = 0; i < grad.size(); ++i)
        EXPECT_FLOAT_EQ(static_cast<float>(grad[i]), static_cast<float>(factor * 2 * start[i])) << name;
      EXPECT_EQ(x == start, std::string(name) != "after ") << name;
      if (timing == Timing::exchange) model.b.grad() *= 2;
    }));
  };
  add("second ", Timing::pre, 2);
  add("exchange ", Timing::exchange, 8);
  add("first ", Timing::pre, 2);
  add("after ", Timing::post, 2);
  rule_of(model.b).hooks.emplace_back("own", [&](UpdateRule&, const Parameter&) { order += "own "; });
  optimizer.update([&] { return functions::sum(model.b * model.b); });
  EXPECT_EQ(order, "exchange second first own after ");
  EXPECT_FALSE(model.b.loss_scale().has_value());
}

// A missing gradient becomes zeros in the scale of the others, because an exchange may add other processes' gradients.
TEST(StepOrder, ZerosAreInTheLossScaleToo) {
  for (const bool by_loss : {true, false}) {
    for (const bool any : {true, false}) {
      const Two model;
      const optimizers::SGD optimizer(1);
      optimizer.setup(model);
      optimizer.set_loss_scale(8);
      optimizer.add_hook(Hook("others", Timing::exchange, [&](const Optimizer&) { model.b.grad() += 16.0; }));
      const Values before = values_of(model.b.array());
      const Variable elsewhere(full({2}, 1, Dtype::float32));
      const auto loss = [&] { return functions::sum(any ? Variable(model.a) : elsewhere); };
      if (by_loss) {
        optimizer.update(loss);
      } else {
        model.cleargrads();
        loss().backward(false, false, optimizer.loss_scale());
        optimizer.update();
      }
      for (std::size_t i = 0; i < before.size(); ++i)
        EXPECT_NEAR(values_of(model.b.array())[i], before[i] - 2, 1e-6) << by_loss << any;
    }
  }
}

TEST(StepOrder, TheLossScaleIsDividedOutOnceAndByOneProgram) {
  const auto kernels_of_update = [](double scale) {
    const Two model;
    const optimizers::SGD optimizer(0.5);
    optimizer.setup(model);
    for (const Parameter& p : model.params()) {
      p.set_grad(full_like(p.array(), 2));
      p.set_loss_scale(scale);
    }
    const std::int64_t before = kernel_count();
    optimizer.update();
    const std::int64_t kernels = kernel_count() - before;
    EXPECT_EQ(values_of(model.b.grad()), Values(5, 2 / scale));
    optimizer.update();
    EXPECT_EQ(values_of(model.b.grad()), Values(5, 2 / scale));
    return kernels;
  };
  EXPECT_EQ(kernels_of_update(4), kernels_of_update(1) + 1);
  const Two alone;
  const optimizers::SGD optimizer(0.5);
  optimizer.setup(alone);
  const Values start = values_of(alone.b.array());
  alone.b.set_grad(full_like(alone.b.array(), 8));
  alone.b.set_loss_scale(4);
  alone.b.update();
  for (std::size_t i = 0; i < start.size(); ++i) EXPECT_NEAR(values_of(alone.b.array())[i], start[i] - 1, 1e-6);
}

TEST(StepOrder, NonFiniteGradientsAreSeenBeforeHooks) {
  const Two model;
  const optimizers::SGD optimizer(0.5);
  optimizer.setup(model);
  optimizer.add_hook(optimizer_hooks::GradientHardClipping(-1, 1));
  const auto update = [&](double value, double scale) {
    for (const Parameter& p : model.params()) p.set_grad(full_like(p.array(), 64));
    const Array grad = model.a.grad();
    grad.set(value, 1, 2);
    model.a.set_loss_scale(scale);
    optimizer.update();
  };
  update(1, 1);
  const std::string unasked = "SGD: non_finite(): call look_for_non_finite() before the update";
  EXPECT_EQ(error_of<ValueError>([&] { optimizer.non_finite(); }), unasked);
  optimizer.look_for_non_finite();
  constexpr double inf = std::numeric_limits<double>::infinity();
  for (const double scale : {1.0, 4.0}) {
    update(1, scale);
    EXPECT_FALSE(optimizer.non_finite().item<bool>());
    for (const double value : {inf, -inf, std::nan("")}) {
      update(value, scale);
      EXPECT_TRUE(optimizer.non_finite().item<bool>()) << value;
    }
    EXPECT_EQ(values_of(model.b.grad()), Values(5, 1));
  }
  optimizer.look_for_non_finite(false);
  update(inf, 1);
  EXPECT_EQ(error_of<ValueError>([&] { optimizer.non_finite(); }), unasked);
}

// In a + b, backward gives a and b the same array as gradient. Changing one in place must not affect the other.
TEST(StepOrder, GradientsThatShareMemoryAreParted) {
  struct Sum : Link {
    Parameter a{1.0, Shape{4}}, b{2.0, Shape{4}};
    CT_LINKS(a, b)
  } model;
  const optimizers::SGD optimizer(1);
  optimizer.setup(model);
  optimizer.set_loss_scale(4);
  optimizer.add_hook(optimizer_hooks::WeightDecay(0.5));
  const Variable c(full({4}, 3, Dtype::float32), false);
  optimizer.update([&] { return functions::sum((model.a + model.b) * c); });
  EXPECT_EQ(values_of(model.a.array()), Values(4, 1 - 3 - 0.5));
  EXPECT_EQ(values_of(model.b.array()), Values(4, 2 - 3 - 1));
}

}  // namespace catenary
