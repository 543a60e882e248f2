// Minibatches that are made while the one before is computed with: the same order, bits and snapshots, and errors in
// their own batch.

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cmath>
#include <condition_variable>
#include <map>
#include <mutex>
#include <set>
#include <thread>

#include "catenary/array/lazy.h"
#include "catenary/catenary.h"
#include "catenary/io/npz.h"
#include "tests/folder.h"
#include "tests/training/message.h"

namespace catenary {
namespace {

namespace F = functions;
namespace L = links;
namespace T = training;
namespace X = training::extensions;

constexpr std::int64_t kFeatures = 3;

/// Examples that are made one by one. Writes down which, and by how many threads at once; may fail at one, wait for
/// somebody, and draw random numbers.
class Examples final : public datasets::DatasetMixin {
 public:
  struct Shared {
    std::mutex mutex;
    std::condition_variable changed;
    std::vector<std::int64_t> read;
    std::set<std::thread::id> readers;
    std::size_t open = ~std::size_t{0};  // how many may be got
    std::atomic<int> at_once{0}, most_at_once{0};
    std::atomic<std::int64_t> fails_at{-1};
  };
  explicit Examples(std::int64_t size, bool draws_numbers = false) : draws(draws_numbers), size_(size) {}
  std::int64_t size() const override { return size_; }
  Example get_example(std::int64_t i) const override {
    ask(i);
    if (i == shared->fails_at) throw FileError("example " + std::to_string(i) + " cannot be read");
    std::vector<double> x;
    for (std::int64_t k = 0; k < kFeatures; ++k) x.push_back(std::sin(static_cast<double>(i * kFeatures + k)));
    Array features = Array::from_host(x.data(), {kFeatures}, Dtype::float64, Device()).astype(Dtype::float32);
    if (draws)
      features = features + random::uniform(0.0, 0.1, Shape{kFeatures}, {.device = Device()}).astype(Dtype::float32);
    const std::int32_t label = static_cast<std::int32_t>(i % 2);
    return {{features, Array::from_host(&label, {}, Dtype::int32, Device())}, {}};
  }
  /// Writes down that example i is asked for, and waits until it can be got.
  void ask(std::int64_t i) const {
    const int now = ++shared->at_once;
    {
      std::unique_lock lock(shared->mutex);
      shared->most_at_once = std::max<int>(shared->most_at_once, now);
      shared->read.push_back(i);
      shared->readers.insert(std::this_thread::get_id());
      shared->changed.notify_all();
      shared->changed.wait(lock, [&] { return shared->read.size() <= shared->open; });
    }
    --shared->at_once;
  }
  /// From now on so many examples can be got, with those that were; who asks for more waits.
  void open(std::size_t n) const {
    const std::lock_guard lock(shared->mutex);
    shared->open = n;
    shared->changed.notify_all();
  }
  /// Waits until so many examples were asked for; were they, in 20 seconds?
  bool asked_for(std::size_t n) const {
    std::unique_lock lock(shared->mutex);
    return shared->changed.wait_for(lock, std::chrono::seconds(20), [&] { return shared->read.size() >= n; });
  }

  const bool draws;
  std::shared_ptr<Shared> shared = std::make_shared<Shared>();

 private:
  std::int64_t size_;
};

/// It draws random numbers of the thread that trains, as often as it is called.
struct Net : Chain {
  L::Linear l1{kFeatures, 8}, l2{8, 2};
  CT_LINKS(l1, l2)
  Variable operator()(const Variable& x) const { return l2(F::dropout(F::tanh(l1(x)), 0.4)); }
};

/// Which iterator a training has.
struct Kind {
  std::int64_t size = 20, batch = 4;
  bool threads = false, draws = false, columns = false, shuffle = true;
  std::optional<std::uint64_t> seed = {};
};

std::vector<Kind> kinds() {
  return {{},
          {.size = 10, .batch = 4},  // batches that reach over the end of an epoch
          {.size = 5, .batch = 12},  // each does
          {.size = 8, .batch = 8},   // an epoch is a batch
          {.columns = true},
          {.size = 10, .batch = 4, .columns = true, .seed = 3},
          {.size = 11, .batch = 4, .threads = true, .draws = true},
          {.size = 12, .batch = 4, .threads = true, .draws = true, .seed = 3}};
}

Dataset dataset_of(const Kind& kind) {
  const Examples examples(kind.size, kind.draws);
  if (!kind.columns) return examples;
  std::vector<std::int64_t> all;
  for (std::int64_t i = 0; i < kind.size; ++i) all.push_back(i);
  std::vector<Array> x, t;
  for (const Example& example : Dataset(examples).get(all)) {
    x.push_back(example.values[0]);
    t.push_back(example.values[1]);
  }
  return datasets::TupleDataset(stack(x).to_device(current_device()), stack(t).to_device(current_device()));
}

Iterator iterator_of(const Kind& kind, const Dataset& dataset) {
  if (kind.threads)
    return iterators::MultithreadIterator(
        dataset, kind.batch, {.shuffle = kind.shuffle, .n_threads = 2, .n_prefetch = 2, .seed = kind.seed});
  return iterators::SerialIterator(dataset, kind.batch, {.shuffle = kind.shuffle, .seed = kind.seed});
}

/// The numbers of a file, by their names, but for what differs from run to run.
std::map<std::string, std::vector<std::byte>> contents(const std::string& file) {
  const io::NpzReader reader(file);
  std::map<std::string, std::vector<std::byte>> all;
  for (const std::string& name : reader.names()) {
    if (name == "_snapshot_elapsed_time") continue;
    const io::NpyValue value = reader.read(name);
    if (const auto* array = std::get_if<io::HostArray>(&value)) {
      const auto* const bytes = reinterpret_cast<const std::byte*>(array->data.get());
      all[name].assign(bytes, bytes + array->size() * itemsize(array->dtype));
    }
  }
  return all;
}

/// A training, and what its trainer sees after each update.
struct Progress {
  Progress(const Kind& kind, bool prefetch, std::uint64_t seed = 4) : model(made(seed)) {
    model.to_device(current_device());
    optimizer.setup(model);
    trainer.emplace(T::StandardUpdater(iterator_of(kind, dataset_of(kind)), optimizer, {.prefetch = prefetch}),
                    T::Trigger(1000, "epoch"), "nowhere");
  }
  static L::Classifier made(std::uint64_t seed) {
    random::seed(seed);
    return L::Classifier(Net());
  }
  void update(int n) {
    for (int i = 0; i < n; ++i) {
      Observation observation;
      const T::UpdaterBase& updater = *trainer->updater();
      {
        const ReportScope scope(trainer->reporter(), observation);
        trainer->updater()->update();
      }
      seen.push_back({observation.find("main/loss")->value(), static_cast<double>(updater.iteration()),
                      static_cast<double>(updater.epoch()), updater.epoch_detail(),
                      updater.previous_epoch_detail().value_or(-1), static_cast<double>(updater.is_new_epoch()),
                      static_cast<double>(optimizer.epoch()), static_cast<double>(random::get_state().call)});
    }
  }

  L::Classifier model;
  optimizers::Adam optimizer{0.01};
  std::optional<T::Trainer> trainer;
  std::vector<std::vector<double>> seen;
};

constexpr int kUpdates = 13;

TEST(Prefetch, BitsAndPlacesAreThoseWithout) {
  const tests::Folder folder;
  for (const Kind& kind : kinds()) {
    Progress without(kind, false), with(kind, true);
    // each has the thread's random numbers for itself
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

// A snapshot is of the minibatch that was trained on, not of the one that is made meanwhile; what was read before it is
// loaded is forgotten.
TEST(Prefetch, EitherGoesOnFromTheOthersSnapshot) {
  const tests::Folder folder;
  for (const Kind& kind : kinds()) {
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

/// An updater over examples in their order, whose loss is the mean of all features.
T::StandardUpdater updater_of(const Dataset& dataset, const T::StandardUpdaterOptions& options, bool repeat = true,
                              std::int64_t batch = 4) {
  const optimizers::SGD optimizer(0.1);
  const Net net;
  net.to_device(current_device());
  optimizer.setup(net);
  T::StandardUpdaterOptions with = options;
  if (!with.loss && !with.update_core) with.loss = [net](const Batch& b) { return F::mean(net(b[0])); };
  return {iterators::SerialIterator(dataset, batch, {.repeat = repeat, .shuffle = false}), optimizer, with};
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
  EXPECT_EQ(examples.shared->read.size(), 28u);  // six that were trained on, and one ahead
  for (std::size_t i = 0; i < 28; ++i) EXPECT_EQ(examples.shared->read[i], static_cast<std::int64_t>(i));
  EXPECT_EQ(examples.shared->most_at_once, 1);
  EXPECT_EQ(examples.shared->readers.size(), 1u);
  EXPECT_FALSE(examples.shared->readers.contains(std::this_thread::get_id()));
}

// What the thread brought to the device has arrived there: nothing of it is left to do, to wait for or to be told late.
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

// What the thread that trains has submitted before a batch is begun, the dataset and the converter may read: on the
// device, too, where it is about it still.
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
  // one that is never trained on is nobody's
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
    EXPECT_EQ(message_of([&] { updater->update(); }),
              "StandardUpdater: the iterator 'main' has no more batches (give it .repeat = true for training)");
  }
}

// Whose turn it is to draw random numbers of the thread depends on who is faster: neither dataset nor converter may,
// where those of MultithreadIterator have numbers of their own.
TEST(Prefetch, RandomNumbersOfTheThreadAreRefused) {
  const auto say = [](const T::StandardUpdater& updater) {
    const std::string said = message_of([&] {
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

/// Gives the numbers of its batches, one example each.
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
      message_of([&] { T::StandardUpdater(Iterator(std::make_shared<Counting>()), optimizer, options); });
  EXPECT_EQ(said.substr(0, said.find('.')), "prefetch: the iterator 'main' does not say what comes next");
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
  const std::string said = message_of([&] { refused->update(); });
  EXPECT_EQ(said.substr(0, said.find(',')), "prefetch: update_core took from the iterator 'main'");
}

// An extension may begin anew, with a read under way: also where the same examples would have come next, at another
// place.
TEST(Prefetch, AfterAResetTheFirstComes) {
  for (const Kind& kind :
       {Kind{.seed = 3}, {.threads = true, .seed = 3}, {.threads = true, .draws = true, .shuffle = false}}) {
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

// The thread has the settings of the one that trains, and its device; what was made by others is made again.
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

// However it ends, nothing hangs, and nothing is kept: also while the dataset, or the converter, takes its time.
TEST(Prefetch, EndsWhileItReads) {
  for (const bool by_finalize : {true, false}) {
    for (const std::size_t open : {5, 9}) {  // the converter is the fifth to ask
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
        EXPECT_EQ(message_of([&] { updater->update(); }), "the loss fails");
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
  EXPECT_EQ(message_of([&] { trainer.run(false); }), "an extension fails");
  {
    const std::lock_guard lock(examples.shared->mutex);
    EXPECT_EQ(examples.shared->read.size(), 32u);
  }
  updater->update();  // goes on after all
  EXPECT_EQ(updater->iteration(), 8);
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
  EXPECT_EQ(message_of([&] { run(true, 1); }), few);
  EXPECT_EQ(message_of([&] { run(false, 1); }), few);
}

}  // namespace
}  // namespace catenary
