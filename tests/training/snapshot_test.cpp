// What a snapshot holds, and which one is taken.

#include <gtest/gtest.h>

#include <filesystem>

#include "catenary/catenary.h"
#include "catenary/io/npz.h"
#include "tests/folder.h"

namespace ct = catenary;
namespace L = ct::links;
namespace T = ct::training;
namespace X = ct::training::extensions;

namespace {

/// A trainer of a small model whose batches are drawn at random.
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

// Older snapshots are read by newer programs: names stay.
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
  // and all of it is there again
  DrawnTraining again(folder.path, 6);
  ct::random::seed(1);
  ct::serializers::load_npz(file, again.trainer);
  EXPECT_EQ(ct::random::get_state().seed, 77u);
  EXPECT_EQ(again.trainer.updater()->previous_epoch_detail(), 8.0 / 7);
  EXPECT_EQ(again.trainer.updater()->epoch_detail(), 10.0 / 7);
}

/// The iteration that a training goes on from.
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

// Where a file system's clock is too coarse, of two snapshots of one time the one with the larger number is newer.
TEST(Autoload, TakesTheNewest) {
  const tests::Folder folder;
  DrawnTraining training(folder.path, 101);
  training.trainer.extend(X::snapshot(),
                          {.trigger = T::triggers::ManualScheduleTrigger({9, 10, 99, 100}, "iteration")});
  training.trainer.run();
  const auto now = std::filesystem::file_time_type::clock::now();
  const auto set_age = [&](int iteration, int seconds) {
    std::filesystem::last_write_time(folder / ("snapshot_iter_" + std::to_string(iteration)),
                                     now - std::chrono::seconds(seconds));
  };
  for (const int iteration : {9, 10, 99, 100}) set_age(iteration, 60);
  EXPECT_EQ(begins_after(folder.path), 100);
  set_age(9, 59);
  EXPECT_EQ(begins_after(folder.path), 9);  // of another, later, training
  set_age(10, 59);
  EXPECT_EQ(begins_after(folder.path), 10);
  // the oldest ones go by the same order
  DrawnTraining more(folder.path, 1);
  more.trainer.extend(X::snapshot({.n_retains = 3}), {.trigger = T::Trigger(1, "iteration")});
  more.trainer.run();
  for (const int iteration : {99, 100})
    EXPECT_FALSE(ct::os::exists(folder / ("snapshot_iter_" + std::to_string(iteration)))) << iteration;
  for (const int iteration : {1, 9, 10})
    EXPECT_TRUE(ct::os::exists(folder / ("snapshot_iter_" + std::to_string(iteration)))) << iteration;
}

}  // namespace
