// Numbers that float32 must not lose in an update, and separate update counts of parameters.

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <limits>
#include <utility>
#include <vector>

#include "catenary/catenary.h"
#include "tests/folder.h"
#include "tests/texts.h"
#include "tests/training/rules.h"

namespace catenary {
namespace {

namespace O = optimizers;
using tests::rule_of;
using tests::Values;
using tests::values_of;

constexpr double kInf = std::numeric_limits<double>::infinity();

struct Weights : Link {
  Parameter x;
  CT_LINKS(x)
  explicit Weights(const Values& values, Dtype dtype = Dtype::float32)
      : x(Parameter::from_array(array_of(values, dtype))) {}
  static Array array_of(const Values& values, Dtype dtype) {
    return Array::from_host(values.data(), {static_cast<std::int64_t>(values.size())}, Dtype::float64, Device())
        .astype(dtype)
        .to_device(current_device());
  }
  void set_grad(const Values& values) const { x.set_grad(array_of(values, x.dtype())); }
};

Values made(int n, const std::function<double(int)>& value) {
  Values all;
  for (int i = 0; i < n; ++i) all.push_back(value(i));
  return all;
}

/// The mean of 500 weights from 1 to 2 after this many updates with noisy gradients.
double mean_after(int updates, const Optimizer& optimizer) {
  const Weights weights(made(500, [](int i) { return 1 + i / 500.0; }));
  optimizer.setup(weights);
  for (int t = 0; t < updates; ++t) {
    weights.set_grad(made(500, [&](int i) { return std::sin(i * 1.7 + t * 2.3); }));
    optimizer.update();
  }
  return mean(weights.x.array().astype(Dtype::float64)).item<double>();
}

// In float32, 1 - decay is 1 if the decay is below 3e-8.
TEST(Decay, ASmallOneIsNotLost) {
  constexpr int kUpdates = 300;
  for (const auto& [alpha, decay] : {std::pair{1e-5, 1e-3}, {2e-5, 1e-2}, {1e-4, 1e-2}}) {
    const double wanted = std::pow(1 - alpha * decay, kUpdates) - 1;
    const double without = mean_after(kUpdates, O::AdamW({.alpha = alpha, .weight_decay = 0.0}));
    const double by_rate = mean_after(kUpdates, O::AdamW({.alpha = alpha, .weight_decay = decay}));
    EXPECT_NEAR(by_rate / without - 1, wanted, std::abs(wanted) * 0.03) << alpha << " " << decay;
    const double chainers = mean_after(kUpdates, O::Adam({.alpha = alpha, .chainer_decay = alpha * decay}));
    EXPECT_NEAR(chainers / without - 1, wanted, std::abs(wanted) * 0.03) << alpha << " " << decay;
    const double halved = mean_after(
        kUpdates, O::AdamW({.alpha = 2 * alpha, .eta = 0.5, .weight_decay = decay}));  // eta scales the decay, too
    EXPECT_NEAR(halved / without - 1, wanted, std::abs(wanted) * 0.03) << alpha << " " << decay;
  }
}

TEST(Decay, MSVAGsIsNotLost) {
  constexpr int kUpdates = 300;
  const double without = mean_after(kUpdates, O::MSVAG({.lr = 1e-3}));
  const double with = mean_after(kUpdates, O::MSVAG({.lr = 1e-3, .chainer_decay = 1e-8}));
  EXPECT_NEAR(with / without - 1, -1e-8 * kUpdates, 1e-8 * kUpdates * 0.1);
}

// If updates may be skipped, the device counts in float32: 1 - 1 / (gamma t + 1) would have 4 digits instead of 7.
TEST(Decay, BoundsOfACountOnTheDevice) {
  const Weights weights({0, 0, 0});
  const O::AdaBound optimizer({.alpha = 1e-9, .final_lr = 0.1, .gamma = 1e-4});
  optimizer.setup(weights);
  optimizer.loss_scaling();
  weights.set_grad({1e-3, -1e-3, 1e-3});
  optimizer.update();
  // the step is the lower bound times m = 0.1 g
  const double step = 0.1 * (1 - 1 / (1e-4 + 1)) * 1e-4;
  EXPECT_NEAR(values_of(weights.x.array())[0], -step, 3e-6 * step);
}

/// Chainer's formula, or the published one, in float64.
Values nesterov(Values x, bool published, int updates, const std::function<double(int, int)>& gradient) {
  Values v(x.size());
  for (int t = 0; t < updates; ++t) {
    for (std::size_t k = 0; k < x.size(); ++k) {
      const double g = gradient(static_cast<int>(k), t), previous = v[k];
      v[k] = 0.9 * previous - 0.1 * g;
      x[k] += 0.81 * (published ? previous : v[k]) - 1.9 * 0.1 * g;
    }
  }
  return x;
}

TEST(NesterovAG, BothFormulas) {
  const Values start = made(5, [](int k) { return std::sin(0.7 * k + 1); });
  const auto gradient = [](int k, int t) { return std::sin(0.7 * k + 0.9 * t); };
  const auto trained = [&](const O::NesterovAG& optimizer) {
    const Weights weights(start, Dtype::float64);
    optimizer.setup(weights);
    for (int t = 0; t < 20; ++t) {
      weights.set_grad(made(5, [&](int k) { return gradient(k, t); }));
      optimizer.update();
    }
    return values_of(weights.x.array());
  };
  const Values chainers = trained(O::NesterovAG(0.1)),
               published = trained(O::NesterovAG({.lr = 0.1, .published = true}));
  const Values by_torch = {-0.1351986, 0.07860789, 0.2554439, 0.3121406, 0.2220327};  // SGD(nesterov=True), 2.9.1
  const Values wanted = nesterov(start, false, 20, gradient), of_paper = nesterov(start, true, 20, gradient);
  for (std::size_t k = 0; k < 5; ++k) {
    EXPECT_NEAR(chainers[k], wanted[k], 1e-12);
    EXPECT_NEAR(published[k], of_paper[k], 1e-12);
    EXPECT_NEAR(published[k], by_torch[k], 1e-7);
  }
}

/// Adam's parameter after updates by these gradients, in float64, beginning with its first update.
Values adam(Values x, double alpha, const std::vector<Values>& gradients) {
  Values m(x.size()), v(x.size());
  for (std::size_t t = 1; t <= gradients.size(); ++t) {
    for (std::size_t i = 0; i < x.size(); ++i) {
      const double g = gradients[t - 1][i];
      m[i] += 0.1 * (g - m[i]);
      v[i] += 0.001 * (g * g - v[i]);
      const double n = static_cast<double>(t);
      x[i] -= alpha * std::sqrt(1 - std::pow(0.999, n)) / (1 - std::pow(0.9, n)) * m[i] / (std::sqrt(v[i]) + 1e-8);
    }
  }
  return x;
}

struct Pair : Chain {
  Weights a{{1, -2, 0.5}}, b{{0.25, 4, -1}};
  CT_LINKS(a, b)
};

Values gradient_at(int t) {
  return made(3, [&](int i) { return std::cos(i + 2.0 * t) + 1.5; });
}

void expect_adam(const Weights& weights, const Values& start, const std::vector<Values>& gradients) {
  const Values wanted = adam(start, 0.1, gradients), got = values_of(weights.x.array());
  ASSERT_EQ(rule_of(weights.x).t(), static_cast<std::int64_t>(gradients.size()));
  for (std::size_t i = 0; i < got.size(); ++i) EXPECT_NEAR(got[i], wanted[i], 2e-6) << i;
}

// A parameter that is enabled late has a separate count.
TEST(Counts, OfAParameterThatIsEnabledLate) {
  const Pair net;
  const O::Adam optimizer(0.1);
  optimizer.setup(net);
  rule_of(net.b.x).enabled = false;
  std::vector<Values> all, late;
  for (int t = 0; t < 6; ++t) {
    if (t == 4) rule_of(net.b.x).enabled = true;
    net.a.set_grad(gradient_at(t));
    net.b.set_grad(gradient_at(t));
    optimizer.update();
    all.push_back(gradient_at(t));
    if (t >= 4) late.push_back(gradient_at(t));
  }
  expect_adam(net.a, {1, -2, 0.5}, all);
  expect_adam(net.b, {0.25, 4, -1}, late);
}

// Parameters may have equal numbers of begun updates, but different numbers of skipped ones.
TEST(Counts, OfAParameterThatMissedASkippedUpdate) {
  const Pair net;
  const O::Adam optimizer(0.1);
  optimizer.setup(net);
  optimizer.loss_scaling();
  const auto update = [&](bool a, bool b, const Values& gradient) {
    rule_of(net.a.x).enabled = a;
    rule_of(net.b.x).enabled = b;
    net.a.set_grad(gradient);
    net.b.set_grad(gradient);
    optimizer.update();
  };
  update(true, false, {kInf, 1, 1});
  EXPECT_FALSE(optimizer.is_safe_to_update());
  update(false, true, gradient_at(0));
  for (int t = 1; t < 4; ++t) update(true, true, gradient_at(t));
  expect_adam(net.a, {1, -2, 0.5}, {gradient_at(1), gradient_at(2), gradient_at(3)});
  expect_adam(net.b, {0.25, 4, -1}, {gradient_at(0), gradient_at(1), gradient_at(2), gradient_at(3)});
}

// 16-bit parameters with and without float32 copies form two groups, also if a rule has no state.
TEST(Counts, OfParametersThatAreKeptInOtherDtypes) {
  struct Four : Chain {
    Weights wide{{1, -2, 0.5}}, half{{1, -2, 0.5}, Dtype::float16}, alone{{1, -2, 0.5}, Dtype::float16},
        brain{{1, -2, 0.5}, Dtype::bfloat16};
    CT_LINKS(wide, half, alone, brain)
  };
  const auto expect = [](const Optimizer& optimizer, const Values& wanted) {
    const Four net;
    optimizer.setup(net);
    optimizer.set_loss_scale(1);
    rule_of(net.alone.x).use_fp32_update = false;
    for (int t = 0; t < 5; ++t) {
      for (const Weights* w : {&net.wide, &net.half, &net.alone, &net.brain}) w->set_grad({1, 0.5, 2});
      optimizer.update();
    }
    for (std::size_t i = 0; i < 3; ++i) {
      EXPECT_NEAR(values_of(net.wide.x.array())[i], wanted[i], 1e-6);
      EXPECT_NEAR(values_of(net.half.x.array())[i], wanted[i], 1e-3);
      EXPECT_NEAR(values_of(net.alone.x.array())[i], wanted[i], 1e-2);
      EXPECT_NEAR(values_of(net.brain.x.array())[i], wanted[i], 1e-2);
      EXPECT_EQ(values_of(net.alone.x.grad())[i], (Values{1, 0.5, 2})[i]);
    }
  };
  expect(O::Adam(0.1), adam({1, -2, 0.5}, 0.1, std::vector<Values>(5, {1, 0.5, 2})));
  expect(O::SGD(0.1), {0.5, -2.25, -0.5});
}

// Skipped updates of one model do not count for another.
TEST(Setup, ForgetsUpdatesThatWereSkipped) {
  const Weights first({1, 2}), second({1, 2});
  const O::SGD optimizer(0.1);
  optimizer.setup(first);
  optimizer.loss_scaling();
  for (int t = 0; t < 9; ++t) {
    first.set_grad({kInf, 1});
    optimizer.update();
  }
  EXPECT_THROW(optimizer.check_skipped_updates(), ValueError);
  optimizer.setup(second);
  EXPECT_NO_THROW(optimizer.check_skipped_updates());
}

TEST(Setup, KeepsWhatWasSaidOfFloat32) {
  const auto after = [](bool in_float32) {
    const Weights weights({1, -1}, Dtype::float16);
    const O::SGD optimizer(1e-4);
    optimizer.use_fp32_update(in_float32);
    optimizer.setup(weights);
    EXPECT_EQ(rule_of(weights.x).use_fp32_update, in_float32);
    for (int t = 0; t < 100; ++t) {
      weights.set_grad({1, 1});
      optimizer.update();
    }
    return values_of(weights.x.array());
  };
  EXPECT_NEAR(after(true)[0], 0.99, 1e-3);
  EXPECT_EQ(after(false)[0], 1);  // each step is less than half a unit in the last place
}

// loss_scaling() restarts: the scale doubles with each update, as if no gradient had ever been inf.
TEST(Setup, LossScalingBeginsAnew) {
  const Weights weights({1, 2}, Dtype::float16);
  const O::SGD optimizer(1e-3);
  optimizer.setup(weights);
  const auto update = [&](double gradient) {
    weights.set_grad({gradient, gradient});
    optimizer.update();
  };
  for (int t = 0; t < 3; ++t) update(1);
  update(kInf);
  update(1);
  EXPECT_NEAR(optimizer.loss_scale().value(), 4, 0.1);
  optimizer.loss_scaling();
  EXPECT_EQ(optimizer.loss_scale().value(), 1);
  for (const double wanted : {2.0, 4.0, 8.0}) {
    update(1);
    EXPECT_EQ(optimizer.loss_scale().value(), wanted);
  }
}

/// Adam would take the velocity of MomentumSGD for its second moment, and the weights become NaN.
TEST(UpdateRules, TheStateOfAnotherOptimizerIsRefused) {
  const tests::Folder folder;
  const Weights saved({1, -2, 3}), read({1, -2, 3});
  const auto updated = [&](const Optimizer& optimizer, const Weights& weights) {
    optimizer.setup(weights);
    weights.set_grad({0.5, -1, 2});
    optimizer.update();
  };
  const auto why = [&](const Optimizer& from, const Optimizer& to) {
    updated(from, saved);
    updated(to, read);
    serializers::save_npz(folder / "state.npz", from);
    const Values before = values_of(rule_of(read.x).state[0].second);
    const auto text = tests::error_of<FileError>([&] { serializers::load_npz(folder / "state.npz", to); });
    EXPECT_EQ(values_of(rule_of(read.x).state[0].second), before);
    return text;
  };
  EXPECT_NE(why(O::MomentumSGD(), O::Adam()).find("x/m"), std::string::npos);
  EXPECT_NE(why(O::Adam(), O::MomentumSGD()).find("another optimizer"), std::string::npos);
  EXPECT_NE(why(O::AdaDelta(), O::RMSprop()).find("another optimizer"), std::string::npos);
  EXPECT_NE(why(O::Adam(), O::AMSGrad()).find("x/vhat"), std::string::npos);
}

}  // namespace
}  // namespace catenary
