#include "catenary/autograd/variable.h"

#include <gtest/gtest.h>

#include <cmath>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

#include "catenary/array/creation.h"
#include "catenary/array/elementwise.h"
#include "catenary/autograd/backward.h"
#include "catenary/autograd/function_node.h"
#include "catenary/autograd/hooks.h"
#include "catenary/autograd/operators.h"
#include "catenary/autograd/parameter.h"
#include "catenary/autograd/without_values.h"
#include "catenary/core/config.h"
#include "catenary/functions/math_reduction.h"
#include "tests/autograd/helpers.h"

namespace catenary {
namespace {

namespace F = functions;
using test::values;
using Doubles = std::vector<double>;

template <class V>
concept AddsTo = requires(V v) {
  static_cast<V>(v) += 1;
};

TEST(Variable, TakesNoComplexNumbers) {
  const Array z = zeros({2}, Dtype::complex64);
  EXPECT_THROW(Variable{z}, DtypeError);
  const Variable x(array<float>({1, 2}));
  EXPECT_THROW(x.set_array(z), DtypeError);
  EXPECT_EQ(x.dtype(), Dtype::float32);
}

TEST(Variable, GradientOfAPolynomial) {
  const Variable x(array<float>({1, 2, 3}));
  const Variable y = x * x * 2.0 + x - 1.0;
  EXPECT_FALSE(x.grad().defined());
  y.set_grad(array<float>({1, 10, 100}));
  y.backward();
  EXPECT_EQ(values(x.grad()), (Doubles{5, 90, 1300}));
  EXPECT_FALSE(y.grad().defined());
}

TEST(Variable, LeavesAccumulateAndKeepWhatUsersHold) {
  const Variable x(array<float>({2}));
  const Variable y = x * 3.0f;
  y.backward();
  const Array first = x.grad();
  y.backward();
  EXPECT_EQ(values(x.grad()), Doubles{6});
  EXPECT_EQ(values(first), Doubles{3});
  x.cleargrad();
  EXPECT_FALSE(x.grad().defined());
  y.backward();
  EXPECT_EQ(values(x.grad()), Doubles{3});
}

TEST(Variable, AVariableUsedManyTimesSumsItsGradients) {
  const Variable x(array<float>({1, 2}));
  const Variable a = x * 2.0;
  Variable y = a + a + a * a + a;
  y.set_grad(array<float>({1, 1}));
  y.backward();
  EXPECT_EQ(values(x.grad()), (Doubles{2 * (3 + 2 * 2), 2 * (3 + 2 * 4)}));
}

TEST(Variable, TheSumOfGradientsDoesNotWriteIntoGradientsOfOthers) {
  // The gradient of both inputs of an addition is gy itself, so adding in place must not change it.
  const Variable x(array<float>({1})), z(array<float>({1}));
  const Variable a = F::identity(x);
  const Variable y = a + z + a + a;
  const Array gy = array<float>({1});
  y.set_grad(gy);
  y.backward(true);
  EXPECT_EQ(values(x.grad()), Doubles{3});
  EXPECT_EQ(values(z.grad()), Doubles{1});
  EXPECT_EQ(values(gy), Doubles{1});
  EXPECT_EQ(values(y.grad()), Doubles{1});
}

// As in Python, the name refers to another variable afterwards.
TEST(Variable, InPlaceOperatorsMakeTheHandleAnother) {
  const Variable x(array<float>({1, 2, 3}));
  Variable y = x;
  y += 1;
  y *= x;
  y -= array<float>({1, 1, 1});
  y /= 2.0;
  EXPECT_EQ(values(x.array()), (std::vector<double>{1, 2, 3}));
  EXPECT_EQ(values(y.array()), (std::vector<double>{0.5, 2.5, 5.5}));
  functions::sum(y).backward();
  EXPECT_EQ(values(x.grad()), (std::vector<double>{1.5, 2.5, 3.5}));
  // parameters are learnt, not replaced, and temporaries have no use for it
  static_assert(!AddsTo<Parameter&> && !AddsTo<const Variable&> && !AddsTo<Variable> && AddsTo<Variable&>);
}

TEST(Variable, HandlesAreOneVariable) {
  const Variable x(array<float>({1}), {.name = "x"});
  const Variable same = x;
  same.set_grad(array<float>({7}));
  EXPECT_EQ(values(x.grad()), Doubles{7});
  EXPECT_TRUE(x.is(same));
  EXPECT_EQ(x.name(), "x");
  EXPECT_EQ(x.label(), "(1), float32");
  EXPECT_EQ(Variable(array<int>({1}, Shape{})).label(), "int32");
  EXPECT_EQ((x + 1.0f).rank(), 1);
}

TEST(Variable, AnArrayThatStandsForAVariableWantsNoGradient) {
  const Array a = array<float>({1, 2});
  EXPECT_TRUE(Variable(a).requires_grad());
  const Variable copied = a;
  EXPECT_FALSE(copied.requires_grad());
  EXPECT_FALSE((F::identity(a)).requires_grad());
  EXPECT_FALSE(Variable(array<int>({1})).requires_grad());
  const Variable x(a);
  const Variable y = a * x + a;
  y.set_grad(a);
  y.backward();
  EXPECT_EQ(values(x.grad()), (Doubles{1, 4}));
}

TEST(Variable, ErrorsNameTheReason) {
  const Variable x(array<float>({1, 2}));
  EXPECT_THROW((x * 2.0f).backward(), ValueError);
  EXPECT_THROW(x.set_grad(array<float>({1})), ShapeError);
  EXPECT_THROW(x.set_grad(array<double>({1, 2})), DtypeError);
  EXPECT_THROW(Variable{Array{}}, ValueError);
  EXPECT_THROW(Variable().array(), ValueError);
  EXPECT_THROW(x + array<float>({1, 2, 3}), ShapeError);
}

TEST(Variable, BackwardWithRetainGradKeepsThoseInBetween) {
  const Variable x(array<float>({3}));
  const Variable h = x * x;
  const Variable y = h * 2.0f;
  y.backward();
  EXPECT_FALSE(h.grad().defined());
  y.backward(true);
  EXPECT_EQ(values(h.grad()), Doubles{2});
  EXPECT_EQ(values(y.grad()), Doubles{1});
}

TEST(Variable, LossScaleReachesTheLeaves) {
  const Variable x(array<float>({3}));
  (x * x).backward(false, false, 8.0);
  EXPECT_EQ(values(x.grad()), Doubles{48});
  EXPECT_EQ(x.loss_scale(), 8.0);
}

// An optimizer divides by the last scale, so the sum of both losses' gradients must be in that scale.
TEST(Variable, BackwardsWithDifferentLossScalesAddUpGradients) {
  const auto number = [](double scale) { return Number(full({}, scale, Dtype::float32)); };
  using Scale = std::optional<Number>;
  const std::vector<std::pair<Scale, Scale>> pairs = {{8.0, 2.0},      {Scale(), 4.0},         {4.0, Scale()},
                                                      {8.0, 8.0},      {number(8), number(2)}, {number(16), 4.0},
                                                      {2.0, number(4)}};
  for (const auto& [first, second] : pairs) {
    for (const Dtype dtype : {Dtype::float32, Dtype::float16, Dtype::float64}) {
      for (const bool double_backprop : {false, true}) {
        const Variable x(full({2}, 3, dtype));
        F::sum(x * x).backward(false, double_backprop, first);
        F::sum(x * 5.0).backward(false, double_backprop, second);
        const double scale = second ? second->value() : 1;
        EXPECT_EQ(values(x.grad().astype(Dtype::float64)), (Doubles{11 * scale, 11 * scale})) << scale << dtype;
        EXPECT_EQ(x.grad().dtype(), dtype);
        EXPECT_EQ(x.loss_scale().has_value(), second.has_value());
        if (double_backprop) {  // the gradient of x² has a gradient: 2, in the last scale
          const Variable gx = x.grad_var();
          x.cleargrad();
          F::sum(gx).backward();
          EXPECT_EQ(values(x.grad().astype(Dtype::float64)), (Doubles{2 * scale, 2 * scale})) << scale << dtype;
        }
      }
    }
  }
}

// A sum that overflows float16 between two scales is computed in float32.
TEST(Variable, AGradientIsBroughtToAnotherScaleInFloat32) {
  const Variable x(full({1}, 1, Dtype::float16));
  F::sum(x * 0.5).backward(false, false, 65536.0 / 2);
  F::sum(x).backward(false, false, 0x1p-10);
  EXPECT_EQ(values(x.grad().astype(Dtype::float64)), Doubles{1.5 * 0x1p-10});
}

TEST(Variable, CleargradForgetsTheLossScale) {
  const Variable x(array<float>({3}));
  (x * x).backward(false, false, 8.0);
  x.cleargrad();
  EXPECT_FALSE(x.loss_scale());
  x.set_grad(array<float>({2}));  // set by the caller, so its scale is 1
  (x * x).backward(false, false, 4.0);
  EXPECT_EQ(values(x.grad()), Doubles{32});
}

TEST(Variable, DoubleBackprop) {
  const Variable x(array<float>({2}));
  const Variable y = x * x * x;
  y.backward(false, true);
  const Variable gx = x.grad_var();
  EXPECT_EQ(values(gx.array()), Doubles{12});
  x.cleargrad();
  gx.backward(false, true);
  const Variable ggx = x.grad_var();
  EXPECT_EQ(values(ggx.array()), Doubles{12});
  x.cleargrad();
  ggx.backward();
  EXPECT_EQ(values(x.grad()), Doubles{6});
  EXPECT_EQ(x.grad_var().creator(), nullptr);
}

TEST(Variable, Unchain) {
  const Variable x(array<float>({3}));
  const Variable h = x * 2.0f;
  const Variable y = h * 2.0f;
  h.unchain();
  EXPECT_EQ(h.creator(), nullptr);
  y.backward();
  EXPECT_FALSE(x.grad().defined());
  EXPECT_EQ(values(h.grad()), Doubles{2});

  const Variable z = (x * 2.0f) * 3.0f;
  z.unchain_backward();
  EXPECT_EQ(z.creator(), nullptr);
  z.backward();
  EXPECT_FALSE(x.grad().defined());

  // everything that leads there, however far, also variables with other handles
  const Variable first = x * 2.0f, second = first * 3.0f, third = second * 4.0f;
  third.unchain_backward();
  EXPECT_EQ(second.creator(), nullptr);
  EXPECT_EQ(first.creator(), nullptr);
}

TEST(Variable, NoBackpropMode) {
  const Variable x(array<float>({3}));
  {
    const auto scope = no_backprop_mode();
    EXPECT_EQ((x * 2.0f).creator(), nullptr);
    const auto inner = force_backprop_mode();
    EXPECT_NE((x * 2.0f).creator(), nullptr);
  }
  EXPECT_NE((x * 2.0f).creator(), nullptr);
}

TEST(Variable, AddgradCopydataZerograd) {
  const Variable a(array<float>({1, 2})), b(array<float>({3, 4}));
  a.addgrad(b);
  EXPECT_FALSE(a.grad().defined());
  b.set_grad(array<float>({5, 6}));
  a.addgrad(b);
  a.addgrad(b);
  EXPECT_EQ(values(a.grad()), (Doubles{10, 12}));
  a.copydata(b);
  EXPECT_EQ(values(a.array()), (Doubles{3, 4}));
  a.zerograd();
  EXPECT_EQ(values(a.grad()), (Doubles{0, 0}));
  EXPECT_THROW(a.copydata(Variable(array<float>({1}))), ShapeError);
}

// The sum has the existing gradient's scale. A variable without gradient gets the added gradient's scale.
TEST(Variable, AddgradBringsGradientsToOneLossScale) {
  using Scale = std::optional<Number>;
  const Scale none, four = 4.0, eight = Number(full({}, 8, Dtype::float32));
  for (const auto& [own, other] : {std::pair(four, eight), {none, four}, {eight, none}, {four, four}}) {
    for (const Dtype dtype : {Dtype::float32, Dtype::float16}) {
      const Variable a(full({2}, 3, dtype)), b(full({2}, 5, dtype)), without(full({2}, 3, dtype));
      F::sum(a * a).backward(false, false, own);
      F::sum(b * b).backward(false, false, other);
      a.addgrad(b);
      const double scale = own ? own->value() : 1;
      EXPECT_EQ(values(a.grad().astype(Dtype::float64)), (Doubles{16 * scale, 16 * scale})) << scale << dtype;
      EXPECT_EQ(a.loss_scale().has_value(), own.has_value());
      without.addgrad(b);
      EXPECT_EQ(without.loss_scale().has_value(), other.has_value());
      EXPECT_EQ(without.loss_scale().value_or(1.0).value(), other.value_or(1.0).value());
    }
  }
}

TEST(Variable, BroadcastingIsUndoneInGradients) {
  const Variable a(array<float>({1, 2, 3, 4, 5, 6}, {2, 3})), b(array<float>({1, 2, 3})), c(array<float>({2}, Shape{}));
  const Variable y = a * b + c;
  y.set_grad(array<float>({1, 1, 1, 1, 1, 1}, {2, 3}));
  y.backward();
  EXPECT_EQ(values(a.grad()), (Doubles{1, 2, 3, 1, 2, 3}));
  EXPECT_EQ(values(b.grad()), (Doubles{5, 7, 9}));
  EXPECT_EQ(values(c.grad()), Doubles{6});
  EXPECT_EQ(c.grad().ndim(), 0);
}

TEST(Variable, MixedDtypesGiveGradientsOfTheirOwn) {
  const Variable a(array<float>({1, 2})), b(array<double>({3, 4}));
  const Variable y = a * b;
  EXPECT_EQ(y.dtype(), Dtype::float64);
  y.set_grad(array<double>({1, 1}));
  y.backward();
  EXPECT_EQ(a.grad().dtype(), Dtype::float32);
  EXPECT_EQ(b.grad().dtype(), Dtype::float64);
}

TEST(Variable, ADeepGraphNeedsNoStack) {
  const Variable x(array<float>({1}));
  Variable y = x;
  for (int i = 0; i < 100000; ++i) y = y + 1.0f;
  y.backward();
  EXPECT_EQ(values(x.grad()), Doubles{1});
  y.unchain_backward();
  Variable z = x;
  for (int i = 0; i < 100000; ++i) z = z * 1.0f;
  z = Variable();  // destroyed completely
}

TEST(Variable, ThreadsHaveTheirOwnGraphs) {
  const Variable shared(array<float>({2}));
  const auto work = [&](double& result) {
    for (int i = 0; i < 200; ++i) {
      const Variable y = shared * shared * static_cast<double>(i);
      result += grad({y}, {shared})[0].item<double>();
    }
  };
  double a = 0, b = 0;
  std::thread other([&] { work(b); });
  work(a);
  other.join();
  EXPECT_EQ(a, 4.0 * 199 * 100);
  EXPECT_EQ(b, a);
}

TEST(Grad, OnlyThePathsBetween) {
  const Variable x(array<float>({2})), w(array<float>({3})), other(array<float>({5}));
  const Variable h = x * w;
  const Variable y = h * h + other;
  const std::vector<Variable> g = grad({y}, {h, x, Variable(array<float>({0}))});
  EXPECT_EQ(values(g[0].array()), Doubles{12});
  EXPECT_EQ(values(g[1].array()), Doubles{36});
  EXPECT_FALSE(g[2].defined());
  EXPECT_FALSE(x.grad().defined());
  EXPECT_FALSE(other.grad().defined());
}

TEST(Grad, OptionsAreHonoured) {
  const Variable x(array<float>({2}));
  const Variable h = x * x;
  const Variable y = h * x;
  GradOptions options;
  options.grad_outputs = {Variable(array<float>({10}))};
  options.grad_inputs = {Variable(array<float>({1}))};
  options.set_grad = true;
  options.retain_grad = true;
  const auto g = grad({y}, {x}, options);
  EXPECT_EQ(values(g[0].array()), Doubles{121});
  EXPECT_EQ(values(x.grad()), Doubles{121});
  EXPECT_EQ(values(h.grad()), Doubles{20});
  options.grad_outputs.push_back(Variable());
  EXPECT_THROW(grad({y}, {x}, options), ValueError);

  GradOptions twice;
  twice.enable_double_backprop = true;
  const Variable gx = grad({y}, {x}, twice)[0];
  EXPECT_EQ(values(grad({gx}, {x})[0].array()), Doubles{12});
}

TEST(Backward, FromSeveralVariables) {
  const Variable x(array<float>({2}));
  const Variable a = x * 3.0, b = x * x;
  backward({a, b}, {Variable(array<float>({1})), Variable(array<float>({10}))});
  EXPECT_EQ(values(x.grad()), Doubles{43});
  EXPECT_THROW(backward({a, b}, {a}), ValueError);
}

// The first backward call consumes the outputs' gradients, so a second call does not start with them again.
TEST(Backward, TakesTheGradientsThatItStartsFrom) {
  const Variable x(array<float>({1, 2}));
  const Variable a = x * 2.0, b = x * 3.0;
  a.set_grad(array<float>({1, 1}));
  b.set_grad(array<float>({10, 10}));
  backward({a, b});
  EXPECT_EQ(values(x.grad()), (Doubles{32, 32}));
  EXPECT_FALSE(a.grad().defined());
  EXPECT_FALSE(b.grad().defined());
  backward({a, b});
  EXPECT_EQ(values(x.grad()), (Doubles{32, 32}));
}

TEST(Grad, SetGradSaysTheLossScaleToo) {
  const Parameter x(array<float>({1, 2}));
  GradOptions options;
  options.set_grad = true;
  options.loss_scale = 8;
  grad({F::sum(x * 2.0)}, {x}, options);
  EXPECT_EQ(values(x.grad()), (Doubles{16, 16}));
  EXPECT_EQ(x.loss_scale(), 8);  // an update divides by it
}

// Of functions with equal rank, the one found first runs first, so that sums of gradients have a fixed order and fixed
// bits.
TEST(Backward, EqualRanksInTheOrderInWhichTheyAreFound) {
  struct Order : FunctionHook {
    std::string seen;
    std::string name() const override { return "Order"; }
    void backward_preprocess(FunctionNode& f, Inputs, Grads) override { seen += std::string(f.name()) + " "; }
  } order;
  const Variable x(array<float>({1, 2}));
  const std::vector<Variable> terms = {F::log(x), -x, x * x, x * 2.0, x / 3.0};
  std::string expected;
  for (const Variable& term : terms) expected += std::string(term.creator()->name()) + " ";
  struct Total : FunctionNode {
    const char* name() const override { return "Total"; }
    Arrays forward(Inputs in) override {
      Array sum = in[0];
      for (int i = 1; i < in.size(); ++i) sum = sum + in[i];
      return sum;
    }
    Variables backward(Targets targets, Grads gy) override {
      return gradients(targets, [&](int) { return gy[0]; });
    }
  };
  const Variable total = node<Total>()->apply(terms)[0];
  const HookScope scope(order);
  total.set_grad(array<float>({1, 1}));
  total.backward();
  EXPECT_EQ(order.seen, "Total " + expected);
}

TEST(Parameter, GradientsAreAddedToOneWithoutAShape) {
  const Parameter x(array<float>({1, 2})), waiting(3.0, "W");
  x.set_grad(array<float>({5, 6}));
  waiting.addgrad(x);
  EXPECT_EQ(values(waiting.array()), (Doubles{3, 3}));
  EXPECT_EQ(values(waiting.grad()), (Doubles{5, 6}));  // not added to the parameter's initial NaN
}

TEST(Parameter, OneWithoutAShapeIsMadeWhereItWasMoved) {
  const Parameter p(3.0, "W");
  EXPECT_EQ(p.initial_device(), current_device());
  p.to_device(Device());
  EXPECT_EQ(p.initial_device(), Device());
  p.initialize({2});
  EXPECT_EQ(p.device(), Device());
}

TEST(Parameter, WaitsForItsShape) {
  const Parameter p(3.5, "W");
  EXPECT_FALSE(p.is_initialized());
  EXPECT_THROW(p.shape(), ValueError);
  EXPECT_EQ(p.dtype(), Dtype::float32);
  EXPECT_THROW(p * 2.0f, ValueError);
  p.cleargrad();
  p.initialize({2, 3});
  EXPECT_EQ(values(p.array()), Doubles(6, 3.5));
  EXPECT_FALSE(p.grad().defined());
  EXPECT_THROW(p.initialize({2, 2}), ValueError);
  const Variable as_variable = p;
  EXPECT_TRUE(Parameter::is_parameter(as_variable));
  EXPECT_TRUE(Parameter::of(as_variable).is(p));
  EXPECT_THROW(Parameter::of(Variable(array<float>({1}))), ValueError);
}

TEST(Parameter, TakesAShapeInBracesOrAName) {
  EXPECT_EQ(Parameter(1.0, {3}).shape(), (Shape{3}));
  EXPECT_EQ(Parameter(1, {0}, "empty").shape(), (Shape{0}));
  EXPECT_EQ(Parameter(1.0, {}).shape(), Shape());
  EXPECT_FALSE(Parameter(1.0, "W").is_initialized());
  EXPECT_EQ(Parameter(1.0, std::string("W")).name(), "W");
}

TEST(Parameter, StartsWithANanGradient) {
  const Parameter p(0, Shape{2});
  EXPECT_TRUE(std::isnan(values(p.grad())[0]));
  const Parameter q(0);
  q.zerograd();
  q.initialize({1});
  EXPECT_EQ(values(q.grad()), Doubles{0});
  const Array a = array<double>({1, 2});
  const Parameter r(a);
  EXPECT_TRUE(r.is_initialized());
  EXPECT_EQ(r.dtype(), Dtype::float64);
  const Parameter s(array<double>({1, 2}), Shape{2});
  EXPECT_EQ(values(s.array()), (Doubles{1, 2}));
}

TEST(Parameter, RunsItsRule) {
  struct Rule : UpdateRuleBase {
    void update(const Parameter& p) override { p.array().fill(9); }
  };
  const Parameter p(0, Shape{1});
  p.update();
  EXPECT_EQ(values(p.array()), Doubles{0});
  p.set_update_rule(std::make_shared<Rule>());
  p.update();
  EXPECT_EQ(values(p.array()), Doubles{9});
}

TEST(Parameter, WithoutValuesUntilTheyAreSet) {
  Parameter p, waiting(ParameterInit(2.0), "waiting");
  {
    const WithoutValues scope;
    p = Parameter(ParameterInit(1.0), Shape{2, 3}, "p");
    waiting.initialize({4});
    std::thread([] { EXPECT_TRUE(Parameter(ParameterInit(1.0), Shape{2}).is_initialized()); }).join();
    const WithoutValues inner;
  }
  EXPECT_FALSE(WithoutValues::holds());
  EXPECT_FALSE(p.is_initialized());
  EXPECT_FALSE(p.grad().defined());
  EXPECT_EQ(shape_of(p), (Shape{2, 3}));
  EXPECT_EQ(shape_of(waiting), Shape{4});
  EXPECT_THROW(p.shape(), ValueError);
  p.set_array(ones({2, 3}, Dtype::float64));
  EXPECT_TRUE(p.is_initialized());
  EXPECT_TRUE(p.requires_grad());
  EXPECT_EQ(p.dtype(), Dtype::float64);
  waiting.initialize({4});
  EXPECT_EQ(values(waiting.array()), (Doubles{2, 2, 2, 2}));
  functions::sum(p).backward();
  EXPECT_EQ(values(p.grad()), (Doubles{1, 1, 1, 1, 1, 1}));
}

TEST(Config, ThreadsAndScopes) {
  EXPECT_TRUE(config.train);
  {
    const auto scope = using_config(config.train, false);
    EXPECT_FALSE(config.train);
    std::thread([] { EXPECT_TRUE(config.train); }).join();
    UsingConfig inner(config.dtype, Dtype::float64);
    EXPECT_EQ(get_dtype(), Dtype::float64);
    EXPECT_EQ(get_dtype(Dtype::float16), Dtype::float16);
  }
  EXPECT_TRUE(config.train);
  EXPECT_EQ(get_dtype(), Dtype::float32);
  global_config.train = false;
  EXPECT_FALSE(config.train);
  config.train = true;
  EXPECT_TRUE(config.train);
  config.train.reset();
  EXPECT_FALSE(config.train);
  global_config.train = true;
  EXPECT_NE(config_to_string().find("dtype                float32\n"), std::string::npos);
}

}  // namespace
}  // namespace catenary
