#pragma once
// Datasets and models for tests of prefetching.

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cmath>
#include <condition_variable>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "catenary/catenary.h"
#include "catenary/io/npz.h"

namespace catenary::made_ahead {

namespace F = functions;
namespace L = links;
namespace T = training;

constexpr std::int64_t kFeatures = 3;

/// Examples made one at a time. Records the indices and the number of concurrent threads. Can fail at an example, wait,
/// and draw random numbers.
class Examples final : public datasets::DatasetMixin {
 public:
  struct Shared {
    std::mutex mutex;
    std::condition_variable changed;
    std::vector<std::int64_t> read;
    std::set<std::thread::id> readers;
    std::size_t open = ~std::size_t{0};  // number of examples that can be read
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
  /// Records the request of example i and waits until it can be read.
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
  /// Allows reading this many examples in total. Further requests wait.
  void open(std::size_t n) const {
    const std::lock_guard lock(shared->mutex);
    shared->open = n;
    shared->changed.notify_all();
  }
  /// Waits up to 20 seconds for this many requests, and returns whether they came.
  bool asked_for(std::size_t n) const {
    std::unique_lock lock(shared->mutex);
    return shared->changed.wait_for(lock, std::chrono::seconds(20), [&] { return shared->read.size() >= n; });
  }

  const bool draws;
  std::shared_ptr<Shared> shared = std::make_shared<Shared>();

 private:
  std::int64_t size_;
};

/// Draws random numbers of the training thread in every call.
struct Net : Chain {
  L::Linear l1{kFeatures, 8}, l2{8, 2};
  CT_LINKS(l1, l2)
  Variable operator()(const Variable& x) const { return l2(F::dropout(F::tanh(l1(x)), 0.4)); }
};

/// How a training divides its minibatches.
struct Batching {
  std::int64_t size = 20, batch = 4;
  bool threads = false, draws = false, columns = false, shuffle = true;
  std::optional<std::uint64_t> seed = {};
};

inline std::vector<Batching> kinds() {
  return {{},
          {.size = 10, .batch = 4},  // batches extend over the end of an epoch
          {.size = 5, .batch = 12},  // every batch extends over the end of an epoch
          {.size = 8, .batch = 8},   // an epoch is a batch
          {.columns = true},
          {.size = 10, .batch = 4, .columns = true, .seed = 3},
          {.size = 11, .batch = 4, .threads = true, .draws = true},
          {.size = 12, .batch = 4, .threads = true, .draws = true, .seed = 3}};
}

inline Dataset dataset_of(const Batching& kind) {
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

inline Iterator iterator_of(const Batching& kind, const Dataset& dataset) {
  if (kind.threads)
    return iterators::MultithreadIterator(
        dataset, kind.batch, {.shuffle = kind.shuffle, .n_threads = 2, .n_prefetch = 2, .seed = kind.seed});
  return iterators::SerialIterator(dataset, kind.batch, {.shuffle = kind.shuffle, .seed = kind.seed});
}

/// The arrays of a file by name, without those that differ between runs.
inline std::map<std::string, std::vector<std::byte>> contents(const std::string& file) {
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

/// A training, and values recorded after each update.
struct Progress {
  Progress(const Batching& kind, bool prefetch, std::uint64_t seed = 4) : model(made(seed)) {
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

/// An updater over examples in order, whose loss is the mean of all features.
inline T::StandardUpdater updater_of(const Dataset& dataset, const T::StandardUpdaterOptions& options,
                                     bool repeat = true, std::int64_t batch = 4) {
  const optimizers::SGD optimizer(0.1);
  const Net net;
  net.to_device(current_device());
  optimizer.setup(net);
  T::StandardUpdaterOptions with = options;
  if (!with.loss && !with.update_core) with.loss = [net](const Batch& b) { return F::mean(net(b[0])); };
  return {iterators::SerialIterator(dataset, batch, {.repeat = repeat, .shuffle = false}), optimizer, with};
}

}  // namespace catenary::made_ahead
