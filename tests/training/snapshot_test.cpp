// The content of snapshots, and the choice among several.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cerrno>
#include <chrono>
#include <csignal>
#include <filesystem>
#include <system_error>

#include "catenary/catenary.h"
#include "catenary/io/npz.h"
#include "tests/folder.h"
#include "tests/texts.h"

namespace ct = catenary;
namespace L = ct::links;
namespace T = ct::training;
namespace X = ct::training::extensions;

namespace {

/// A trainer of a small model with random batches.
struct DrawnTraining {
  L::Classifier model{L::Linear(3, 2)};
  ct::optimizers::SGD optimizer{0.1};
  T::Trainer trainer;
  DrawnTraining(const std::string& folder, double iterations) : trainer(make(folder, iterations)) {}

 private:
  T::Trainer make(const std::string& folder, double iterations) {
    optimizer.setup(model);
    const ct::datasets::TupleDataset data(ct::ones({7, 3}, ct::Dtype::float32), ct::zeros({7}, ct::Dtype::int32));
    return {T::StandardUpdater(ct::iterators::SerialIterator(data, 2), optimizer), T::Trigger(iterations, "iteration"),
            folder};
  }
};

// Names are stable, so that newer programs can read older snapshots.
TEST(TrainerSnapshot, HasItsNames) {
  const tests::Folder folder;
  ct::random::seed(77);
  DrawnTraining training(folder.path, 5);
  training.trainer.run();
  const std::string file = folder / "snapshot";
  ct::serializers::save_npz(file, training.trainer);
  const ct::io::NpzReader reader(file);
  const auto number = [&](const std::string& key) {
    return ct::from_host(reader.read_array(key), ct::Device()).item<double>();
  };
  EXPECT_EQ(number("_random_seed"), 77);
  EXPECT_EQ(number("_random_call"), static_cast<double>(ct::random::get_state().call));
  EXPECT_GT(number("_random_call"), 0);
  EXPECT_GT(number("_snapshot_elapsed_time"), 0);
  EXPECT_EQ(number("updater/iteration"), 5);
  EXPECT_EQ(number("updater/iterator:main/current_position"), 3);
  EXPECT_EQ(number("updater/iterator:main/epoch"), 1);
  EXPECT_EQ(number("updater/iterator:main/previous_epoch_detail"), 8.0 / 7);
  EXPECT_EQ(number("updater/optimizer:main/t"), 5);
  EXPECT_EQ(number("updater/hyperparam:main/lr"), 0.1);
  for (const char* name : {"updater/iterator:main/order", "updater/iterator:main/is_new_epoch",
                           "updater/model:main/predictor/W", "updater/optimizer:main/predictor/W/t"})
    EXPECT_TRUE(reader.contains(name)) << name;
  // loading restores all of it
  DrawnTraining again(folder.path, 6);
  ct::random::seed(1);
  ct::serializers::load_npz(file, again.trainer);
  EXPECT_EQ(ct::random::get_state().seed, 77u);
  EXPECT_EQ(again.trainer.updater()->previous_epoch_detail(), 8.0 / 7);
  EXPECT_EQ(again.trainer.updater()->epoch_detail(), 10.0 / 7);
}

/// The iteration from which training continues.
std::int64_t begins_after(const std::string& folder) {
  DrawnTraining training(folder, 200);
  training.trainer.extend(X::snapshot({.autoload = true}), {.trigger = T::Trigger(1000, "iteration")});
  std::int64_t first = 0;
  training.trainer.extend(
      [&](T::Trainer& t) {
        first = t.updater()->iteration() - 1;
        throw ct::ValueError("enough");
      },
      {.name = "first", .trigger = T::Trigger(1, "iteration")});
  EXPECT_THROW(training.trainer.run(false), ct::ValueError);
  return first;
}

void set_age(const tests::Folder& folder, const std::string& name, std::chrono::seconds age) {
  std::filesystem::last_write_time(folder / name, std::filesystem::file_time_type::clock::now() - age);
}

// File times may be wrong in either direction.
TEST(Autoload, TakesTheHighestIterationWhateverTheTimesSay) {
  const tests::Folder folder;
  DrawnTraining training(folder.path, 101);
  training.trainer.extend(X::snapshot(),
                          {.trigger = T::triggers::ManualScheduleTrigger({9, 10, 99, 100}, "iteration")});
  training.trainer.run();
  EXPECT_EQ(begins_after(folder.path), 100);
  set_age(folder, "snapshot_iter_9", std::chrono::hours(-1));
  set_age(folder, "snapshot_iter_100", std::chrono::hours(9));
  EXPECT_EQ(begins_after(folder.path), 100);
  // the file's content takes precedence over its name
  std::filesystem::rename(folder / "snapshot_iter_99", folder / "snapshot_iter_500");
  EXPECT_EQ(begins_after(folder.path), 100);
}

TEST(Autoload, ReadsTheIterationWhereNamesHaveEpochsOnly) {
  const tests::Folder folder;
  const X::SnapshotOptions options{.filename = "at_{.updater.epoch}", .autoload = true};
  {
    DrawnTraining training(folder.path, 40);
    training.trainer.extend(X::snapshot(options),
                            {.trigger = T::triggers::ManualScheduleTrigger({4, 39}, "iteration")});
    training.trainer.run();
  }
  ASSERT_TRUE(ct::os::exists(folder / "at_11"));
  set_age(folder, "at_1", std::chrono::hours(-1));
  DrawnTraining training(folder.path, 40);
  training.trainer.extend(X::snapshot(options), {.trigger = T::Trigger(1000, "iteration")});
  std::vector<std::int64_t> seen;
  training.trainer.extend([&](T::Trainer& t) { seen.push_back(t.updater()->iteration()); },
                          {.name = "seen", .trigger = T::Trigger(1, "iteration")});
  training.trainer.run();
  EXPECT_EQ(seen, std::vector<std::int64_t>{40});
}

// The old files have times in the future, like files of another training.
TEST(Snapshot, NeverRemovesTheOneJustSaved) {
  for (const bool whole : {true, false}) {
    const tests::Folder folder;
    DrawnTraining first(folder.path, 5);
    first.trainer.extend(X::snapshot(), {.trigger = T::Trigger(5, "iteration")});
    first.trainer.run();
    std::filesystem::copy(folder / "snapshot_iter_5", folder / "snapshot_iter_2");
    ct::os::write_file(folder / "snapshot_iter_900", std::string_view("not a snapshot"));
    for (const char* name : {"snapshot_iter_2", "snapshot_iter_5", "snapshot_iter_900"})
      set_age(folder, name, std::chrono::hours(-1));
    DrawnTraining more(folder.path, 4);
    const X::SnapshotOptions options{.n_retains = 1};
    more.trainer.extend(whole ? X::snapshot(options) : X::snapshot_object(more.model, options),
                        {.trigger = T::Trigger(1, "iteration")});
    more.trainer.run();
    EXPECT_EQ(ct::os::list_directory(folder.path), std::vector<std::string>{"snapshot_iter_4"}) << whole;
  }
}

// At a closed terminal (SIGHUP) and at the CPU time limit (SIGXCPU).
TEST(Snapshot, IsSavedWhenSignalsEndTheTraining) {
  for (const auto& [number, name] : {std::pair{SIGTERM, "SIGTERM"}, {SIGHUP, "SIGHUP"}, {SIGXCPU, "SIGXCPU"}}) {
    const tests::Folder folder;
    DrawnTraining training(folder.path, 100);
    training.trainer.extend(X::snapshot(), {.trigger = T::Trigger(1000, "iteration")});
    const auto report = [number = number](T::Trainer&) {
      std::raise(number);
      throw std::system_error(EIO, std::generic_category(), "the terminal is gone");
    };
    training.trainer.extend(report, {.name = "report", .trigger = T::Trigger(3, "iteration")});
    EXPECT_EQ(tests::error_of<T::Interrupted>([&] { training.trainer.run(); }),
              fmt::format("training was stopped by {} after iteration 3; resume with --resume {}", name,
                          folder / "snapshot_iter_3"));
    EXPECT_TRUE(ct::os::exists(folder / "snapshot_iter_3")) << name;
  }
}

TEST(Snapshot, KeepsTheHighestIterations) {
  const tests::Folder folder;
  const auto train = [&](double until) {
    DrawnTraining training(folder.path, until);
    training.trainer.extend(X::snapshot({.n_retains = 3, .autoload = true}), {.trigger = T::Trigger(1, "iteration")});
    training.trainer.run();
  };
  train(3);
  set_age(folder, "snapshot_iter_1", std::chrono::hours(-1));
  train(9);
  EXPECT_EQ(ct::os::list_directory(folder.path),
            (std::vector<std::string>{"snapshot_iter_7", "snapshot_iter_8", "snapshot_iter_9"}));
}

}  // namespace
