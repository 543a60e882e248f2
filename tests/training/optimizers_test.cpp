// Options and hyperparameters of optimizers, AdamW compared with its formula, and groups of parameters.

#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <functional>
#include <map>
#include <string>
#include <type_traits>
#include <vector>

#include "catenary/catenary.h"
#include "tests/folder.h"
#include "tests/paths.h"
#include "tests/texts.h"
#include "tests/training/rules.h"

namespace catenary {
namespace {

namespace F = functions;
namespace O = optimizers;
using tests::error_of;
using tests::Values;
using tests::values_of;

/// A link with a single parameter of a given dtype.
struct One : Link {
  Parameter x;
  CT_LINKS(x)
  explicit One(const Values& values, Dtype dtype = Dtype::float64)
      : x(Parameter::from_array(
            Array::from_host(values.data(), {static_cast<std::int64_t>(values.size())}, Dtype::float64)
                .astype(dtype))) {}
};

struct BodyAndHead : Chain {
  links::Linear body, head;
  CT_LINKS(body, head)
  BodyAndHead() : body(3, 4), head(4, 2) {}
  Variable operator()(const Variable& x) const { return head(F::tanh(body(x))); }
};

/// The gradient of element i in update t.
double gradient(std::size_t i, int t) { return std::sin(1.7 * static_cast<double>(i + 1) * t) + 0.2; }

/// The weights after updates by these gradients.
Values updated(
    const Optimizer& optimizer, const One& model, int updates, const std::function<void(int)>& before = [](int) {}) {
  for (int t = 1; t <= updates; ++t) {
    before(t);
    Values g;
    for (std::int64_t i = 0; i < model.x.size(); ++i) g.push_back(gradient(static_cast<std::size_t>(i), t));
    model.x.set_grad(Array::from_host(g.data(), model.x.shape(), Dtype::float64).astype(model.x.dtype()));
    optimizer.update();
  }
  return values_of(model.x.array());
}

const Values kStart = {1, -2, 0.5, 3};

/// Adam and its variants by the papers' formulas, in float64.
struct Formula {
  double alpha = 0.001, beta1 = 0.9, beta2 = 0.999, eps = 1e-8, eta = 1, weight_decay = 0, chainer_decay = 0;
  bool adabound = false;
  double final_lr = 0.1, gamma = 1e-3, first_alpha = 0.001;

  Values after(
      int updates, const std::function<void(Formula&, int)>& before = [](Formula&, int) {}) {
    Values x = kStart, m(x.size()), v(x.size());
    for (int t = 1; t <= updates; ++t) {
      before(*this, t);
      for (std::size_t i = 0; i < x.size(); ++i) {
        const double g = gradient(i, t);
        m[i] = beta1 * m[i] + (1 - beta1) * g;
        v[i] = beta2 * v[i] + (1 - beta2) * g * g;
        const double correction = std::sqrt(1 - std::pow(beta2, t)) / (1 - std::pow(beta1, t));
        double step = alpha * correction / (std::sqrt(v[i]) + eps);
        if (adabound) {
          const double last = final_lr * alpha / first_alpha;
          step = std::min(std::max(step, last * (1 - 1 / (gamma * t + 1))), last * (1 + 1 / (gamma * t)));
        }
        x[i] -= eta * (step * m[i] + (alpha * weight_decay + chainer_decay) * x[i]);
      }
    }
    return x;
  }
};

void expect_near(const Values& got, const Values& expected, double relative = 1e-9) {
  ASSERT_EQ(got.size(), expected.size());
  for (std::size_t i = 0; i < got.size(); ++i)
    EXPECT_NEAR(got[i], expected[i], relative * (1 + std::abs(expected[i]))) << "element " << i;
}

Values trained(
    const Optimizer& optimizer, int updates, const std::function<void(int)>& before = [](int) {}) {
  const One model(kStart);
  optimizer.setup(model);
  return updated(optimizer, model, updates, before);
}

}  // namespace

// torch.optim.AdamW multiplies by 1 - lr weight_decay before Adam's step.
TEST(AdamW, TheRateScalesItsDecay) {
  expect_near(trained(O::AdamW({.alpha = 0.01, .beta1 = 0.8, .beta2 = 0.95, .weight_decay = 0.3}), 20),
              Formula{.alpha = 0.01, .beta1 = 0.8, .beta2 = 0.95, .weight_decay = 0.3}.after(20));
  // 0.01 by default, as in torch
  expect_near(trained(O::AdamW(), 20), Formula{.weight_decay = 0.01}.after(20));
  expect_near(trained(O::AdamW(0.02), 20), Formula{.alpha = 0.02, .weight_decay = 0.01}.after(20));
  // a schedule of the rate also scales the decay
  const O::AdamW scheduled({.alpha = 0.01, .weight_decay = 0.3});
  expect_near(trained(scheduled, 20, [&](int t) { scheduled.hyperparam().set("alpha", 0.01 / t); }),
              Formula{.weight_decay = 0.3}.after(20, [](Formula& f, int t) { f.alpha = 0.01 / t; }));
}

TEST(AdamW, ChainersDecayByName) {
  expect_near(trained(O::AdamW({.alpha = 0.01, .eta = 0.5, .chainer_decay = 0.02}), 20),
              Formula{.alpha = 0.01, .eta = 0.5, .chainer_decay = 0.02}.after(20));
  EXPECT_EQ(error_of<ValueError>([] { O::AdamW({.weight_decay = 0.01, .chainer_decay = 0.0}); }),
            "AdamW: give either weight_decay (scaled by the rate) or chainer_decay (not scaled), not both");
}

TEST(AdamW, EtaScalesTheStepAndTheDecay) {
  const O::AdamW optimizer({.alpha = 0.01, .eta = 0.25, .weight_decay = 0.3});
  expect_near(
      trained(optimizer, 20, [&](int t) { optimizer.eta = t < 10 ? 0.25 : 0.5; }),
      Formula{.alpha = 0.01, .weight_decay = 0.3}.after(20, [](Formula& f, int t) { f.eta = t < 10 ? 0.25 : 0.5; }));
  for (const bool amsgrad : {false, true}) {
    const One half(kStart), whole(kStart);
    const O::AdamW by_eta({.alpha = 0.01, .eta = 0.5, .weight_decay = 0.1, .amsgrad = amsgrad});
    const O::AdamW by_rate({.alpha = 0.005, .weight_decay = 0.1, .amsgrad = amsgrad});
    by_eta.setup(half);
    by_rate.setup(whole);
    expect_near(updated(by_eta, half, 15), updated(by_rate, whole, 15));
  }
}

// Frameworks order options differently: after the rate, options need names, and AdaDelta's need names from the first
// on.
TEST(Optimizers, NumbersInARowOnlyWhereTheyAreClear) {
  static_assert(std::is_constructible_v<O::AdamW, double> && !std::is_constructible_v<O::AdamW, double, double>);
  static_assert(!std::is_constructible_v<O::AdamW, double, double, double, double, double>);
  static_assert(!std::is_constructible_v<O::AdaDelta, double>);
  static_assert(!std::is_constructible_v<O::AdaGrad, double, double>);
  static_assert(!std::is_constructible_v<O::RMSprop, double, double>);
  static_assert(!std::is_constructible_v<O::AdaBound, double, double>);
  static_assert(std::is_constructible_v<O::Adam, double, double, double, double>);
  static_assert(std::is_constructible_v<O::MomentumSGD, double, double> &&
                !std::is_constructible_v<O::SGD, double, double>);
  EXPECT_EQ(O::Adam(1e-3, 0.8).beta1, 0.8);
  EXPECT_EQ(O::NesterovAG(0.1, 0.5).momentum, 0.5);
}

TEST(Optimizers, OptionsAreHyperparametersByTheirNames) {
  using All = Hyperparameters::Values;
  const auto all = [](const Optimizer& optimizer) { return optimizer.hyperparam().all(); };
  EXPECT_EQ(all(O::SGD({.lr = 2})), (All{{"lr", 2}}));
  const All momentum{{"lr", 2}, {"momentum", 3}};
  EXPECT_EQ(all(O::MomentumSGD({.lr = 2, .momentum = 3})), momentum);
  EXPECT_EQ(all(O::CorrectedMomentumSGD({.lr = 2, .momentum = 3})), momentum);
  EXPECT_EQ(all(O::NesterovAG({.lr = 2, .momentum = 3})), momentum);
  EXPECT_EQ(all(O::AdaGrad({.lr = 2, .eps = 3})), (All{{"lr", 2}, {"eps", 3}}));
  EXPECT_EQ(all(O::AdaDelta({.rho = 2, .eps = 3})), (All{{"rho", 2}, {"eps", 3}}));
  EXPECT_EQ(all(O::RMSprop({.lr = 2, .alpha = 3, .eps = 4, .eps_inside_sqrt = true})),
            (All{{"lr", 2}, {"alpha", 3}, {"eps", 4}, {"eps_inside_sqrt", 1}}));
  EXPECT_EQ(all(O::RMSpropGraves({.lr = 2, .alpha = 3, .momentum = 4, .eps = 5})),
            (All{{"lr", 2}, {"alpha", 3}, {"momentum", 4}, {"eps", 5}}));
  EXPECT_EQ(all(O::SMORMS3({.lr = 2, .eps = 3})), (All{{"lr", 2}, {"eps", 3}}));
  EXPECT_EQ(all(O::MSVAG({.lr = 2, .beta = 3, .eta = 4, .chainer_decay = 5})),
            (All{{"lr", 2}, {"beta", 3}, {"eta", 4}, {"chainer_decay", 5}}));
  const All adam{{"alpha", 2}, {"beta1", 3}, {"beta2", 4}, {"eps", 5}, {"eta", 6}};
  const auto and_ = [&](const All& more) {
    All result = adam;
    result.insert(result.end(), more.begin(), more.end());
    return result;
  };
  EXPECT_EQ(all(O::Adam({.alpha = 2, .beta1 = 3, .beta2 = 4, .eps = 5, .eta = 6, .chainer_decay = 7})),
            and_({{"chainer_decay", 7}}));
  EXPECT_EQ(all(O::AdamW({.alpha = 2, .beta1 = 3, .beta2 = 4, .eps = 5, .eta = 6, .weight_decay = 7})),
            and_({{"weight_decay", 7}, {"chainer_decay", 0}}));
  EXPECT_EQ(all(O::AMSGrad({.alpha = 2, .beta1 = 3, .beta2 = 4, .eps = 5, .eta = 6})), and_({{"chainer_decay", 0}}));
  const All bounded = and_({{"chainer_decay", 0}, {"final_lr", 7}, {"gamma", 8}});
  const O::AdaBoundOptions options{.alpha = 2, .beta1 = 3, .beta2 = 4, .final_lr = 7, .gamma = 8, .eps = 5, .eta = 6};
  EXPECT_EQ(all(O::AdaBound(options)), bounded);
  EXPECT_EQ(all(O::AMSBound(options)), bounded);
}

TEST(Optimizers, ARateThatIsNoNumberIsItsParametersAlone) {
  struct Two : Link {
    Parameter a{1.0, Shape{2}, "a"}, b{1.0, Shape{2}, "b"};
    CT_LINKS(a, b)
  } model;
  O::SGD optimizer(0.5);
  optimizer.setup(model);
  dynamic_cast<UpdateRule&>(*model.a.update_rule()).hyperparam->set("lr", std::nan(""));
  optimizer.update([&] { return functions::sum(model.a + model.b); });
  EXPECT_TRUE(std::isnan(model.a.array().to_vector<float>()[0]));
  EXPECT_EQ(model.b.array().to_vector<float>(), (std::vector<float>{0.5, 0.5}));
}

// docs/guide/training.md has a row for each optimizer with all its hyperparameters.
TEST(Optimizers, TheDocumentStatesEachHyperparameter) {
  std::ifstream file(tests::source_path("docs/guide/training.md"));
  std::vector<std::string> rows;
  for (std::string line; std::getline(file, line);)
    if (line.starts_with("| `")) rows.push_back(line);
  const auto row_of = [&](const std::string& name) {
    for (const std::string& row : rows)
      if (row.substr(0, row.find('|', 1)).find("`" + name + "`") != std::string::npos) return row;
    return std::string();
  };
  const std::vector<Optimizer> all = {O::SGD(),        O::MomentumSGD(), O::CorrectedMomentumSGD(),
                                      O::NesterovAG(), O::AdaGrad(),     O::AdaDelta(),
                                      O::RMSprop(),    O::Adam(),        O::RMSpropGraves(),
                                      O::SMORMS3(),    O::MSVAG(),       O::AdamW(),
                                      O::AMSGrad(),    O::AdaBound(),    O::AMSBound()};
  for (const Optimizer& optimizer : all) {
    const std::string row = row_of(optimizer.name());
    ASSERT_FALSE(row.empty()) << optimizer.name();
    for (const auto& [name, value] : optimizer.hyperparam().all()) {
      const bool adams =
          row.find("as Adam") != std::string::npos && row_of("Adam").find("`" + name + "`") != std::string::npos;
      EXPECT_TRUE(adams || row.find("`" + name + "`") != std::string::npos) << optimizer.name() << ": " << name;
    }
  }
}

TEST(Optimizers, AnUnknownHyperparameterIsToldWhatThereIs) {
  const O::Adam adam;
  EXPECT_EQ(error_of<ValueError>([&] { adam.hyperparam().set("lr", 0.1); }),
            "there is no hyperparameter 'lr'; there are: alpha, beta1, beta2, eps, eta, chainer_decay (the rate is "
            "'alpha')");
  EXPECT_EQ(error_of<ValueError>([] { O::SGD().hyperparam().get("momentum"); }),
            "there is no hyperparameter 'momentum'; there is: lr");
}

// The bias correction does not end: sqrt(1 - beta2^t) is 0.795 at t = 1000, and 0.993 at 4200.
TEST(Adam, TheBiasCorrectionGoesOnAfterAThousandUpdates) {
  expect_near(trained(O::Adam(0.01), 1500), Formula{.alpha = 0.01}.after(1500), 1e-8);
  expect_near(trained(O::Adam({.alpha = 0.01, .beta1 = 0.99, .beta2 = 0.9997}), 4000),
              Formula{.alpha = 0.01, .beta1 = 0.99, .beta2 = 0.9997}.after(4000), 1e-8);
}

TEST(AdaBound, BoundsFollowTheRate) {
  const O::AdaBound optimizer({.alpha = 0.01, .final_lr = 0.05, .gamma = 0.5});
  const Formula formula{.alpha = 0.01, .adabound = true, .final_lr = 0.05, .gamma = 0.5, .first_alpha = 0.01};
  expect_near(trained(optimizer, 20), Formula(formula).after(20));
  const O::AdaBound changed({.alpha = 0.01, .final_lr = 0.05, .gamma = 0.5});
  expect_near(trained(changed, 30, [&](int t) { changed.alpha = t < 8 ? 0.01 : 0.002; }),
              Formula(formula).after(30, [](Formula& f, int t) { f.alpha = t < 8 ? 0.01 : 0.002; }));
}

// weight_decay_rate in older snapshots is Chainer's decay, if the program uses it.
TEST(Optimizers, SnapshotsOfBeforeLoad) {
  const tests::Folder folder;
  struct Saved {
    training::StandardUpdater updater;
    void serialize(Serializer& s) const { updater->serialize(s); }
  };
  const auto updater_of = [](const Optimizer& optimizer) {
    const iterators::SerialIterator batches(datasets::TupleDataset(ones({4, 3}, Dtype::float32)), 2,
                                            {.shuffle = false});
    return Saved{{batches, optimizer, {.loss = [optimizer](const Batch& b) { return F::sum(optimizer.target()(b)); }}}};
  };
  const O::Adam before({.chainer_decay = 0.25});
  before.setup(BodyAndHead());
  before.hyperparam().set("chainer_decay", 0.125);  // as a schedule would
  const std::string path = folder / "updater.npz";
  const auto updater = updater_of(before);
  updater.updater->update();
  serializers::save_npz(path, updater);
  // the file of an older version
  const std::string old_path = folder / "old.npz";
  {
    const io::NpzReader reader(path);
    std::vector<std::pair<std::string, io::HostArray>> arrays;
    for (std::string name : reader.names()) {
      const io::HostArray array = reader.read_array(name);
      if (const auto at = name.find("chainer_decay"); at != std::string::npos)
        name.replace(at, std::string("chainer_decay").size(), "weight_decay_rate");
      arrays.emplace_back(name, array);
    }
    io::NpzWriter writer(old_path);
    for (const auto& [name, array] : arrays) writer.write(name, array);
    writer.finish();
  }
  const O::Adam same({.chainer_decay = 0.5});
  same.setup(BodyAndHead());
  const auto again = updater_of(same);
  serializers::load_npz(old_path, again);
  EXPECT_EQ(same.hyperparameter(same.target().link().params()[0], "chainer_decay"), 0.125);
  EXPECT_EQ(same.t(), 1);
  const O::AdamW torch({.weight_decay = 0.3});  // uses another decay
  torch.setup(BodyAndHead());
  const auto third = updater_of(torch);
  serializers::load_npz(old_path, third);
  EXPECT_EQ(torch.chainer_decay, 0);
  EXPECT_EQ(torch.weight_decay, 0.3);
  EXPECT_EQ(torch.t(), 1);
}

TEST(GradientLARS, DecaysAndScalesByNorms) {
  const One model({3, 4});
  const O::SGD optimizer(0.5);
  optimizer.setup(model);
  optimizer.add_hook(optimizer_hooks::GradientLARS(0.01, 0.25, 1e-3));
  model.x.set_grad(Array::from_host(Values{0.6, -0.8}.data(), {2}, Dtype::float64));
  optimizer.update();
  const double rate = 5 / (1e-3 + 1 + 0.25 * 5);
  expect_near(values_of(model.x.array()), {3 - 0.5 * rate * (0.6 + 0.75), 4 - 0.5 * rate * (-0.8 + 1)});
}

// State from a snapshot of another precision or another model.
TEST(UpdateRules, StateFitsTheParameter) {
  const One model(kStart);
  const O::MomentumSGD optimizer(0.5, 0.5);
  optimizer.setup(model);
  auto& state = dynamic_cast<UpdateRule&>(*model.x.update_rule()).state[0].second;
  state = full({4}, 2, Dtype::float32);
  model.x.set_grad(zeros({4}, Dtype::float64));
  optimizer.update();
  EXPECT_EQ(state.dtype(), Dtype::float64);
  EXPECT_EQ(values_of(model.x.array()), (Values{2, -1, 1.5, 4}));
  state = zeros({3}, Dtype::float64);
  try {
    optimizer.update();
    ADD_FAILURE();
  } catch (const ShapeError& error) {
    EXPECT_STREQ(error.what(),
                 "the optimizer's state 'v' has shape (3,), its parameter (4,) (was it loaded for another model?)");
  }
}

// Parameters with different update counts or dtypes are not updated by a common program.
TEST(UpdateRules, EachHasItsOwnCountAndDtype) {
  struct Three : Link {
    One a{kStart}, late{kStart}, half{kStart, Dtype::float16};
    CT_LINKS(a, late, half)
  } model;
  const O::Adam optimizer(0.1);
  optimizer.setup(model);
  auto& late = dynamic_cast<UpdateRule&>(*model.late.x.update_rule());
  late.enabled = false;
  const auto update = [&] {
    for (const Parameter& p : model.params()) p.set_grad(full(p.shape(), 0.5, p.dtype()));
    optimizer.update();
  };
  for (int i = 0; i < 3; ++i) update();
  EXPECT_EQ(values_of(model.late.x.array()), kStart);
  EXPECT_EQ(late.t(), 0);
  late.enabled = true;
  update();
  // constant gradients: each step equals alpha, including the first
  for (std::size_t i = 0; i < 4; ++i) {
    EXPECT_NEAR(values_of(model.a.x.array())[i], kStart[i] - 0.4, 1e-6);
    EXPECT_NEAR(values_of(model.late.x.array())[i], kStart[i] - 0.1, 1e-6);
    EXPECT_NEAR(values_of(model.half.x.array())[i], kStart[i] - 0.4, 1e-2);
  }
}

namespace {

/// The change of each parameter, by path, in an update with gradients of 1.
std::map<std::string, double> step_of(const Optimizer& optimizer, const BodyAndHead& net) {
  std::map<std::string, Array> before;
  for (const auto& [path, p] : net.namedparams()) {
    before[path] = p.array().copy();
    p.set_grad(ones_like(p.array()));
  }
  optimizer.update();
  std::map<std::string, double> taken;
  for (const auto& [path, p] : net.namedparams()) taken[path] = values_of(before.at(path) - p.array())[0];
  return taken;
}

void expect_steps(const std::map<std::string, double>& got, double body_W, double body_b, double head_W,
                  double head_b) {
  EXPECT_NEAR(got.at("/body/W"), body_W, 1e-6);
  EXPECT_NEAR(got.at("/body/b"), body_b, 1e-6);
  EXPECT_NEAR(got.at("/head/W"), head_W, 1e-6);
  EXPECT_NEAR(got.at("/head/b"), head_b, 1e-6);
}

}  // namespace

TEST(ParamGroups, ByLinkNameAndChoice) {
  const BodyAndHead net;
  const O::SGD optimizer(0.5);
  optimizer.setup(net);
  optimizer.param_group(net.body, {{"lr", 0.25}});
  expect_steps(step_of(optimizer, net), 0.25, 0.25, 0.5, 0.5);
  optimizer.param_group("head", {{"lr", 0.125}}).param_group("*/b", {{"lr", 0}});  // the later group takes precedence
  expect_steps(step_of(optimizer, net), 0.25, 0, 0.125, 0);
  optimizer.param_group("/head/b", {{"lr", 1}});
  expect_steps(step_of(optimizer, net), 0.25, 0, 0.125, 1);
  optimizer.param_group([](const std::string&, const Parameter& p) { return p.ndim() == 2; }, {{"lr", 2}});
  expect_steps(step_of(optimizer, net), 2, 0, 2, 1);
  optimizer.setup(net);  // removes the groups
  expect_steps(step_of(optimizer, net), 0.5, 0.5, 0.5, 0.5);
}

TEST(ParamGroups, AScheduleChangesAllRates) {
  const BodyAndHead net;
  const O::SGD optimizer(0.5);
  optimizer.setup(net);
  optimizer.param_group(net.head, {{"lr", 0.25}});
  optimizer.lr = 0.125;
  expect_steps(step_of(optimizer, net), 0.125, 0.125, 0.0625, 0.0625);
  // the group's other values are absolute
  const O::MomentumSGD momentum(0.5, 0.0);
  momentum.setup(net);
  momentum.param_group(net.head, {{"momentum", 1}});
  momentum.momentum = 0.5;
  step_of(momentum, net);
  expect_steps(step_of(momentum, net), 0.75, 0.75, 1, 1);
  // Adam's bias correction and AdamW's decay use the group's rate
  const O::AdamW adam({.alpha = 0.5, .weight_decay = 0});
  adam.setup(net);
  adam.param_group(net.body, {{"alpha", 0.25}});
  expect_steps(step_of(adam, net), 0.25, 0.25, 0.5, 0.5);
}

TEST(ParamGroups, DecayOfHooksAndOfAdamW) {
  for (const bool by_hook : {true, false}) {
    const BodyAndHead net;
    for (const Parameter& p : net.params()) p.array().fill(2);
    const Optimizer optimizer =
        by_hook ? Optimizer(O::SGD(0.5)) : Optimizer(O::AdamW({.alpha = 0.5, .weight_decay = 0.25}));
    optimizer.setup(net);
    if (by_hook) optimizer.add_hook(optimizer_hooks::WeightDecay(0.25));
    optimizer.param_group("*/b", {{"weight_decay", 0}}).param_group("head/W", {{"weight_decay", 0.5}});
    // the gradient's part, and half of weight_decay times 2
    expect_steps(step_of(optimizer, net), 0.75, 0.5, 1, 0.5);
  }
}

TEST(ParamGroups, AHooksRateIsAHyperparameterWhileItIsThere) {
  const BodyAndHead net;
  const O::SGD optimizer(0.5);
  optimizer.setup(net);
  EXPECT_FALSE(optimizer.hyperparam().contains("weight_decay"));
  EXPECT_NE(error_of<ValueError>([&] {
              optimizer.param_group(net.head, {{"weight_decay", 0}});
            }).find("'weight_decay'"),
            std::string::npos);
  optimizer.add_hook(optimizer_hooks::WeightDecay(0.25));
  EXPECT_EQ(optimizer.hyperparam().get("weight_decay"), 0.25);
  for (const Parameter& p : net.params()) p.array().fill(2);
  optimizer.hyperparam().set("weight_decay", 1);  // as a schedule would
  expect_steps(step_of(optimizer, net), 1.5, 1.5, 1.5, 1.5);
  optimizer.remove_hook("WeightDecay");
  EXPECT_FALSE(optimizer.hyperparam().contains("weight_decay"));
  expect_steps(step_of(optimizer, net), 0.5, 0.5, 0.5, 0.5);
  const O::AdamW adam;
  adam.setup(net);
  EXPECT_EQ(error_of<ValueError>([&] { adam.add_hook(optimizer_hooks::WeightDecay(0.25)); }),
            "add_hook: AdamW already has a hyperparameter 'weight_decay', which WeightDecay would add again");
}

TEST(ParamGroups, TwoOptimizersOfOneParameter) {
  const BodyAndHead net;
  const O::SGD first(0.5), second(0.25);
  first.setup(net);
  first.add_hook(optimizer_hooks::WeightDecay(0.5));
  second.setup(net);  // the rules now belong to second
  second.add_hook(optimizer_hooks::WeightDecay(0));
  EXPECT_EQ(first.hyperparameter(net.head.W, "weight_decay"), 0.5);
  EXPECT_EQ(second.hyperparameter(net.head.W, "weight_decay"), 0);
  EXPECT_EQ(error_of<ValueError>([&] {
              first.param_group("head/W", {{"lr", 0.1}});
            }),
            "param_group: '/head/W' is updated by another optimizer (or by none)");
}

TEST(ParamGroups, TrainTogetherWithLossScaleAndFrozenLinks) {
  const BodyAndHead grouped, plain;
  plain.copyparams(grouped);
  const O::Adam by_group(0.01), by_rule(0.01);
  by_group.setup(grouped);
  by_rule.setup(plain);
  by_group.set_loss_scale(256);
  by_group.param_group(grouped.head, {{"alpha", 0.001}});
  for (const Parameter& p : plain.head.params())
    dynamic_cast<UpdateRule&>(*p.update_rule()).hyperparam->set("alpha", 0.001);
  grouped.body.disable_update();
  plain.body.disable_update();
  const Variable x(sin(arange(6, Dtype::float32)).reshape({2, 3}), false);
  for (int i = 0; i < 3; ++i) {
    by_group.update([&] { return F::sum(grouped(x)); });
    by_rule.update([&] { return F::sum(plain(x)); });
  }
  for (std::size_t i = 0; i < 4; ++i)
    EXPECT_EQ(values_of(grouped.params()[i].array()), values_of(plain.params()[i].array())) << i;
}

TEST(ParamGroups, Errors) {
  const BodyAndHead net, other;
  const O::Adam optimizer;
  EXPECT_EQ(error_of<ValueError>([&] { optimizer.param_group(net, {}); }), "Adam: setup(model) has not been called");
  optimizer.setup(net);
  EXPECT_EQ(error_of<ValueError>([&] {
              optimizer.param_group("hed", {{"alpha", 1}});
            }),
            "Adam: param_group: there is no parameter or link 'hed'; parameters are /body/W, /body/b, /head/W, "
            "/head/b");
  EXPECT_EQ(error_of<ValueError>([&] {
              optimizer.param_group(other, {{"alpha", 1}});
            }),
            "Adam: param_group: the link (Chain) has no parameter of the model");
  EXPECT_EQ(error_of<ValueError>([&] {
              optimizer.param_group([](const std::string&, const Parameter&) { return false; }, {{"alpha", 1}});
            }),
            "Adam: param_group: no parameter was chosen");
  EXPECT_NE(error_of<ValueError>([&] {
              optimizer.param_group("head", {{"beta1", 0}, {"lr", 1}});
            }).find("there are: alpha"),
            std::string::npos);
  EXPECT_EQ(optimizer.hyperparameter(net.head.W, "beta1"), 0.9);  // nothing has changed
  optimizer.alpha = 0;
  EXPECT_EQ(error_of<ValueError>([&] {
              optimizer.param_group("head", {{"alpha", 1}});
            }),
            "param_group: the optimizer's alpha is 0, so a group's value cannot keep its ratio to it");
}

}  // namespace catenary
