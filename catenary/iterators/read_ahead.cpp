#include "catenary/iterators/read_ahead.h"

#include <algorithm>
#include <condition_variable>
#include <deque>
#include <exception>
#include <mutex>
#include <thread>

#include "catenary/array/random.h"

namespace catenary::iterators {

namespace {

/// Random numbers of an example: independent of the reading thread, the time of reading and resuming, and separate from
/// the training thread's numbers, which provide the seed. Leaves room for 2³² numbers per example.
random::Generator numbers_of(const ReadAhead::Wish& wish) {
  return {~random::default_generator().seed, static_cast<std::uint64_t>(wish.place) << 32};
}

/// A requested example. Guarded by the mutex of the state.
struct Slot {
  ReadAhead::Wish wish;
  random::Generator generator;
  bool done = false;
  Example example = {};
  std::exception_ptr error = {};
};

}  // namespace

struct ReadAhead::State {
  State(const Dataset& d, int n) : dataset(d), n_threads(n) {}

  const Dataset dataset;
  const int n_threads;
  std::mutex mutex;
  std::condition_variable work, done;
  std::deque<std::shared_ptr<Slot>> asked;    // in order, for the calling thread only
  std::deque<std::shared_ptr<Slot>> waiting;  // not begun yet
  bool stopping = false;
  std::vector<std::thread> threads;

  void serve() {
    std::unique_lock lock(mutex);
    for (;;) {
      work.wait(lock, [&] { return stopping || !waiting.empty(); });
      if (stopping) return;
      const std::shared_ptr<Slot> slot = std::move(waiting.front());
      waiting.pop_front();
      lock.unlock();
      Example example;
      std::exception_ptr error;
      try {
        random::set_state(slot->generator);
        example = dataset[slot->wish.index];
        // deferred operations belong to the thread that began them, so run them here
        for (const Array& array : example.values) array.eval();
      } catch (...) {
        error = std::current_exception();
      }
      lock.lock();
      slot->example = std::move(example);
      slot->error = error;
      slot->done = true;
      done.notify_one();
    }
  }

  void forget() {
    asked.clear();
    waiting.clear();
  }
  void ask(const Wish& wish) {
    const auto slot = std::make_shared<Slot>();
    slot->wish = wish;
    slot->generator = numbers_of(wish);
    asked.push_back(slot);
    waiting.push_back(slot);
  }
};

ReadAhead::ReadAhead(const Dataset& dataset, int n_threads) : state_(std::make_unique<State>(dataset, n_threads)) {}
ReadAhead::~ReadAhead() { stop(); }

std::vector<Example> ReadAhead::read(const std::vector<Wish>& now, const std::vector<Wish>& later) {
  State& s = *state_;
  std::unique_lock lock(s.mutex);
  std::vector<Wish> wishes = now;
  wishes.insert(wishes.end(), later.begin(), later.end());
  const bool foreseen =
      s.asked.size() <= wishes.size() &&
      std::equal(s.asked.begin(), s.asked.end(), wishes.begin(), [](const auto& slot, const Wish& wish) {
        return slot->wish == wish && slot->generator.seed == numbers_of(wish).seed;
      });
  if (!foreseen) s.forget();
  for (std::size_t i = s.asked.size(); i < wishes.size(); ++i) s.ask(wishes[i]);
  while (s.threads.size() < static_cast<std::size_t>(s.n_threads)) s.threads.emplace_back([&s] { s.serve(); });
  s.work.notify_all();
  std::vector<Example> examples;
  for (std::size_t i = 0; i < now.size(); ++i) {
    const std::shared_ptr<Slot> slot = std::move(s.asked.front());
    s.asked.pop_front();
    s.done.wait(lock, [&] { return slot->done; });
    if (slot->error) std::rethrow_exception(slot->error);
    examples.push_back(std::move(slot->example));
  }
  return examples;
}

void ReadAhead::clear() {
  const std::lock_guard lock(state_->mutex);
  state_->forget();
}

void ReadAhead::stop() {
  State& s = *state_;
  clear();
  {
    const std::lock_guard lock(s.mutex);
    s.stopping = true;
  }
  s.work.notify_all();
  for (std::thread& thread : s.threads) thread.join();
  s.threads.clear();
  s.stopping = false;
}

}  // namespace catenary::iterators
