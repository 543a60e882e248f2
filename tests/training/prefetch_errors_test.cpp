// Prefetching: errors are thrown at their batch, unsupported cases are refused, and threads end.

#include <gtest/gtest.h>

#include <string>
#include <thread>
#include <vector>

#include "catenary/catenary.h"
#include "tests/folder.h"
#include "tests/texts.h"
#include "tests/training/prefetch.h"

namespace catenary {
namespace {

using tests::error_of;
using namespace made_ahead;

TEST(Prefetch, AnErrorIsItsOwnBatchs) {
  const auto run = [](bool prefetch) {
    const Examples examples(20);
    examples.shared->fails_at = 9;
    const T::StandardUpdater updater = updater_of(examples, {.prefetch = prefetch});
    std::vector<std::string> said;
    for (int i = 0; i < 7; ++i) {
      try {
        updater->update();
        said.push_back("updated");
      } catch (const FileError& error) {
        said.push_back(error.what());
      }
      said.back() += " " + std::to_string(updater->epoch_detail()) + " " + std::to_string(updater->iteration());
    }
    return said;
  };
  const std::vector<std::string> wanted = run(false);
  EXPECT_NE(wanted[2].find("example 9 cannot be read"), std::string::npos);
  EXPECT_EQ(run(true), wanted);
  // errors of batches that are never used are not thrown
  const Examples examples(20);
  examples.shared->fails_at = 4;
  const T::StandardUpdater updater = updater_of(examples, {.prefetch = true});
  updater->update();
  updater->finalize();
}

TEST(Prefetch, AnErrorThatTheDeviceFindsIsItsOwnBatchs) {
  int made = 0;
  const T::StandardUpdater updater =
      updater_of(Examples(20), {.converter =
                                    [&](const Minibatch& batch, const std::optional<Device>& device) {
                                      const Batch all = concat_examples(batch, device);
                                      const Array at = full({2}, ++made == 3 ? 4 : 3, Dtype::int64).to_device(*device);
                                      return Batch(std::vector<Variable>{Variable(take(all[0].array(), at, 0), false)});
                                    },
                                .prefetch = true});
  updater->update();
  updater->update();
  EXPECT_THROW(updater->update(), IndexError);
  updater->update();
  EXPECT_EQ(updater->iteration(), 3);
}

TEST(Prefetch, ADatasetThatIsNotRepeatedEnds) {
  for (const bool prefetch : {false, true}) {
    const T::StandardUpdater updater = updater_of(Examples(6), {.prefetch = prefetch}, false);
    updater->update();
    updater->update();
    EXPECT_EQ(updater->epoch(), 1);
    EXPECT_EQ(error_of<ValueError>([&] { updater->update(); }),
              "StandardUpdater: the iterator 'main' has no more batches (give it .repeat = true for training)");
  }
}

// The order in which two threads draw from a generator is undefined, so neither dataset nor converter may draw from it.
// Datasets of MultithreadIterator have separate generators.
TEST(Prefetch, RandomNumbersOfTheThreadAreRefused) {
  const auto say = [](const T::StandardUpdater& updater) {
    const std::string said = error_of<ValueError>([&] {
      for (int i = 0; i < 3; ++i) updater->update();
    });
    EXPECT_EQ(updater->iteration(), 0);
    return said.substr(0, said.find(','));
  };
  const std::string drew = "prefetch: the dataset or the converter drew random numbers of the thread";
  EXPECT_EQ(say(updater_of(Examples(12, true), {.prefetch = true})), drew);
  const T::Converter noisy = [](const Minibatch& batch, const std::optional<Device>& device) {
    return Batch(
        std::vector<Variable>{concat_examples(batch, device)[0] + random::uniform(0.0, 1.0, Shape{}).item<double>()});
  };
  EXPECT_EQ(say(updater_of(Examples(12), {.converter = noisy, .prefetch = true})), drew);
}

/// Returns consecutive batch numbers as single examples.
class Counting : public iterators::IteratorBase {
 public:
  std::optional<Minibatch> next() override { return made(++count_); }
  std::int64_t epoch() const override { return count_ / 10; }
  bool is_new_epoch() const override { return count_ > 0 && count_ % 10 == 0; }
  double epoch_detail() const override { return static_cast<double>(count_) / 10; }
  std::optional<double> previous_epoch_detail() const override { return {}; }
  bool repeat() const override { return true; }
  std::int64_t batch_size() const override { return 1; }
  const Dataset& dataset() const override { return dataset_; }
  std::int64_t examples() const override { return 10; }
  void reset() override { count_ = 0; }
  void serialize(Serializer& serializer) override { serializer("count", count_); }

 protected:
  static Minibatch made(std::int64_t count) {
    Minibatch batch;
    batch.examples = {{{full({kFeatures}, static_cast<double>(count), Dtype::float32).to_device(Device()).eval()}, {}}};
    batch.size = 1;
    return batch;
  }
  std::int64_t count_ = 0;

 private:
  Dataset dataset_;
};

class CountingAhead final : public Counting {
 public:
  bool looks_ahead() const override { return true; }
  std::optional<iterators::Upcoming> upcoming() const override {
    return iterators::Upcoming{{count_}, [count = count_ + 1] { return made(count); }};
  }
  void advance() override { ++count_; }
};

TEST(Prefetch, AnIteratorOfOnesOwnLooksAheadOrIsRefused) {
  const optimizers::SGD optimizer(0.1);
  const Net net;
  net.to_device(current_device());
  optimizer.setup(net);
  std::vector<double> seen;
  const T::StandardUpdaterOptions options{
      .update_core = [&](const Batch& batch) { seen.push_back(mean(batch[0].array()).item<double>()); },
      .prefetch = true};
  const std::string said =
      error_of<ValueError>([&] { T::StandardUpdater(Iterator(std::make_shared<Counting>()), optimizer, options); });
  EXPECT_EQ(said.substr(0, said.find('.')), "prefetch: the iterator 'main' cannot look ahead");
  const T::StandardUpdater updater(Iterator(std::make_shared<CountingAhead>()), optimizer, options);
  for (int i = 1; i <= 12; ++i) {
    updater->update();
    EXPECT_EQ(updater->is_new_epoch(), i == 10);
    EXPECT_EQ(updater->epoch_detail(), i / 10.0);
  }
  EXPECT_EQ(seen, (std::vector<double>{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12}));
}

TEST(Prefetch, UpdateCoreTakesFromOtherIteratorsOnly) {
  const Examples examples(40);
  const optimizers::SGD optimizer(0.1);
  const Net net;
  net.to_device(current_device());
  optimizer.setup(net);
  const iterators::SerialIterator main(examples, 4), other(examples, 2);
  const auto with = [&](const Iterator& taken) {
    return T::StandardUpdater({{"main", main}, {"other", other}}, {{"main", optimizer}},
                              {.update_core = [taken](const Batch&) { taken.next(); }, .prefetch = true});
  };
  const T::StandardUpdater fine = with(other), refused = with(main);
  for (int i = 0; i < 5; ++i) fine->update();
  fine->finalize();
  const std::string said = error_of<ValueError>([&] { refused->update(); });
  EXPECT_EQ(said.substr(0, said.find(',')), "prefetch: update_core took from the iterator 'main'");
}

// Ending at any time neither hangs nor leaks, also while the dataset or the converter is slow.
TEST(Prefetch, EndsWhileItReads) {
  for (const bool by_finalize : {true, false}) {
    for (const std::size_t open : {5, 9}) {  // the converter makes the fifth request
      const Examples examples(40);
      examples.open(open);
      std::weak_ptr<int> alive;
      std::thread opens;
      {
        const auto token = std::make_shared<int>(0);
        alive = token;
        const datasets::TransformDataset kept(examples, [token](const Example& e) { return e; });
        const T::StandardUpdater updater =
            updater_of(kept, {.converter =
                                  [examples, token](const Minibatch& batch, const std::optional<Device>& device) {
                                    examples.ask(-1);
                                    return concat_examples(batch, device);
                                  },
                              .loss = [&](const Batch&) -> Variable {
                                EXPECT_TRUE(examples.asked_for(open + 1));
                                throw ValueError("the loss fails");
                              },
                              .prefetch = true});
        EXPECT_EQ(error_of<ValueError>([&] { updater->update(); }), "the loss fails");
        opens = std::thread([&] {
          std::this_thread::sleep_for(std::chrono::milliseconds(20));
          examples.open(40);
        });
        if (by_finalize) {
          updater->finalize();
          EXPECT_EQ(examples.shared->at_once, 0);
        }
      }
      EXPECT_TRUE(alive.expired());
      EXPECT_EQ(examples.shared->at_once, 0);
      opens.join();
    }
  }
}

TEST(Prefetch, ATrainerEndsIt) {
  const tests::Folder folder;
  const Examples examples(40);
  const T::StandardUpdater updater = updater_of(examples, {.prefetch = true});
  T::Trainer trainer(updater, T::Trigger(12, "iteration"), folder / "out");
  trainer.extend(
      [](T::Trainer& t) {
        if (t.updater()->iteration() == 7) throw ValueError("an extension fails");
      },
      {.name = "fails", .trigger = T::Trigger(1, "iteration")});
  EXPECT_EQ(error_of<ValueError>([&] { trainer.run(false); }), "an extension fails");
  {
    const std::lock_guard lock(examples.shared->mutex);
    EXPECT_EQ(examples.shared->read.size(), 32u);
  }
  updater->update();  // continues
  EXPECT_EQ(updater->iteration(), 8);
}

}  // namespace
}  // namespace catenary
