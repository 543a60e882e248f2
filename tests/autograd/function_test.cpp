#include <gtest/gtest.h>

#include <functional>
#include <sstream>

#include "catenary/array/creation.h"
#include "catenary/array/elementwise.h"
#include "catenary/autograd/backward.h"
#include "catenary/autograd/computational_graph.h"
#include "catenary/autograd/function_node.h"
#include "catenary/autograd/hooks.h"
#include "catenary/autograd/operators.h"
#include "catenary/core/axis_error.h"
#include "catenary/core/config.h"
#include "catenary/device/backend.h"
#include "tests/autograd/helpers.h"

namespace catenary {
namespace {

namespace F = functions;
using test::values;
using Doubles = std::vector<double>;

int alive = 0;

class MulAdd : public FunctionNode {
 public:
  MulAdd() { ++alive; }
  ~MulAdd() override { --alive; }
  const char* name() const override { return "MulAdd"; }

 protected:
  Arrays forward(Inputs x) override {
    retain_inputs({0, 1});
    return x[0] * x[1] + x[2];
  }
  Variables backward(Targets targets, Grads gy) override {
    return gradients(targets, [&](int i) { return i == 2 ? gy[0] : gy[0] * retained_input(1 - i); });
  }
};

/// Splits into two outputs, where the second has a separate gradient.
class Both : public FunctionNode {
 public:
  const char* name() const override { return "Both"; }

 protected:
  Arrays forward(Inputs x) override {
    retain_outputs({1});
    return {x[0] * 2.0, x[0] * x[0]};
  }
  Variables backward(Targets, Grads gy) override {
    Variable gx;
    if (gy[0].defined()) gx = gy[0] * 2.0;
    if (gy[1].defined()) {
      const Variable root = pow(retained_output(1), 0.5);
      const Variable g = gy[1] * root * 2.0;
      gx = gx.defined() ? gx + g : g;
    }
    return gx;
  }
};

class Wrong : public FunctionNode {
 public:
  explicit Wrong(int how) : how_(how) {}
  const char* name() const override { return "Wrong"; }

 protected:
  Arrays forward(Inputs x) override { return how_ == 3 ? Arrays{Array()} : Arrays{x[0] + 1.0}; }
  Variables backward(Targets, Grads gy) override {
    if (how_ == 0) return F::sum(gy[0]);
    if (how_ == 1) return F::cast(gy[0], Dtype::float64);
    if (how_ == 4) return retained_input(0);
    return {};
  }
  int how_;
};

TEST(FunctionNode, ForwardAndBackward) {
  const Variable a(array<float>({1, 2})), b(array<float>({3, 4})), c(array<float>({5, 6}));
  {
    const Variable y = apply(node<MulAdd>(), a, b, c);
    EXPECT_EQ(alive, 1);
    EXPECT_EQ(values(y.array()), (Doubles{8, 14}));
    EXPECT_STREQ(y.creator()->name(), "MulAdd");
    y.set_grad(array<float>({1, 10}));
    y.backward();
    EXPECT_EQ(values(a.grad()), (Doubles{3, 40}));
    EXPECT_EQ(values(b.grad()), (Doubles{1, 20}));
    EXPECT_EQ(values(c.grad()), (Doubles{1, 10}));
  }
  EXPECT_EQ(alive, 0);
  const auto scope = no_backprop_mode();
  const Variable y = apply(node<MulAdd>(), a, b, c);
  EXPECT_EQ(alive, 0);
}

TEST(FunctionNode, DoubleBackpropMakesNoCycle) {
  {
    const Variable a(array<float>({1, 2})), b(array<float>({3, 4})), c(array<float>({5, 6}));
    const Variable y = apply(node<MulAdd>(), a, b, c);
    y.set_grad(array<float>({1, 1}));
    y.backward(true, true);
    const Variable z = F::sum(a.grad_var() * a.grad_var());
    b.cleargrad();
    z.backward(false, true);
    EXPECT_EQ(values(b.grad()), (Doubles{6, 8}));
  }
  EXPECT_EQ(alive, 0);
}

TEST(FunctionNode, SeveralOutputs) {
  const Variable x(array<float>({3}));
  Variables ys = apply_all(node<Both>(), x);
  ASSERT_EQ(ys.size(), 2u);
  (ys[0] + ys[1]).backward();
  EXPECT_EQ(values(x.grad()), Doubles{8});
  x.cleargrad();
  ys[0] = Variable();  // an output without a handle has no gradient
  ys[1].backward();
  EXPECT_EQ(values(x.grad()), Doubles{6});
  x.cleargrad();
  // The retained output returns as a variable of the graph, also after its handle is destroyed.
  Variable last = ys[1] + 0.0;
  ys[1] = Variable();
  last.backward(false, true);
  const Variable gx = x.grad_var();
  x.cleargrad();
  gx.backward();
  EXPECT_EQ(values(x.grad()), Doubles{2});
}

TEST(FunctionNode, WrongGradientsAreNamed) {
  const Variable x(array<float>({1, 2}));
  const auto run = [&](int how) {
    const Variable y = apply(node<Wrong>(how), x);
    y.set_grad(array<float>({1, 1}));
    y.backward();
  };
  EXPECT_THROW(run(0), ShapeError);
  EXPECT_THROW(run(1), DtypeError);
  EXPECT_THROW(run(2), ValueError);
  EXPECT_THROW(run(3), ValueError);
  EXPECT_THROW(run(4), ValueError);
  try {
    run(0);
  } catch (const ShapeError& e) {
    EXPECT_NE(std::string(e.what()).find("Wrong"), std::string::npos);
  }
  const auto f = node<Wrong>(2);
  apply(f, x);
  EXPECT_THROW(apply(f, x), ValueError);
}

TEST(FunctionNode, OnlyRetainedValuesLive) {
  const MemoryPool& pool = current_device().backend().pool(0);
  const std::int64_t n = 1 << 20;
  const auto use = [&] {
    evaluate();
    return pool.used_bytes();
  };
  const std::size_t before = use();
  {
    const Array big = Array::empty({n}, Dtype::float32);
    big.fill(1);
    const Variable x(big);
    Variable y = (x + 1.0f) + 2.0f;  // backward needs no intermediate results
    y.array().eval();
    EXPECT_LT(use(), before + 3 * n * 4);
    y = y * y;
    y.array().eval();
    y = y + 1.0f;
    y.array().eval();
    EXPECT_LT(use(), before + 4 * n * 4);  // x, y before the square, the result
    y.set_grad(big);
    y.backward();
  }
  EXPECT_EQ(use(), before);
}

TEST(Debug, NanIsDetected) {
  const auto scope = using_config(config.debug, true);
  const Variable x(array<float>({0}));
  const auto message_of = [](auto&& f) -> std::string {
    try {
      f();
    } catch (const NanError& error) {
      return error.what();
    }
    return "no NanError";
  };
  EXPECT_EQ(message_of([&] { x / x; }), "NaN is detected on forward computation of _ / _");
  const Variable y = pow(x, 0.5);
  y.set_grad(zeros({1}, Dtype::float32));
  EXPECT_EQ(message_of([&] { y.backward(); }), "NaN is detected on forward computation of _ * _");  // 0 * inf
}

class Recorder : public FunctionHook {
 public:
  std::string name() const override { return "Recorder"; }
  void added(FunctionNode* f) override { log += f ? "+f " : "+ "; }
  void deleted(FunctionNode* f) override { log += f ? "-f " : "- "; }
  void forward_preprocess(FunctionNode& f, Inputs x) override {
    log += std::string("<") + f.name() + std::to_string(x.size()) + " ";
  }
  void forward_postprocess(FunctionNode& f, Inputs) override { log += std::string(f.name()) + "> "; }
  void backward_preprocess(FunctionNode& f, Inputs, Grads gy) override {
    log += std::string("[") + f.name() + std::to_string(gy.size()) + " ";
  }
  void backward_postprocess(FunctionNode& f, Inputs, Grads) override { log += std::string(f.name()) + "] "; }
  std::string log;
};

TEST(Hooks, SeeFunctionsOfTheThread) {
  Recorder hook;
  const Variable x(array<float>({2}));
  {
    HookScope scope(hook);
    EXPECT_THROW(HookScope again(hook), ValueError);
    (x * 2.0f).backward();
  }
  EXPECT_EQ(hook.log, "+ <MulConstant1 MulConstant> [MulConstant1 MulConstant] - ");
  x + x;
  EXPECT_TRUE(get_function_hooks().empty());
}

TEST(Hooks, SeeOneFunction) {
  const auto hook = std::make_shared<Recorder>();
  const Variable x(array<float>({2}));
  const Variable y = x * 2.0f;
  y.creator()->add_hook(hook);
  EXPECT_THROW(y.creator()->add_hook(hook), ValueError);
  (y + 1.0f).backward();
  EXPECT_EQ(hook->log, "+f [MulConstant1 MulConstant] ");
  y.creator()->delete_hook("Recorder");
  EXPECT_THROW(y.creator()->delete_hook("Recorder"), ValueError);
}

TEST(Hooks, TimerAndMemoryReport) {
  const Variable x(array<float>(std::vector<float>(100000, 1)));
  TimerHook timer;
  MemoryHook memory;
  Variable y;
  {
    HookScope a(timer), b(memory);
    y = F::sum(x * x + x);
    y.backward();
  }
  const auto summary = timer.summary();
  ASSERT_EQ(summary.size(), 5u);  // including functions in Sum's gradient: Reshape, BroadcastTo
  EXPECT_EQ(summary[0].function, "Mul");
  EXPECT_EQ(summary[2].function, "Sum");
  EXPECT_EQ(summary[1].occurrence, 2);
  EXPECT_GT(timer.total_time(), 0);
  std::ostringstream report;
  timer.print_report(report, "us");
  EXPECT_EQ(report.str().substr(0, 12), "FunctionName");
  EXPECT_NE(report.str().find("us           2\n"), std::string::npos) << report.str();
  EXPECT_THROW(timer.print_report(report, "h"), ValueError);
  EXPECT_EQ(memory.summary().size(), 5u);
  EXPECT_GE(memory.summary()[0].used_bytes, 400000);
  memory.print_report(report);
}

TEST(Hooks, PrintShowsNamesAndArrays) {
  std::ostringstream text;
  PrintHook hook(text);
  const Variable x(array<float>({2}));
  HookScope scope(hook);
  x * 2.0f;
  EXPECT_EQ(text.str(), "function\tMulConstant\ninput data\n<variable (1), float32>\n[2.]\n");
}

TEST(ComputationalGraph, DumpsDot) {
  const Variable x(array<float>({1, 2}), {.name = "x"});
  const Variable y = x * x + 1.0;
  const std::string dot = build_computational_graph({y}).dump();
  EXPECT_EQ(dot,
            "digraph graphname{rankdir=TB;"
            "0 [label=\"(2), float32\",shape=\"octagon\",fillcolor=\"#E0E0E0\",style=\"filled\"];"
            "1 [label=\"_ + 1.0\",shape=\"record\",fillcolor=\"#6495ED\",style=\"filled\"];"
            "2 [label=\"(2), float32\",shape=\"octagon\",fillcolor=\"#E0E0E0\",style=\"filled\"];"
            "3 [label=\"_ * _\",shape=\"record\",fillcolor=\"#6495ED\",style=\"filled\"];"
            "4 [label=\"x: (2), float32\",shape=\"octagon\",fillcolor=\"#E0E0E0\",style=\"filled\"];"
            "1 -> 0;2 -> 1;3 -> 2;4 -> 3;}");
  GraphOptions options;
  options.remove_variable = true;
  options.rankdir = "LR";
  options.function_style = {};
  EXPECT_EQ(
      build_computational_graph({y}, options).dump(),
      "digraph graphname{rankdir=LR;1 [label=\"_ + 1.0\",shape=\"box\"];3 [label=\"_ * _\",shape=\"box\"];3 -> 1;}");
  options.rankdir = "XY";
  EXPECT_THROW(build_computational_graph({y}, options), ValueError);
}

/// An undefined Variable is reported with the function that received it, for each way into the graph.
TEST(FunctionNode, AnUndefinedInputIsNamed) {
  const Variable x(array<float>({1, 2})), undefined;
  const auto says = [](const std::string& name, const std::function<void()>& call) {
    try {
      call();
      ADD_FAILURE() << name << " took an undefined Variable";
    } catch (const ValueError& error) {
      EXPECT_EQ(std::string(error.what()).find(name + " is an undefined Variable; "), 0u) << error.what();
    }
  };
  says("MulAdd: input 2", [&] { apply(node<MulAdd>(), x, x, undefined); });
  says("MulAdd: input 0", [&] { node<MulAdd>()->apply(std::vector<Variable>{undefined, x, x}); });
  says("Add: input 1", [&] { x + undefined; });
  says("MulConstant: input 0", [&] { undefined * 2.0; });
  EXPECT_EQ(alive, 0);
}

}  // namespace
}  // namespace catenary
