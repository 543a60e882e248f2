// A resumed training equals an uninterrupted one, with every extension and trigger, and for every way of resuming.
// Compares the final state (weights, optimizers, extensions, random numbers), the files of extensions, and their
// actions after resuming.

#include <gtest/gtest.h>

#include <cmath>
#include <csignal>
#include <filesystem>
#include <limits>
#include <map>
#include <regex>
#include <thread>

#include "catenary/catenary.h"
#include "catenary/core/os/file.h"
#include "catenary/io/npz.h"
#include "tests/paths.h"

namespace ct = catenary;
namespace F = ct::functions;
namespace L = ct::links;
namespace T = ct::training;
namespace X = ct::training::extensions;

namespace {

constexpr std::int64_t kIterations = 20;

struct Net : ct::Chain {
  L::Linear l1, l2;
  L::BatchNormalization norm;
  Net() : l1(6), l2(3), norm({6}) {}
  CT_LINKS(l1, l2, norm)
  ct::Variable operator()(const ct::Variable& x) { return l2(F::dropout(F::relu(norm(l1(x))), 0.3)); }
};

/// The trained parts: a classifier, and a small model for each extension that changes a hyperparameter.
struct Parts {
  L::Classifier model{Net()};
  std::map<std::string, ct::Optimizer> optimizers;

  Parts() {
    const ct::optimizers::Adam adam;
    adam.setup(model);
    adam.add_hook(ct::optimizer_hooks::GradientNoise(0.1));
    optimizers.emplace("main", adam);
    for (const char* name :
         {"exponential", "inverse", "linear", "multistep", "polynomial", "step", "warmup", "cosine", "own"}) {
      const ct::optimizers::MomentumSGD optimizer(0.1);
      optimizer.setup(L::Linear(1));
      optimizer.param_group("b", {{"lr", 0.03}});
      optimizers.emplace(name, optimizer);
    }
  }
};

/// Actions of extensions, by name and iteration.
using Record = std::map<std::string, std::map<std::int64_t, double>>;

/// How a run ends early.
struct Stop {
  enum How { by_length, by_signal, by_error } how = by_length;
  std::int64_t at = kIterations;
};

struct Training {
  Training(const Parts& parts, const std::string& folder, const Stop& stop, bool autoload) : record(new Record) {
    const ct::Array x = data({80, 4});
    const ct::Array t = ct::argmax(x(ct::ellipsis, ct::slice(3)), 1).astype(ct::Dtype::int32);
    const ct::datasets::TransformDataset noisy(ct::datasets::TupleDataset(x, t), [](ct::Example example) {
      return ct::Example{{example.values[0] + noise() * 0.1f, example.values[1]}, {}};
    });
    const ct::iterators::MultithreadIterator batches(noisy, 8, {.n_threads = 2});
    const auto optimizers = parts.optimizers;
    const T::StandardUpdater updater(
        {{"main", batches}}, optimizers, {.update_core = [optimizers](const ct::Batch& b) {
          for (const auto& [name, optimizer] : optimizers) {
            if (name == "main") {
              optimizer.update(b);
            } else {
              optimizer.update([&o = optimizer, &b] { return F::mean(F::square(o.target()(b[0]) - 1.0)); });
            }
          }
        }});
    // the trigger that ends training also belongs to an extension
    const T::Trigger end(static_cast<double>(stop.how == Stop::by_length ? stop.at : kIterations), "iteration");
    trainer = std::make_unique<T::Trainer>(updater, end, folder);
    extend_with_triggers(end);
    extend(parts, folder, stop, autoload);
  }
  ~Training() {
    if (out) std::fclose(out);
  }

  void go() {
    try {
      trainer->run(false);
    } catch (const T::Interrupted&) {
    } catch (const ct::ValueError& e) {
      if (std::string(e.what()) != "stop") throw;
    }
  }

  std::unique_ptr<T::Trainer> trainer;
  std::unique_ptr<Record> record;
  std::FILE* out = nullptr;

 private:
  /// Equal numbers in each call.
  static ct::Array data(const ct::Shape& shape) {
    ct::random::Generator own{1, 0};
    return ct::random::standard_normal(shape, {.dtype = ct::Dtype::float32, .device = ct::Device(), .generator = &own});
  }
  static ct::Array noise() {
    return ct::random::standard_normal({4}, {.dtype = ct::Dtype::float32, .device = ct::Device()});
  }

  void note(const std::string& name, const T::Trigger& trigger, std::function<double(T::Trainer&)> f = {}) {
    trainer->extend([list = &(*record)[name], f](T::Trainer& t) { (*list)[t.updater()->iteration()] = f ? f(t) : 1.0; },
                    {.name = name, .trigger = trigger, .priority = 50});
  }

  void extend_with_triggers(const T::Trigger& end) {
    // reported at intervals, and inspected in between
    trainer->extend(
        X::observe_value("rare", [](T::Trainer& t) { return std::cos(static_cast<double>(t.updater()->iteration())); }),
        {.name = "rare", .trigger = T::Trigger(5, "iteration")});
    note("interval", T::Trigger(3, "iteration"));
    note("epochs", T::Trigger(0.7, "epoch"));
    note("manual", T::triggers::ManualScheduleTrigger({0.3, 0.8, 1.3}, "epoch"));
    note("manual iterations", T::triggers::ManualScheduleTrigger({2, 8, 12}, "iteration"));
    note("largest", T::triggers::MaxValueTrigger("rare", T::Trigger(4, "iteration")));
    note("smallest", T::triggers::MinValueTrigger("main/loss", T::Trigger(3, "iteration")));
    note("best",
         T::triggers::BestValueTrigger(
             "rare", [](double best, double now) { return now != best; }, T::Trigger(kIterations, "iteration")));
    note("stopping", T::triggers::EarlyStoppingTrigger(
                         "rare", {.check_trigger = T::Trigger(4, "iteration"), .patience = 2, .max_epochs = 100}));
    note("once", T::triggers::OnceTrigger());
    note("the end", end);
  }

  void extend(const Parts& parts, const std::string& folder, const Stop& stop, bool autoload) {
    const T::Trigger often(1, "iteration"), sometimes(5, "iteration");
    trainer->extend(X::ExponentialShift("lr", 0.9, {.optimizer = "exponential"}), {.trigger = often});
    trainer->extend(X::InverseShift("lr", 0.1, 2, {.optimizer = "inverse"}), {.trigger = often});
    trainer->extend(X::LinearShift("lr", {1, 3}, {2, 16}, {.optimizer = "linear"}), {.trigger = often});
    trainer->extend(X::MultistepShift("lr", 0.5, {3, 9}, {.optimizer = "multistep"}), {.trigger = often});
    trainer->extend(X::PolynomialShift("momentum", 2, 30, {.optimizer = "polynomial"}), {.trigger = often});
    trainer->extend(X::StepShift("lr", 0.5, 4, {.optimizer = "step"}), {.trigger = often});
    trainer->extend(X::WarmupShift("lr", 0.01, 15, {.optimizer = "warmup"}), {.trigger = often});
    trainer->extend(X::CosineShift("lr", 10, {.optimizer = "cosine", .warmup = 5}), {.trigger = often});
    trainer->extend(
        [](T::Trainer& t) { t.updater().optimizer("own").hyperparam().set("lr", 0.2 / t.updater()->epoch_detail()); },
        {.name = "own", .trigger = T::Trigger(4, "iteration")});
    for (const auto& [name, optimizer] : parts.optimizers) {
      note("rate of " + name, often,
           [o = optimizer](T::Trainer&) { return o.hyperparam().get(o.hyperparam().contains("lr") ? "lr" : "alpha"); });
      if (name == "polynomial")
        note("momentum", often, [o = optimizer](T::Trainer&) { return o.hyperparam().get("momentum"); });
    }
    note("loss", often, [](T::Trainer& t) { return t.observation().find("main/loss")->value(); });

    const ct::iterators::SerialIterator test(
        ct::datasets::TupleDataset(data({30, 4}), ct::zeros({30}, ct::Dtype::int32).to_device(ct::Device())), 20,
        {.repeat = false});
    trainer->extend(X::Evaluator(test, parts.model),
                    {.trigger = T::Trigger(6, "iteration"), .call_before_training = true});
    trainer->extend(X::observe_lr());
    trainer->extend(X::observe_value("odd",
                                     [](T::Trainer& t) {
                                       const double infinity = std::numeric_limits<double>::infinity();
                                       const std::int64_t iteration = t.updater()->iteration();
                                       return iteration < 10 ? infinity : iteration < 15 ? -infinity : std::nan("");
                                     }),
                    {.trigger = sometimes});
    trainer->extend(X::MicroAverage("main/loss", "main/accuracy", "quotient", T::Trigger(4, "iteration")),
                    {.trigger = often});
    trainer->extend(X::ParameterStatistics(parts.model), {.trigger = sometimes});
    trainer->extend(X::FailOnNonNumber(), {.trigger = sometimes});
    trainer->extend(X::LogReport({.trigger = T::Trigger(3, "iteration"),
                                  .postprocess =
                                      [](X::LogEntry& entry) {
                                        for (auto& [name, value] : entry)
                                          if (name == "elapsed_time") value.value = 0;  // may differ
                                      }}),
                    {.call_before_training = true});
    trainer->extend(X::PlotReport({"main/loss", "odd"}, "iteration",
                                  {.trigger = T::Trigger(5, "iteration"), .filename = "plot.png"}));
    trainer->extend(
        X::VariableStatisticsPlot(parts.model, {.max_sample_size = 4, .trigger = T::Trigger(10, "iteration")}));
    trainer->extend(X::DumpGraph("main/loss"));
    trainer->extend(X::unchain_variables());
    std::filesystem::create_directories(folder);
    out = std::fopen((folder + "/printed").c_str(), "w");
    trainer->extend(
        X::PrintReport({"iteration", "main/loss", "odd", "validation/main/loss", "quotient"}, {.out = out}));
    trainer->extend(X::ProgressBar({.update_interval = 1, .out = out}));
    trainer->extend(X::snapshot({.n_retains = 2, .autoload = autoload, .snapshot_on_error = true}),
                    {.trigger = T::Trigger(4, "iteration")});
    // an older file of the weights alone does not replace the trainer's state
    trainer->extend(X::snapshot_object(parts.model, X::SnapshotOptions{.filename = "model_{.updater.iteration}",
                                                                       .autoload = autoload}),
                    {.trigger = T::Trigger(3, "iteration")});

    trainer->extend(
        [stop](T::Trainer& t) {
          if (t.updater()->iteration() != stop.at) return;
          if (stop.how == Stop::by_signal) std::raise(SIGINT);
          if (stop.how == Stop::by_error) throw ct::ValueError("stop");
        },
        {.name = "stop", .trigger = often, .priority = -1000});
    if (stop.how == Stop::by_length && stop.at % 4 != 0 && stop.at != kIterations)
      trainer->extend(
          [](T::Trainer& t) { dynamic_cast<X::snapshot&>(t.get_extension("_Snapshot")).save(t); },
          {.name = "save", .trigger = T::Trigger(static_cast<double>(stop.at), "iteration"), .priority = -1000});
  }
};

/// The members of a snapshot as text or bytes.
std::map<std::string, std::string> contents(const std::string& file) {
  const ct::io::NpzReader reader(file);
  std::map<std::string, std::string> all;
  for (const std::string& name : reader.names()) {
    const ct::io::NpyValue value = reader.read(name);
    std::string& text = all[name];
    if (const auto* array = std::get_if<ct::io::HostArray>(&value)) {
      text = array->shape.str() + ct::dtype_name(array->dtype) + ": ";
      text.append(reinterpret_cast<const char*>(array->data.get()), array->size() * ct::itemsize(array->dtype));
    } else if (const auto* string = std::get_if<std::string>(&value)) {
      text = *string;
    }
  }
  all.erase("_snapshot_elapsed_time");
  for (const char* of_the_stop : {"save", "stop"})
    std::erase_if(
        all, [&](const auto& e) { return e.first.find(std::string("extension_triggers/") + of_the_stop + "/") == 0; });
  return all;
}

std::string text_of(const std::string& path) {
  const std::vector<std::byte> bytes = ct::os::read_file(path);
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

struct Way {
  const char* name;
  Stop stop;
  enum How { load, autoload, load_in_a_thread, same_optimizers } go_on;
};

class Resumed : public testing::Test {
 protected:
  Resumed() : folder(ct::os::make_temporary_directory("catenary-resume")) {}
  ~Resumed() override {
    std::signal(SIGINT, before_);
    std::filesystem::remove_all(folder);
  }
  /// Finishes an uninterrupted or resumed run and saves its state as "final".
  static Record finish(Training& run, const std::string& folder) {
    run.go();
    ct::serializers::save_npz(folder + "/final", *run.trainer);
    std::fclose(run.out);
    run.out = nullptr;
    return *run.record;
  }
  const std::string folder;

 private:
  // background processes of a shell ignore SIGINT, and a trainer does not change that
  void (*const before_)(int) = std::signal(SIGINT, SIG_DFL);
};

TEST_F(Resumed, EqualsTheRunThatWasNotStopped) {
  const std::string whole = folder + "/whole";
  Record expected;
  {
    ct::random::seed(5);
    const Parts parts;
    Training run(parts, whole, {}, false);
    expected = finish(run, whole);
  }
  for (const auto& [name, list] : expected) EXPECT_FALSE(list.empty()) << name << " never happened";
  const auto state = contents(whole + "/final");

  const std::vector<Way> ways = {
      {"a shorter run, loaded", {Stop::by_length, 1}, Way::load},
      {"a shorter run, loaded", {Stop::by_length, 12}, Way::load},
      {"the whole run, loaded", {Stop::by_length, kIterations}, Way::load},
      {"a signal, autoload", {Stop::by_signal, 7}, Way::autoload},
      {"a signal, autoload", {Stop::by_signal, 12}, Way::autoload},
      {"an error, loaded in another thread", {Stop::by_error, 7}, Way::load_in_a_thread},
      {"a shorter run, with the same optimizers", {Stop::by_length, 7}, Way::same_optimizers}};
  for (const Way& way : ways) {
    SCOPED_TRACE(std::string(way.name) + " at iteration " + std::to_string(way.stop.at));
    const std::string parts_folder = folder + "/parts";
    std::filesystem::remove_all(parts_folder);
    ct::random::seed(5);
    const Parts first;
    Training(first, parts_folder, way.stop, false).go();
    ct::random::seed(99);
    const Parts second;
    Training run(way.go_on == Way::same_optimizers ? first : second, parts_folder, {}, way.go_on == Way::autoload);
    const auto load = [&] {
      ct::serializers::load_npz(parts_folder + "/snapshot_iter_" + std::to_string(way.stop.at), *run.trainer);
    };
    if (way.go_on == Way::load_in_a_thread) {
      std::thread(load).join();
    } else if (way.go_on != Way::autoload) {
      load();
      ct::random::bits({3});  // drawn by other code before training resumes
    }
    const Record record = finish(run, parts_folder);
    EXPECT_FALSE(ct::config.keep_graph_on_report);  // set by DumpGraph until its first call
    for (const auto& [name, list] : expected) {
      std::map<std::int64_t, double> later(list.upper_bound(way.stop.at), list.end());
      EXPECT_EQ(record.at(name), later) << name;
    }
    const auto resumed = contents(parts_folder + "/final");
    for (const auto& [key, value] : state) {
      ASSERT_TRUE(resumed.count(key)) << key;
      EXPECT_TRUE(resumed.at(key) == value) << key;
    }
    EXPECT_EQ(resumed.size(), state.size());
    EXPECT_EQ(text_of(parts_folder + "/log"), text_of(whole + "/log"));
    for (const char* file : {"plot.png", "statistics.png"})
      EXPECT_TRUE(text_of(parts_folder + "/" + file) == text_of(whole + "/" + file)) << file;
    if (way.stop.at < kIterations) {
      EXPECT_EQ(text_of(parts_folder + "/printed"), text_of(whole + "/printed"));
    }
  }
}

/// Names of classes that headers of training/ derive from a base.
std::vector<std::string> classes_in(const std::string& header, const std::string& base) {
  const std::string text = text_of(tests::source_path("catenary/training/" + header));
  const std::regex pattern("class CT_API (\\w+) : public " + base + " \\{");
  std::vector<std::string> names;
  for (std::sregex_iterator i(text.begin(), text.end(), pattern), end; i != end; ++i) names.push_back((*i)[1]);
  return names;
}

TEST_F(Resumed, IsTestedWithAllExtensionsAndTriggers) {
  const std::string test = text_of(tests::source_path("tests/training/resume_test.cpp"));
  int found = 0;
  for (const std::string& header : ct::os::list_directory(tests::source_path("catenary/training/extensions"))) {
    if (!header.ends_with(".h")) continue;
    for (const char* base : {"Extension", "Shift", "snapshot"}) {
      for (const std::string& name : classes_in("extensions/" + header, base)) {
        if (name == "Shift") continue;  // a base class
        EXPECT_NE(test.find("X::" + name + "("), std::string::npos) << name << " is not among the extensions here";
        ++found;
      }
    }
  }
  EXPECT_GE(found, 20);
  for (const std::string& name : classes_in("triggers.h", "TriggerBase")) {
    if (name == "IntervalTrigger" || name == "TimeTrigger")
      continue;  // covered by T::Trigger; the other one depends on time
    EXPECT_NE(test.find("T::triggers::" + name + "("), std::string::npos) << name << " is not among the triggers here";
  }
}

}  // namespace
