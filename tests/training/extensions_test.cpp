#include <gtest/gtest.h>

#include <atomic>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <thread>

#include "catenary/catenary.h"
#include "catenary/core/os/file.h"
#include "catenary/io/png.h"
#include "tests/folder.h"

namespace ct = catenary;
namespace F = ct::functions;
namespace L = ct::links;
namespace T = ct::training;
namespace X = ct::training::extensions;

namespace {

using tests::Folder;

/// A trainer of a tiny regression, with 10 iterations per epoch.
T::Trainer make_trainer(const std::string& out, const ct::Optimizer& optimizer, int epochs) {
  const ct::Array x = ct::random::standard_normal({100, 3}, {.dtype = ct::Dtype::float32}), t = ct::sum(x, 1, true);
  const L::Classifier model(
      L::Linear(1), [](const ct::Variable& y, const ct::Variable& target) { return F::mean_squared_error(y, target); },
      [](const ct::Variable& y, const ct::Variable&) { return F::mean(y); });
  optimizer.setup(model);
  const ct::iterators::SerialIterator batches(ct::datasets::TupleDataset(x, t), 10, {.shuffle = false});
  return T::Trainer(T::StandardUpdater(batches, optimizer), T::Trigger(epochs, "epoch"), out);
}

nlohmann::ordered_json log_of(const std::string& folder) {
  return nlohmann::ordered_json::parse(std::ifstream(folder + "/log"));
}

std::vector<double> rates_with(const std::function<void(T::Trainer&)>& extend) {
  const Folder out;
  T::Trainer trainer = make_trainer(out.path, ct::optimizers::SGD(0.1), 1);
  extend(trainer);
  std::vector<double> seen;
  trainer.extend([&](T::Trainer& t) { seen.push_back(t.updater().optimizer().hyperparam().get("lr")); },
                 {.name = "see", .trigger = T::Trigger(1, "iteration"), .priority = -1});
  trainer.run();
  return seen;
}

template <class S>
std::vector<double> rates(const S& shift) {
  return rates_with([&](T::Trainer& trainer) { trainer.extend(shift); });
}

TEST(Shifts, FollowTheirFormulas) {
  for (int i = 0; i < 10; ++i) {
    const double t = i + 1;
    EXPECT_NEAR(rates(X::ExponentialShift("lr", 0.5))[i], 0.1 * std::pow(0.5, t), 1e-12);
    EXPECT_NEAR(rates(X::ExponentialShift("lr", 0.5, {.target = 0.01}))[i], std::max(0.01, 0.1 * std::pow(0.5, t)),
                1e-12);
    EXPECT_NEAR(rates(X::InverseShift("lr", 0.1, 2))[i], 0.1 * std::pow(1 + 0.1 * t, -2), 1e-12);
    EXPECT_NEAR(rates(X::LinearShift("lr", {1, 3}, {2, 6}))[i], t <= 2 ? 1 : t >= 6 ? 3 : 1 + (t - 2) / 2, 1e-12);
    EXPECT_NEAR(rates(X::MultistepShift("lr", 0.1, {3, 7}))[i], 0.1 * std::pow(0.1, (t >= 3) + (t >= 7)), 1e-12);
    EXPECT_NEAR(rates(X::PolynomialShift("lr", 2, 20))[i], 0.1 * std::pow(1 - t / 20, 2), 1e-12);
    EXPECT_NEAR(rates(X::StepShift("lr", 0.5, 4))[i], 0.1 * std::pow(0.5, static_cast<int>(t) / 4), 1e-12);
    EXPECT_NEAR(rates(X::WarmupShift("lr", 0.01, 5, {.init = 0.1}))[i], t >= 5 ? 0.1 : 0.01 + 0.09 * t / 5, 1e-12);
  }
  EXPECT_THROW(rates(X::ExponentialShift("rho", 0.5)), ct::ValueError);
}

// Growing and falling, positive and negative: the value equals the target from then on.
TEST(Shifts, StopAtTheirTargets) {
  const auto expect = [](const char* what, const std::vector<double>& seen, const std::function<double(double)>& value,
                         double target) {
    int limited = 0;
    for (std::size_t i = 0; i < 10; ++i) {
      const double t = static_cast<double>(i + 1), free = value(t);
      const bool past = value(1) > target ? !(free > target) : !(free < target);
      limited += past;
      if (past) {
        EXPECT_EQ(seen[i], target) << what << " after " << t;
      } else {
        EXPECT_NEAR(seen[i], free, 1e-12) << what << " after " << t;
      }
    }
    EXPECT_GE(limited, 2) << what;
    EXPECT_LE(limited, 9) << what;
  };
  for (const double sign : {1.0, -1.0}) {
    const auto options = [&](double target) { return X::ShiftOptions{.init = sign * 0.1, .target = sign * target}; };
    const auto both = [&](const char* what, const auto& shift, const std::function<double(double)>& factor,
                          double target) {
      expect(
          what, rates(shift(options(target))), [&](double t) { return sign * 0.1 * factor(t); }, sign * target);
    };
    const auto exponential = [](double rate) {
      return [=](const X::ShiftOptions& o) { return X::ExponentialShift("lr", rate, o); };
    };
    const auto inverse = [](double power) {
      return [=](const X::ShiftOptions& o) { return X::InverseShift("lr", 1, power, o); };
    };
    const auto polynomial = [](double rate) {
      return [=](const X::ShiftOptions& o) { return X::PolynomialShift("lr", rate, 6, o); };
    };
    const auto step = [](double gamma) {
      return [=](const X::ShiftOptions& o) { return X::StepShift("lr", gamma, 2, o); };
    };
    both(
        "exponential, falling", exponential(0.5), [](double t) { return std::pow(0.5, t); }, 0.003);
    both(
        "exponential, growing", exponential(2), [](double t) { return std::pow(2, t); }, 3);
    both(
        "inverse, falling", inverse(2), [](double t) { return std::pow(1 + t, -2); }, 0.003);
    both(
        "inverse, growing", inverse(-2), [](double t) { return std::pow(1 + t, 2); }, 3);
    const auto left = [](double t) { return std::max(1 - t / 6, 0.0); };
    both(
        "polynomial, falling", polynomial(2), [&](double t) { return std::pow(left(t), 2); }, 0.02);
    both(
        "polynomial, growing", polynomial(-1), [&](double t) { return 1 / left(t); }, 0.35);
    both(
        "step, falling", step(0.5), [](double t) { return std::pow(0.5, std::floor(t / 2)); }, 0.02);
    both(
        "step, growing", step(2), [](double t) { return std::pow(2, std::floor(t / 2)); }, 0.6);
  }
  // schedules that reach their target by themselves
  const std::vector<double> zero = rates(X::PolynomialShift("lr", 2, 5)), cosine = rates(X::CosineShift("lr", 5)),
                            up = rates(X::CosineShift("lr", 5, {.target = 0.7})),
                            line = rates(X::LinearShift("lr", {0.1, 0.3}, {0, 5})),
                            warm = rates(X::WarmupShift("lr", 0.01, 5));
  for (std::size_t i = 4; i < 10; ++i) {
    EXPECT_EQ(zero[i], 0);
    EXPECT_EQ(cosine[i], 0);
    EXPECT_EQ(up[i], 0.7);
    EXPECT_EQ(line[i], 0.3);
    EXPECT_EQ(warm[i], 0.1);
  }
  // schedules whose final value is another argument
  EXPECT_THROW(X::LinearShift("lr", {0.1, 0.3}, {0, 5}, {.target = 0.2}), ct::ValueError);
  EXPECT_THROW(X::MultistepShift("lr", 0.5, {3}, {.target = 0.2}), ct::ValueError);
  EXPECT_THROW(X::WarmupShift("lr", 0.01, 5, {.target = 0.2}), ct::ValueError);
}

TEST(Shifts, CosineFromInitToTarget) {
  const std::vector<double> whole = rates(X::CosineShift("lr", 8)),
                            part = rates(X::CosineShift("lr", 8, {.target = 0.02}));
  for (std::size_t i = 0; i < 10; ++i) {
    const double t = std::min(static_cast<double>(i + 1), 8.0);
    EXPECT_NEAR(whole[i], 0.05 * (1 + std::cos(std::acos(-1.0) * t / 8)), 1e-12);
    EXPECT_NEAR(part[i], 0.02 + 0.04 * (1 + std::cos(std::acos(-1.0) * t / 8)), 1e-12);
  }
  EXPECT_THROW(X::CosineShift("lr", 0), ct::ValueError);
}

TEST(Shifts, AnyMayBeginWithAWarmUp) {
  const std::vector<double> cosine = rates(X::CosineShift("lr", 5, {.warmup = 4})),
                            line = rates(X::LinearShift("lr", {0.2, 0}, {0, 5}, {.warmup = 4}));
  for (std::size_t i = 0; i < 10; ++i) {
    const double t = static_cast<double>(i + 1);
    EXPECT_NEAR(cosine[i],
                t < 4 ? 0.1 * (t + 1) / 5 : 0.05 * (1 + std::cos(std::acos(-1.0) * std::min(t - 4, 5.0) / 5)), 1e-12);
    EXPECT_NEAR(line[i], t < 4 ? 0.2 * (t + 1) / 5 : 0.2 * (1 - std::min(t - 4, 5.0) / 5), 1e-12);
  }
  // the rate is not 0 before the first update
  double first = 0;
  const Folder out;
  T::Trainer trainer = make_trainer(out.path, ct::optimizers::SGD(0.1), 1);
  trainer.extend(X::CosineShift("lr", 5, {.warmup = 4}));
  trainer.extend([&](T::Trainer& t) { first = t.updater().optimizer().hyperparam().get("lr"); },
                 {.name = "first", .trigger = T::Trigger(1, "epoch"), .call_before_training = true});
  EXPECT_THROW(X::CosineShift("lr", 5, {.warmup = -1}), ct::ValueError);
  trainer.extend([](T::Trainer&) { throw ct::ValueError("stop"); },
                 {.name = "stop", .trigger = T::Trigger(1, "iteration")});
  EXPECT_THROW(trainer.run(false), ct::ValueError);
  EXPECT_NEAR(first, 0.02, 1e-12);
}

TEST(Shifts, AnUnknownHyperparameterIsToldWhatThereIs) {
  try {
    rates(X::CosineShift("alpha", 5));
    ADD_FAILURE();
  } catch (const ct::ValueError& error) {
    EXPECT_STREQ(error.what(), "CosineShift: there is no hyperparameter 'alpha'; there is: lr");
  }
}

TEST(Extensions, LogHoldsWhatWasReported) {
  const Folder out;
  T::Trainer trainer = make_trainer(out.path, ct::optimizers::SGD(0.1), 2);
  trainer.extend(X::observe_lr());
  trainer.extend(X::LogReport());
  trainer.extend(X::DumpGraph("main/loss"));
  trainer.extend(X::PlotReport({"main/loss"}, "epoch", {.filename = "loss.png"}));
  trainer.run();
  const auto log = log_of(out.path);
  ASSERT_EQ(log.size(), 2u);
  std::vector<std::string> keys;
  for (const auto& [key, value] : log[1].items()) keys.push_back(key);
  EXPECT_EQ(keys, (std::vector<std::string>{"main/loss", "main/accuracy", "lr", "epoch", "iteration", "elapsed_time"}));
  EXPECT_EQ(log[1]["epoch"], 2);
  EXPECT_EQ(log[1]["iteration"], 20);
  EXPECT_LT(log[1]["main/loss"].get<double>(), log[0]["main/loss"].get<double>());
  std::ifstream graph(out.path + "/cg.dot");
  std::string text((std::istreambuf_iterator<char>(graph)), {});
  EXPECT_TRUE(text.starts_with("digraph")) << text;
  EXPECT_NE(text.find("LinearFunction"), std::string::npos);
  EXPECT_GT(std::filesystem::file_size(out.path + "/loss.png"), 1000u);
}

TEST(Extensions, TriggersFireWhenTheyShould) {
  const Folder out;
  T::Trainer trainer = make_trainer(out.path, ct::optimizers::SGD(0.01), 2);
  std::vector<std::int64_t> interval, manual, once;
  const auto record = [](std::vector<std::int64_t>& list) {
    return [&list](T::Trainer& t) { list.push_back(t.updater()->iteration()); };
  };
  trainer.extend(record(interval), {.name = "interval", .trigger = T::Trigger(6, "iteration")});
  trainer.extend(record(manual),
                 {.name = "manual", .trigger = T::triggers::ManualScheduleTrigger({0.5, 1.2}, "epoch")});
  trainer.extend(record(once), {.name = "once", .trigger = T::triggers::OnceTrigger()});
  trainer.run();
  EXPECT_EQ(interval, (std::vector<std::int64_t>{6, 12, 18}));
  EXPECT_EQ(manual, (std::vector<std::int64_t>{5, 12}));
  EXPECT_EQ(once, (std::vector<std::int64_t>{1}));
  EXPECT_THROW(trainer.run(), ct::ValueError);
}

TEST(Extensions, EarlyStoppingAndNonNumbers) {
  const Folder out;
  T::Trainer diverging = make_trainer(out.path, ct::optimizers::SGD(1e6), 50);
  diverging.extend(X::FailOnNonNumber());
  EXPECT_THROW(diverging.run(false), ct::ValueError);

  const ct::Optimizer optimizer = ct::optimizers::SGD(0.0);
  const ct::Array x = ct::ones({20, 2}, ct::Dtype::float32);
  const L::Classifier model(
      L::Linear(1), [](const ct::Variable& y, const ct::Variable& t) { return F::mean_squared_error(y, t); },
      [](const ct::Variable& y, const ct::Variable&) { return F::mean(y); });
  optimizer.setup(model);
  const ct::iterators::SerialIterator batches(ct::datasets::TupleDataset(x, ct::ones({20, 1}, ct::Dtype::float32)), 10);
  T::Trainer trainer(T::StandardUpdater(batches, optimizer),
                     T::triggers::EarlyStoppingTrigger("main/loss", {.patience = 3, .max_epochs = 100}), out.path);
  trainer.run();
  EXPECT_EQ(trainer.updater()->epoch(), 4);
}

// By default an accuracy should grow, and everything else fall.
TEST(Extensions, EarlyStoppingKnowsWhatIsToGrow) {
  const Folder out;
  for (const double step : {1.0, -1.0}) {
    const ct::Optimizer optimizer = ct::optimizers::SGD(0.0);
    const auto value = std::make_shared<double>(0);
    const L::Classifier model(
        L::Linear(1), [](const ct::Variable& y, const ct::Variable& t) { return F::mean_squared_error(y, t); },
        [&](const ct::Variable&, const ct::Variable&) { return ct::Variable(ct::array(*value += step), false); });
    optimizer.setup(model);
    const ct::iterators::SerialIterator batches(
        ct::datasets::TupleDataset(ct::ones({20, 2}, ct::Dtype::float32), ct::ones({20, 1}, ct::Dtype::float32)), 10);
    T::Trainer trainer(T::StandardUpdater(batches, optimizer),
                       T::triggers::EarlyStoppingTrigger("main/accuracy", {.patience = 2, .max_epochs = 8}), out.path);
    trainer.run();
    EXPECT_EQ(trainer.updater()->epoch(), step > 0 ? 8 : 3);
  }
}

TEST(Extensions, StatisticsOfParameters) {
  const Folder out;
  const ct::Optimizer optimizer = ct::optimizers::SGD(0.1);
  T::Trainer trainer = make_trainer(out.path, optimizer, 1);
  trainer.extend(X::ParameterStatistics(optimizer.target().link()));
  trainer.extend(X::LogReport());
  trainer.run();
  const auto entry = log_of(out.path)[0];
  const ct::Array b = optimizer.target().link().namedparams()[1].second.array();
  EXPECT_NEAR(entry["predictor/b/data/mean"].get<double>(), b.item<double>(), 1e-6);
  EXPECT_TRUE(entry.contains("predictor/W/grad/percentile/6"));
}

TEST(Extensions, StatisticsOfVariablesArePlotted) {
  const Folder out;
  const ct::Optimizer optimizer = ct::optimizers::SGD(0.1);
  T::Trainer trainer = make_trainer(out.path, optimizer, 3);
  const auto target = optimizer.target();
  const ct::Link& link = target.link();
  const X::VariableStatisticsPlot all(link, {.percentile_sigmas = {100, 0}});
  const X::VariableStatisticsPlot few(link, {.max_sample_size = 4, .filename = "few.png"});
  trainer.extend(all);
  trainer.extend(few);
  trainer.run();
  ASSERT_EQ(all.samples().size(), 30u);
  const X::VariableStatisticsPlot::Sample last = all.samples().back();
  EXPECT_EQ(last.iteration, 30);
  std::vector<double> values;  // of W and b
  for (const auto& [path, parameter] : link.namedparams())
    for (double value : parameter.array().to_vector<double>()) values.push_back(value);
  double mean = 0, square = 0;
  for (double value : values) mean += value / static_cast<double>(values.size());
  for (double value : values) square += (value - mean) * (value - mean) / static_cast<double>(values.size());
  const auto [low, high] = std::minmax_element(values.begin(), values.end());
  const std::vector<double> expected = {mean, std::sqrt(square), *low, *high};
  ASSERT_EQ(last.statistics.size(), 2u);
  for (std::size_t i = 0; i < 4; ++i) EXPECT_NEAR(last.statistics[0][i], expected[i], 1e-6);
  EXPECT_EQ(few.samples().size(), 4u);
  EXPECT_GT(few.samples().back().iteration, 4);
  EXPECT_EQ(ct::io::read_png(out.path + "/statistics.png").shape[0], 2 * 600);
  EXPECT_GT(std::filesystem::file_size(out.path + "/few.png"), 5000u);
  EXPECT_THROW(X::VariableStatisticsPlot(std::vector<ct::Variable>{}), ct::ValueError);
  EXPECT_THROW(X::VariableStatisticsPlot(link, {.report_data = false, .report_grad = false}), ct::ValueError);
  EXPECT_THROW(X::VariableStatisticsPlot(link, {.percentile_sigmas = {101}}), ct::ValueError);
}

TEST(Extensions, GraphsOfReportsAreCutOff) {
  const Folder out;
  const auto keep = ct::using_config(ct::config.keep_graph_on_report, true);
  for (const bool cut : {false, true}) {
    T::Trainer trainer = make_trainer(out.path, ct::optimizers::SGD(0.1), 1);
    if (cut) trainer.extend(X::unchain_variables());
    ct::Variable loss;
    trainer.extend([&](T::Trainer& t) { loss = t.observation().find("main/loss")->variable(); },
                   {.name = "loss", .trigger = T::Trigger(1, "iteration")});
    trainer.run();
    EXPECT_EQ(loss.creator() == nullptr, cut);
  }
}

TEST(Extensions, SnapshotsAreKeptAndLoaded) {
  const Folder out;
  T::Trainer trainer = make_trainer(out.path, ct::optimizers::Adam(), 3);
  trainer.extend(X::snapshot({.n_retains = 2}));
  trainer.run();
  EXPECT_FALSE(ct::os::exists(out.path + "/snapshot_iter_10"));
  EXPECT_TRUE(ct::os::exists(out.path + "/snapshot_iter_20"));
  T::Trainer again = make_trainer(out.path, ct::optimizers::Adam(), 4);
  again.extend(X::snapshot({.autoload = true}));
  std::int64_t first = 0;
  again.extend([&](T::Trainer& t) { first = first ? first : t.updater()->iteration(); },
               {.name = "first", .trigger = T::Trigger(1, "iteration")});
  again.run();
  EXPECT_EQ(first, 31);
}

TEST(Extensions, ASignalEndsTrainingWithASnapshot) {
  const Folder out;
  T::Trainer trainer = make_trainer(out.path, ct::optimizers::SGD(0.1), 5);
  trainer.extend(X::snapshot());
  trainer.extend(
      [](T::Trainer& t) {
        if (t.updater()->iteration() == 7) std::raise(SIGTERM);
      },
      {.name = "signal", .trigger = T::Trigger(1, "iteration")});
  try {
    trainer.run();
    FAIL();
  } catch (const T::Interrupted& e) {
    EXPECT_NE(std::string(e.what()).find("snapshot_iter_7"), std::string::npos) << e.what();
  }
  EXPECT_TRUE(ct::os::exists(out.path + "/snapshot_iter_7"));
}

std::string interruption_of(T::Trainer trainer) {
  trainer.extend([](T::Trainer&) { std::raise(SIGTERM); },
                 {.name = "signal", .trigger = T::Trigger(7, "iteration"), .priority = 500});
  try {
    trainer.run();
  } catch (const T::Interrupted& e) {
    return e.what();
  }
  return "not interrupted";
}

// An extension saves the trainer through virtual functions, so a user-defined one is treated like `snapshot`.
TEST(Extensions, OnesOwnMaySaveTheTrainer) {
  struct Save : T::Extension {
    explicit Save(std::string& said) : said(said) {}
    std::string& said;
    std::string default_name() const override { return "save"; }
    int priority() const override { return 1000; }
    void initialize(T::Trainer&) override { said += "initialize "; }
    void autoload(T::Trainer&) override { said += "autoload "; }
    void operator()(T::Trainer&) override { said += "save "; }
    bool saves_trainer() const override { return true; }
    std::string save(T::Trainer&) override { return "there"; }
  };
  const Folder out;
  std::string said;
  const T::Trainer trainer = make_trainer(out.path, ct::optimizers::SGD(0.1), 5);
  trainer.extend(std::shared_ptr<T::Extension>(std::make_shared<Save>(said)), {.trigger = T::Trigger(7, "iteration")});
  trainer.extend([&](T::Trainer&) { said += "other "; }, {.name = "o", .trigger = T::Trigger(7, "iteration")});
  EXPECT_EQ(interruption_of(trainer), "training was stopped by SIGTERM after iteration 7; resume with --resume there");
  EXPECT_EQ(said, "autoload initialize other save ");
}

TEST(Extensions, ASignalNamesNoFileOfWeights) {
  const Folder out;
  const ct::optimizers::SGD optimizer(0.1);
  const T::Trainer weights = make_trainer(out.path, optimizer, 5);
  weights.extend(X::snapshot_object(optimizer.target(), "weights_{.updater.iteration}"));
  EXPECT_EQ(interruption_of(weights),
            "training was stopped by SIGTERM after iteration 7; there is no snapshot extension, so nothing was saved "
            "that it could go on from");
  EXPECT_FALSE(ct::os::exists(out.path + "/weights_7"));

  const ct::optimizers::SGD both(0.1);
  const T::Trainer trainer = make_trainer(out.path, both, 5);
  trainer.extend(X::snapshot_object(both.target(), "weights_{.updater.iteration}"));
  trainer.extend(X::snapshot());
  EXPECT_EQ(interruption_of(trainer),
            "training was stopped by SIGTERM after iteration 7; resume with --resume " + out.path + "/snapshot_iter_7");

  // the trainer itself as the object gives its snapshot, and is not kept alive
  const Folder third;
  const T::Trainer itself = make_trainer(third.path, ct::optimizers::SGD(0.1), 5);
  itself.extend(X::snapshot_object(itself, "whole_{.updater.iteration}"));
  EXPECT_EQ(interruption_of(itself),
            "training was stopped by SIGTERM after iteration 7; resume with --resume " + third.path + "/whole_7");
  const T::Trainer again = make_trainer(third.path, ct::optimizers::SGD(0.1), 5);
  ct::serializers::load_npz(third.path + "/whole_7", again);
  EXPECT_EQ(again.updater()->iteration(), 7);
}

TEST(Extensions, TrainersRunAtOnce) {
  // a trainer in an extension of another, and a trainer in another thread: a signal stops all of them
  const Folder outer_folder, inner_folder, thread_folder;
  std::string from_thread;
  std::atomic<bool> running{false};
  std::thread thread([&] {
    T::Trainer trainer = make_trainer(thread_folder.path, ct::optimizers::SGD(0.1), 1 << 30);
    trainer.extend(X::snapshot());
    trainer.extend([&](T::Trainer&) { running = true; }, {.name = "running", .trigger = T::Trigger(1, "iteration")});
    try {
      trainer.run();
    } catch (const ct::Error& e) {
      from_thread = e.what();
    }
    running = true;
  });
  while (!running) std::this_thread::yield();
  int inner_iterations = 0;
  std::string inner_message;
  const T::Trainer outer = make_trainer(outer_folder.path, ct::optimizers::SGD(0.1), 5);
  outer.extend(X::snapshot());
  outer.extend(
      [&](T::Trainer&) {
        const T::Trainer inner = make_trainer(inner_folder.path, ct::optimizers::SGD(0.1), 1);
        inner.extend([&](T::Trainer&) { ++inner_iterations; },
                     {.name = "count", .trigger = T::Trigger(1, "iteration")});
        inner.run();
      },
      {.name = "inner", .trigger = T::Trigger(3, "iteration")});
  EXPECT_NE(interruption_of(outer).find("SIGTERM after iteration 7; resume with"), std::string::npos);
  thread.join();
  EXPECT_EQ(inner_iterations, 20);
  EXPECT_NE(from_thread.find("training was stopped by SIGTERM after iteration"), std::string::npos) << from_thread;
  // the next one begins without a signal
  make_trainer(inner_folder.path, ct::optimizers::SGD(0.1), 1).run();
}

TEST(Extensions, CallsBeforeTrainingAreLogged) {
  const Folder out;
  T::Trainer trainer = make_trainer(out.path, ct::optimizers::SGD(0.1), 1);
  trainer.extend(
      [](T::Trainer& t) {
        ct::report({{"before", t.updater()->iteration() ? 0.0 : 4.0}});
      },
      {.name = "before", .priority = T::kPriorityWriter, .call_before_training = true});
  trainer.extend(X::LogReport(), {.call_before_training = true});
  trainer.run();
  const auto log = log_of(out.path);
  ASSERT_EQ(log.size(), 2u);
  EXPECT_EQ(log[0]["iteration"], 0);
  EXPECT_EQ(log[0]["before"], 4);
  EXPECT_EQ(log[1]["before"], 0);
}

}  // namespace
