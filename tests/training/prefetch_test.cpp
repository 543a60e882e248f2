// Minibatches prepared during the previous update: equal order, bits and snapshots.

#include "tests/training/prefetch.h"

#include <gtest/gtest.h>

#include <string>
#include <thread>
#include <vector>

#include "catenary/array/body.h"
#include "catenary/catenary.h"
#include "tests/folder.h"
#include "tests/texts.h"

namespace catenary {
namespace {

using tests::error_of;
using namespace made_ahead;

constexpr int kUpdates = 13;

TEST(Prefetch, BitsAndPlacesAreThoseWithout) {
  const tests::Folder folder;
  for (const Batching& kind : kinds()) {
    Progress without(kind, false), with(kind, true);
    // each run has separate random numbers
    random::seed(9);
    without.update(kUpdates);
    random::seed(9);
    with.update(kUpdates);
    EXPECT_EQ(with.seen, without.seen) << kind.size << " by " << kind.batch;
    serializers::save_npz(folder / "without", *without.trainer);
    serializers::save_npz(folder / "with", *with.trainer);
    EXPECT_EQ(contents(folder / "with"), contents(folder / "without")) << kind.size << " by " << kind.batch;
  }
}

// A snapshot refers to the minibatch that was used, not to the prefetched one. Loading discards prefetched batches.
TEST(Prefetch, EitherGoesOnFromTheOthersSnapshot) {
  const tests::Folder folder;
  for (const Batching& kind : kinds()) {
    Progress whole(kind, false);
    whole.update(kUpdates);
    for (const int stop : {1, 4, 5, 8}) {
      for (const bool first : {true, false}) {
        Progress begun(kind, first);
        begun.update(stop);
        serializers::save_npz(folder / "amid", *begun.trainer);
        for (const bool second : {true, false}) {
          Progress resumed(kind, second, 5);
          resumed.update(stop % 3);
          serializers::load_npz(folder / "amid", *resumed.trainer);
          resumed.seen.clear();
          resumed.update(kUpdates - stop);
          EXPECT_EQ(resumed.seen, std::vector<std::vector<double>>(whole.seen.begin() + stop, whole.seen.end()))
              << kind.size << " by " << kind.batch << ", " << first << second << " at " << stop;
        }
      }
    }
  }
}

TEST(Prefetch, MakesTheNextWhileThisOneIsComputedWith) {
  const Examples examples(40);
  bool came = true;
  std::size_t wanted = 4;
  const Net net;
  net.to_device(current_device());
  const T::StandardUpdater updater = updater_of(examples, {.loss =
                                                               [&](const Batch& batch) {
                                                                 came = came && examples.asked_for(wanted += 4);
                                                                 return F::mean(net(batch[0]));
                                                               },
                                                           .prefetch = true});
  for (int i = 0; i < 6; ++i) updater->update();
  EXPECT_TRUE(came);
  updater->finalize();
  const std::lock_guard lock(examples.shared->mutex);
  EXPECT_EQ(examples.shared->read.size(), 28u);  // six were used, and one is prefetched
  for (std::size_t i = 0; i < 28; ++i) EXPECT_EQ(examples.shared->read[i], static_cast<std::int64_t>(i));
  EXPECT_EQ(examples.shared->most_at_once, 1);
  EXPECT_EQ(examples.shared->readers.size(), 1u);
  EXPECT_FALSE(examples.shared->readers.contains(std::this_thread::get_id()));
}

// Batches uploaded by the thread are complete: nothing is pending, and no error can appear later.
TEST(Prefetch, BatchesComeComputedAndAreOnTheDevice) {
  const Stream own;
  const Stream::Use use(own);
  const Examples examples(12);
  std::vector<double> means, wanted;
  for (const bool prefetch : {false, true}) {
    const T::StandardUpdater updater =
        updater_of(examples, {.converter =
                                  [](const Minibatch& batch, const std::optional<Device>& device) {
                                    return Batch(std::vector<Variable>{concat_examples(batch, device)[0] * 2.0});
                                  },
                              .update_core =
                                  [&](const Batch& batch) {
                                    EXPECT_EQ(batch[0].device(), current_device());
                                    EXPECT_TRUE(!prefetch || !batch[0].array().body().pending);
                                    (prefetch ? means : wanted).push_back(mean(batch[0].array()).item<double>());
                                  },
                              .prefetch = prefetch});
    for (int i = 0; i < 5; ++i) updater->update();
  }
  EXPECT_EQ(means, wanted);
}

// Dataset and converter may read everything that the training thread submitted before the batch was begun, also if the
// device is still computing it.
TEST(Prefetch, ReadsWhatWasComputedBefore) {
  const Shape large = {256, 1024};
  std::vector<Array> buffers;
  for (int i = 0; i < 3; ++i) buffers.push_back(full(large, -2 + i, Dtype::float32).eval());
  std::size_t made = 0;
  std::int64_t trained = 0;
  std::vector<Array> seen;
  const T::StandardUpdater updater =
      updater_of(Examples(40), {.converter =
                                    [&](const Minibatch&, const std::optional<Device>& device) {
                                      const Array value = buffers[made++ % 3].to_device(Device())(3, 5).copy();
                                      return Batch(std::vector<Variable>{Variable(value.to_device(*device), false)});
                                    },
                                .update_core =
                                    [&](const Batch& batch) {
                                      seen.push_back(batch[0].array());
                                      Array x = full(large, trained, Dtype::float32);
                                      for (int i = 0; i < 12; ++i) x = abs(x * 1.0).eval();
                                      copyto(buffers[static_cast<std::size_t>(trained + 2) % 3], x);
                                      ++trained;
                                    },
                                .prefetch = true});
  for (int i = 0; i < 9; ++i) updater->update();
  // batch k is begun when update k - 2 has been submitted
  for (std::size_t k = 0; k < seen.size(); ++k) EXPECT_EQ(seen[k].item<int>(), static_cast<int>(k) - 2);
}

// An extension may reset the iterator while a batch is being read, also if the same examples would follow in another
// position.
TEST(Prefetch, AfterAResetTheFirstComes) {
  for (const Batching& kind :
       {Batching{.seed = 3}, {.threads = true, .seed = 3}, {.threads = true, .draws = true, .shuffle = false}}) {
    const auto losses = [&](bool prefetch) {
      Progress run(kind, prefetch);
      for (const int n : {3, 5, 2, 5, 4}) {
        run.update(n);
        run.trainer->updater()->iterator("main").reset();
      }
      return run.seen;
    };
    EXPECT_EQ(losses(true), losses(false));
  }
}

// The thread uses the training thread's settings and device. Batches made with other settings are made again.
TEST(Prefetch, SettingsAreThoseOfTheUpdate) {
  const auto run = [](bool prefetch) {
    std::vector<std::string> seen;
    const T::StandardUpdater updater =
        updater_of(Examples(40), {.converter =
                                      [&](const Minibatch& batch, const std::optional<Device>& device) {
                                        const std::string said = config_to_string() + current_device().name();
                                        const Batch b = concat_examples(batch, device);
                                        return Batch(std::vector<Variable>{b[0]}, {said});
                                      },
                                  .update_core = [&](const Batch& batch) { seen.push_back(batch.names()[0]); },
                                  .prefetch = prefetch});
    const Dtype before = global_config.dtype;
    for (int i = 0; i < 8; ++i) {
      const auto dtype = using_config(config.dtype, i % 3 == 1 ? mixed16 : Precision(Dtype::float32));
      const auto debug = using_config(config.debug, i % 4 == 2);
      std::optional<DeviceScope> scope;
      if (i == 5) scope.emplace(Device());
      if (i == 6) config.dtype.reset();
      if (i == 6) global_config.dtype = Dtype::bfloat16;
      updater->update();
      global_config.dtype = before;
    }
    return seen;
  };
  const std::vector<std::string> wanted = run(false);
  EXPECT_EQ(std::set<std::string>(wanted.begin(), wanted.end()).size(), current_device() == Device() ? 4u : 5u);
  EXPECT_EQ(run(true), wanted);
}

// Also for settings of all threads.
TEST(Prefetch, SettingsOfAllThreadsAreThoseOfTheUpdate) {
  std::vector<std::string> seen, wanted;
  std::atomic<int> made = 0;
  const T::StandardUpdater updater =
      updater_of(Examples(40), {.converter =
                                    [&](const Minibatch& batch, const std::optional<Device>& device) {
                                      const Batch b = concat_examples(batch, device);
                                      Batch result(std::vector<Variable>{b[0]}, {config_to_string()});
                                      ++made;
                                      return result;
                                    },
                                .update_core = [&](const Batch& batch) { seen.push_back(batch.names()[0]); },
                                .prefetch = true});
  const bool before = global_config.tf32;
  int expected = 1;  // the next batch is made after each update, before the setting changes
  for (int i = 0; i < 7; ++i) {
    expected += global_config.tf32 == (i % 3 == 1) ? 1 : 2;
    global_config.tf32 = i % 3 == 1;
    wanted.push_back(config_to_string());
    updater->update();
    for (int k = 0; k < 2000 && made < expected; ++k) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  global_config.tf32 = before;
  EXPECT_EQ(std::set<std::string>(wanted.begin(), wanted.end()).size(), 2u);
  EXPECT_EQ(seen, wanted);
}

TEST(Prefetch, AModelThatMovesTakesItsBatchesAlong) {
  const optimizers::SGD optimizer(0.1);
  const Net net;
  net.to_device(current_device());
  optimizer.setup(net);
  const T::StandardUpdater updater(iterators::SerialIterator(Examples(40), 4), optimizer,
                                   {.loss = [&](const Batch& b) { return F::mean(net(b[0])); }, .prefetch = true});
  const Device here = current_device();
  for (int i = 0; i < 6; ++i) {
    net.to_device(i % 2 ? Device() : here);
    updater->update();
  }
  EXPECT_EQ(updater->iteration(), 6);
}

TEST(Prefetch, OnSeveralDevices) {
  const auto run = [](bool prefetch, std::int64_t batch) {
    random::seed(3);
    L::Classifier model{Net()};
    const optimizers::SGD optimizer(0.1);
    optimizer.setup(model);
    const T::ParallelUpdater updater(iterators::SerialIterator(Examples(20), batch), optimizer,
                                     {{"main", current_device()}, {"second", Device()}}, {.prefetch = prefetch});
    for (int i = 0; i < 9; ++i) updater->update();
    std::vector<std::vector<float>> all;
    for (const Parameter& p : model.params()) all.push_back(p.array().to_vector<float>());
    return all;
  };
  EXPECT_EQ(run(true, 5), run(false, 5));
  const std::string few = "ParallelUpdater: a batch of 1 examples for 2 devices";
  EXPECT_EQ(error_of<ValueError>([&] { run(true, 1); }), few);
  EXPECT_EQ(error_of<ValueError>([&] { run(false, 1); }), few);
}

}  // namespace
}  // namespace catenary
