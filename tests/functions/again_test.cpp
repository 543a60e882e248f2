// Every graph node lists its attributes: a node created again from them, in any test of this folder on the CPU, gives
// equal bits. Functions that reduce are checked on every device, with fusion.

#include "tests/again.h"

#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "catenary/autograd/backward.h"
#include "catenary/device/device.h"
#include "catenary/functions/functions.h"
#include "tests/arrays.h"

namespace {

class EveryFunctionAgain final : public testing::EmptyTestEventListener {
 public:
  void OnTestStart(const testing::TestInfo& test) override {
    const std::string name = std::string(test.test_suite_name()) + "." + test.name();
    if (name.starts_with("Forget.")) return;  // contains a function of the program, which it cannot list
    if (name == "BatchRenormalization.IsBatchNormalizationWithinTheLimits") return;  // changes inputs in place
    if (catenary::current_device() == catenary::Device()) again_ = std::make_unique<tests::Again>();
  }
  void OnTestEnd(const testing::TestInfo& test) override {
    if (!again_) return;
    const std::string wrong = test.result()->Failed() ? "" : again_->check();
    again_.reset();
    if (!wrong.empty()) ADD_FAILURE() << wrong;
  }

 private:
  std::unique_ptr<tests::Again> again_;
};

const bool added = [] {
  testing::UnitTest::GetInstance()->listeners().Append(new EveryFunctionAgain);
  return true;
}();

namespace ct = catenary;
namespace F = catenary::functions;
using ct::Dtype;
using ct::Shape;
using ct::Variable;

using Function = std::function<Variable(const Variable& x, const Variable& gamma, const Variable& beta)>;

/// Gradients and their gradients, in which the results of most reductions are pending and broadcast.
void differentiate_twice(const Function& f, const Shape& shape, const Shape& parameter) {
  const auto waves = [](const Shape& s, double phase) { return tests::waves(s, phase, Dtype::float32).eval(); };
  const std::vector<Variable> inputs = {waves(shape, 0), waves(parameter, 1) + 2, waves(parameter, 2)};
  const Variable y = f(inputs[0], inputs[1], inputs[2]);
  const Variable gy(waves(y.shape(), 3));
  const std::vector<Variable> first = ct::grad({y}, inputs, {.grad_outputs = {gy}, .enable_double_backprop = true});
  std::vector<Variable> outputs, weights;
  for (const Variable& g : first) {
    if (!g.defined()) continue;
    outputs.push_back(F::identity(g));
    weights.emplace_back(waves(g.shape(), 4));
  }
  for (const Variable& g : ct::grad(outputs, inputs, {.grad_outputs = weights}))
    if (g.defined()) g.array().eval();
}

TEST(Reductions, GiveTheSameBitsOnceMore) {
  const std::vector<std::pair<const char*, Function>> all = {
      {"group",
       [](const Variable& x, const Variable& g, const Variable& b) { return F::group_normalization(x, 2, g, b); }},
      {"group alone",
       [](const Variable& x, const Variable& g, const Variable& b) { return F::group_normalization(x, 6, g, b); }},
      {"instance",
       [](const Variable& x, const Variable& g, const Variable& b) { return F::instance_normalization(x, g, b); }},
      {"batch",
       [](const Variable& x, const Variable& g, const Variable& b) { return F::batch_normalization(x, g, b); }},
      {"sums", [](const Variable& x, const Variable& g, const Variable& b) {
         const Variable scaled = x * F::reshape(g, {1, 6, 1, 1}) + F::reshape(b, {1, 6, 1, 1});
         return F::sum(scaled, {1, 2, 3}) + F::mean(scaled, {1, 2, 3}) + F::max(scaled, {1, 2, 3}) +
                F::logsumexp(scaled, {1, 2, 3}) + F::prod(scaled * 0.1 + 1.0, {1, 2, 3});
       }}};
  for (const auto& [name, f] : all) {
    for (const Shape& shape : {Shape{2, 6, 5, 7}, {3, 6, 1, 40}, {1, 6, 33, 9}}) {
      std::optional<tests::Again> again;  // on the CPU the listener has one
      if (!(ct::current_device() == ct::Device())) again.emplace();
      differentiate_twice(f, shape, {6});
      const std::string wrong = again ? again->check() : "";
      EXPECT_EQ(wrong, "") << name << " of " << shape.str();
    }
  }
}

}  // namespace
