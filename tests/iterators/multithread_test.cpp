#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cmath>
#include <condition_variable>
#include <mutex>
#include <set>
#include <thread>

#include "catenary/array/lazy.h"
#include "catenary/array/random.h"
#include "catenary/core/os/file.h"
#include "catenary/datasets/datasets.h"
#include "catenary/iterators/iterators.h"
#include "tests/folder.h"

namespace ct = catenary;

namespace {

using Ints = std::vector<int>;

/// Makes numbers one by one. Counts the reads and can fail at a chosen number.
class Numbers final : public ct::datasets::DatasetMixin {
 public:
  struct Shared {
    std::atomic<int> read{0}, at_once{0}, most_at_once{0};
    std::atomic<std::int64_t> fails_at{-1};
  };
  explicit Numbers(std::int64_t size) : size_(size) {}
  std::int64_t size() const override { return size_; }
  ct::Example get_example(std::int64_t i) const override {
    ++shared->read;
    const int now = ++shared->at_once;
    int most = shared->most_at_once;
    while (now > most && !shared->most_at_once.compare_exchange_weak(most, now)) {
    }
    if (pause.count() > 0) std::this_thread::sleep_for(pause);
    --shared->at_once;
    if (i == shared->fails_at) throw ct::FileError("number " + std::to_string(i) + " cannot be read");
    const auto value = static_cast<float>(i);
    const ct::Array number = ct::Array::from_host(&value, {}, ct::Dtype::float32, ct::Device());
    if (!draws) return {{number * 2.0 + 1.0}, {}};
    return {{number * 2.0 + 1.0, ct::random::uniform(0.0, 1.0, ct::Shape{2})}, {}};
  }
  bool draws = false;
  std::chrono::microseconds pause{0};
  std::shared_ptr<Shared> shared = std::make_shared<Shared>();

 private:
  std::int64_t size_;
};

Ints numbers_of(const ct::Minibatch& batch) {
  Ints result;
  for (const ct::Example& example : batch.examples) result.push_back((example.values[0].item<int>() - 1) / 2);
  return result;
}

std::vector<Ints> all_of(const ct::Iterator& iterator, std::vector<double>& details) {
  std::vector<Ints> batches;
  for (int i = 0; i < 12; ++i) {
    const auto batch = iterator.next();
    if (!batch) break;
    EXPECT_EQ(batch->size, static_cast<std::int64_t>(batch->examples.size()));
    batches.push_back(numbers_of(*batch));
    details.push_back(iterator.epoch_detail());
    EXPECT_EQ(iterator.is_new_epoch(), std::floor(details.back()) > std::floor(*iterator.previous_epoch_detail()));
  }
  return batches;
}

TEST(MultithreadIterator, SameBatchesAsSerial) {
  const Numbers numbers(10);
  for (const bool shuffle : {true, false}) {
    for (const bool repeat : {true, false}) {
      for (const int batch_size : {1, 4, 10, 23}) {
        ct::random::seed(5);
        std::vector<double> expected_details, details;
        const std::vector<Ints> expected =
            all_of(ct::iterators::SerialIterator(numbers, batch_size, {.repeat = repeat, .shuffle = shuffle}),
                   expected_details);
        const ct::random::Generator after = ct::random::get_state();
        for (const int n_threads : {1, 3}) {
          for (const int n_prefetch : {0, 1, 5}) {
            ct::random::seed(5);
            details.clear();
            const ct::iterators::MultithreadIterator threads(
                numbers, batch_size,
                {.repeat = repeat, .shuffle = shuffle, .n_threads = n_threads, .n_prefetch = n_prefetch});
            EXPECT_EQ(all_of(threads, details), expected);
            EXPECT_EQ(details, expected_details);
            EXPECT_EQ(ct::random::get_state().call, after.call);
            threads.reset();
            if (!shuffle) {
              EXPECT_EQ(numbers_of(*threads.next()), expected[0]);
            }
          }
        }
      }
    }
  }
  EXPECT_THROW(ct::iterators::MultithreadIterator(numbers, 2, {.n_threads = 0}), ct::ValueError);
  EXPECT_THROW(ct::iterators::MultithreadIterator(numbers, 2, {.n_prefetch = -1}), ct::ValueError);
}

TEST(MultithreadIterator, ReadsAheadOnSeveralThreads) {
  Numbers numbers(100);
  numbers.pause = std::chrono::milliseconds(2);
  const ct::iterators::MultithreadIterator threads(numbers, 5, {.n_threads = 4, .n_prefetch = 3});
  threads.next();
  for (int i = 0; i < 2000 && numbers.shared->read < 20; ++i) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  EXPECT_EQ(numbers.shared->read, 20);  // one batch, and three ahead
  EXPECT_GT(numbers.shared->most_at_once, 1);
  threads.next();
  threads.finalize();
  EXPECT_LE(numbers.shared->read, 25);
  EXPECT_EQ(threads.next()->size, 5);  // works after finalize()
}

TEST(MultithreadIterator, ResumesExactly) {
  const std::string folder = ct::os::make_temporary_directory("catenary-iterators");
  Numbers numbers(17);
  numbers.draws = true;
  const ct::iterators::MultithreadOptions options{.n_threads = 3, .n_prefetch = 2};
  const auto rest = [](const ct::Iterator& iterator) {
    std::vector<float> seen;
    for (int i = 0; i < 12; ++i) {
      const ct::Minibatch batch = *iterator.next();
      for (const ct::Example& example : batch.examples) {
        seen.push_back(example.values[0].item<float>());
        for (float value : example.values[1].to_vector<float>()) seen.push_back(value);
      }
    }
    return seen;
  };
  for (const int consumed : {0, 1, 3, 9}) {
    ct::random::seed(8);
    const ct::iterators::MultithreadIterator whole(numbers, 4, options);
    for (int i = 0; i < consumed; ++i) whole.next();
    ct::serializers::save_npz(folder + "/iterator.npz", whole);
    const ct::random::Generator state = ct::random::get_state();
    const std::vector<float> expected = rest(whole);

    ct::random::seed(1234);
    const ct::iterators::MultithreadIterator resumed(numbers, 4, options);
    for (int i = 0; i < 2; ++i) resumed.next();  // its prefetched examples must be dropped
    ct::serializers::load_npz(folder + "/iterator.npz", resumed);
    ct::random::set_state(state);
    EXPECT_EQ(rest(resumed), expected) << consumed;
    // a SerialIterator can load the snapshot too
    const ct::iterators::SerialIterator serial(numbers, 4);
    ct::serializers::load_npz(folder + "/iterator.npz", serial);
    EXPECT_EQ(serial.next()->examples[0].values[0].item<float>(), expected[0]);
  }
  ct::os::remove_directory(folder);
}

/// Each example makes two calls for random numbers. Records the indices that are read. The second read can be made to
/// wait.
class Draws final : public ct::datasets::DatasetMixin {
 public:
  struct Shared {
    std::mutex mutex;
    std::condition_variable changed;
    Ints read;
    bool second_waits = false;
  };
  std::int64_t size() const override { return 6; }
  ct::Example get_example(std::int64_t i) const override {
    {
      std::unique_lock lock(shared->mutex);
      shared->read.push_back(static_cast<int>(i));
      shared->changed.notify_all();
      if (shared->read.size() == 2) shared->changed.wait(lock, [&] { return !shared->second_waits; });
    }
    const ct::random::RandomOptions on_host{.device = ct::Device()};
    const ct::Array first = ct::random::uniform(0.0, 1.0, ct::Shape{2}, on_host) * 1.0;
    return {{first, ct::random::uniform(0.0, 1.0, ct::Shape{2}, on_host)}, {}};
  }
  std::shared_ptr<Shared> shared = std::make_shared<Shared>();
};

std::vector<double> drawn(const ct::Iterator& iterator, int batches) {
  std::vector<double> all;
  for (int i = 0; i < batches; ++i) {
    const ct::Minibatch batch = *iterator.next();
    for (const ct::Example& example : batch.examples)
      for (const ct::Array& values : example.values)
        for (const double value : values.to_vector<double>()) all.push_back(value);
  }
  return all;
}

// An example's random numbers depend only on the seed and on its position among the examples of all epochs, not on the
// thread or the time of reading. They differ in every epoch and from the numbers that the training draws.
TEST(MultithreadIterator, AnExamplesRandomNumbersAreItsPlaces) {
  const Draws draws;
  std::optional<std::vector<double>> expected;
  for (const int n_threads : {1, 3}) {
    for (const int n_prefetch : {0, 1, 5}) {
      ct::random::seed(5);
      const ct::iterators::MultithreadIterator batches(
          draws, 4, {.shuffle = false, .n_threads = n_threads, .n_prefetch = n_prefetch});
      const std::vector<double> all = drawn(batches, 6);  // four epochs
      ASSERT_EQ(all.size(), 6u * 4 * 4);
      if (!expected) expected = all;
      EXPECT_EQ(all, *expected) << n_threads << " threads, " << n_prefetch << " ahead";
    }
  }
  ct::random::seed(5);
  for (int i = 0; i < 50; ++i) expected->push_back(ct::random::uniform(0.0, 1.0, ct::Shape{}).item<double>());
  EXPECT_EQ(std::set<double>(expected->begin(), expected->end()).size(), expected->size());
}

// Examples prefetched for another position or with another seed must be read again, even if they have the right index.
TEST(MultithreadIterator, ExamplesPrefetchedElsewhereAreReadAgain) {
  const tests::Folder folder;
  const Draws draws;
  const ct::iterators::MultithreadOptions options{.shuffle = false, .n_prefetch = 2};
  ct::random::seed(5);
  const ct::iterators::MultithreadIterator whole(draws, 3, options), other(draws, 3, options);
  drawn(whole, 3);
  ct::serializers::save_npz(folder / "iterator.npz", whole);
  const std::vector<double> expected = drawn(whole, 2);
  drawn(other, 1);  // prefetches the same examples for the first epoch
  ct::serializers::load_npz(folder / "iterator.npz", other);
  EXPECT_EQ(drawn(other, 2), expected);

  const auto after_a_seed = [&](std::uint64_t seed) {
    ct::random::seed(seed);
    const ct::iterators::MultithreadIterator batches(draws, 3, options);
    drawn(batches, 1);
    ct::random::seed(7);
    return drawn(batches, 2);
  };
  EXPECT_EQ(after_a_seed(6), after_a_seed(7));
}

// After reset(), examples whose reading has not begun are not read.
TEST(MultithreadIterator, UnneededExamplesAreNotRead) {
  const Draws draws;
  draws.shared->second_waits = true;
  const ct::iterators::MultithreadIterator batches(draws, 1, {.shuffle = false, .n_prefetch = 4});
  batches.next();
  std::unique_lock lock(draws.shared->mutex);
  draws.shared->changed.wait(lock, [&] { return draws.shared->read.size() == 2; });
  lock.unlock();
  batches.reset();
  lock.lock();
  draws.shared->second_waits = false;
  draws.shared->changed.notify_all();
  EXPECT_FALSE(draws.shared->changed.wait_for(lock, std::chrono::milliseconds(50),
                                              [&] { return draws.shared->read.size() > 2; }));
  lock.unlock();
  batches.next();
  lock.lock();
  EXPECT_EQ((Ints{draws.shared->read.begin(), draws.shared->read.begin() + 3}), (Ints{0, 1, 0}));
}

// Reads exactly as far ahead as requested, across the end of an epoch if the next order is known. Reads no example
// twice and none after the end.
TEST(MultithreadIterator, EachExampleIsReadOnce) {
  struct Case {
    bool repeat, shuffle;
    std::vector<std::size_t> read;  // the total after each batch of 3 of 6 examples, with 4 batches read ahead
  };
  for (const Case& c : {Case{true, false, {15, 18, 21, 24}}, {true, true, {6, 12, 12, 18}}, {false, true, {6, 6}}}) {
    const Draws draws;
    const ct::iterators::MultithreadIterator batches(draws, 3,
                                                     {.repeat = c.repeat, .shuffle = c.shuffle, .n_prefetch = 4});
    for (const std::size_t expected : c.read) {
      ASSERT_TRUE(batches.next());
      std::unique_lock lock(draws.shared->mutex);
      draws.shared->changed.wait_for(lock, std::chrono::seconds(20),
                                     [&] { return draws.shared->read.size() >= expected; });
      draws.shared->changed.wait_for(lock, std::chrono::milliseconds(10),
                                     [&] { return draws.shared->read.size() > expected; });
      EXPECT_EQ(draws.shared->read.size(), expected) << c.repeat << c.shuffle;
    }
  }
}

// The reading threads compute the values, so the training thread does not have to.
TEST(MultithreadIterator, ExamplesComeComputed) {
  const Draws draws;
  const ct::iterators::MultithreadIterator batches(draws, 3, {.n_threads = 2, .n_prefetch = 0});
  const ct::Minibatch batch = *batches.next();
  const std::int64_t kernels = ct::kernel_count();
  for (const ct::Example& example : batch.examples)
    for (const ct::Array& values : example.values) values.eval();
  EXPECT_EQ(ct::kernel_count(), kernels);
}

// With a seed, the orders do not depend on other users of random numbers, and the snapshot alone restores them.
TEST(Iterators, ASeedGivesTheOrders) {
  const std::string folder = ct::os::make_temporary_directory("catenary-iterators");
  const Numbers numbers(17);
  const auto three_epochs = [](const ct::Iterator& iterator) {
    Ints seen;
    while (iterator.epoch() < 3) {
      const Ints batch = numbers_of(*iterator.next());
      seen.insert(seen.end(), batch.begin(), batch.end());
      ct::random::bits({3}).eval();  // another user of random numbers
    }
    return seen;
  };
  ct::random::seed(1);
  const Ints expected = three_epochs(ct::iterators::SerialIterator(numbers, 4, {.seed = 5}));
  ct::random::seed(2);
  EXPECT_EQ(three_epochs(ct::iterators::SerialIterator(numbers, 4, {.seed = 5})), expected);
  EXPECT_EQ(three_epochs(ct::iterators::MultithreadIterator(numbers, 4, {.n_threads = 2, .seed = 5})), expected);
  EXPECT_NE(three_epochs(ct::iterators::SerialIterator(numbers, 4, {.seed = 6})), expected);
  const auto epoch = [&](std::ptrdiff_t e) { return Ints(expected.begin() + 17 * e, expected.begin() + 17 * (e + 1)); };
  EXPECT_NE(epoch(0), epoch(1));
  for (std::ptrdiff_t e = 0; e < 3; ++e) {
    Ints all = epoch(e);
    std::sort(all.begin(), all.end());
    for (int i = 0; i < 17; ++i) EXPECT_EQ(all[static_cast<std::size_t>(i)], i);
  }
  // the thread's random numbers are not used
  const std::uint64_t call = ct::random::get_state().call;
  const ct::iterators::SerialIterator first(numbers, 4, {.seed = 5});
  for (int i = 0; i < 6; ++i) first.next();
  EXPECT_EQ(ct::random::get_state().call, call);
  ct::serializers::save_npz(folder + "/iterator.npz", first);
  const ct::iterators::SerialIterator resumed(numbers, 4, {.seed = 5});
  ct::serializers::load_npz(folder + "/iterator.npz", resumed);
  const Ints rest = three_epochs(resumed);
  EXPECT_EQ(rest, Ints(expected.begin() + 24, expected.end()));
  resumed.reset();
  EXPECT_EQ(three_epochs(resumed), expected);
  EXPECT_THROW(ct::iterators::SerialIterator(numbers, 4, {.shuffle = false, .seed = 5}), ct::ValueError);
  EXPECT_THROW(ct::iterators::SerialIterator(
                   numbers, 4, {.order_sampler = [](const auto& order, std::int64_t) { return order; }, .seed = 5}),
               ct::ValueError);
  ct::os::remove_directory(folder);
}

TEST(MultithreadIterator, ExceptionsComeOutOfNext) {
  const Numbers numbers(20);
  numbers.shared->fails_at = 9;
  const ct::iterators::MultithreadIterator threads(numbers, 4, {.shuffle = false, .n_threads = 3, .n_prefetch = 4});
  EXPECT_EQ(numbers_of(*threads.next()), (Ints{0, 1, 2, 3}));
  EXPECT_EQ(numbers_of(*threads.next()), (Ints{4, 5, 6, 7}));
  try {
    threads.next();
    FAIL();
  } catch (const ct::FileError& e) {
    EXPECT_STREQ(e.what(), "number 9 cannot be read");
  }
  EXPECT_EQ(numbers_of(*threads.next()), (Ints{12, 13, 14, 15}));
}

TEST(MultithreadIterator, EndsWhileThreadsWork) {
  Numbers numbers(1000);
  numbers.pause = std::chrono::microseconds(200);
  for (int i = 0; i < 20; ++i) {
    const ct::iterators::MultithreadIterator threads(numbers, 3, {.n_threads = 4, .n_prefetch = 10});
    for (int k = 0; k < i % 3; ++k) threads.next();
    if (i % 2 == 0) threads.reset();
    if (i % 5 == 0) threads.next();
  }
  EXPECT_EQ(numbers.shared->at_once, 0);
}

}  // namespace
