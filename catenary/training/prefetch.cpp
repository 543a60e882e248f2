#include "catenary/training/prefetch.h"

#include <algorithm>
#include <condition_variable>
#include <exception>
#include <mutex>
#include <thread>
#include <utility>

#include "catenary/array/random.h"
#include "catenary/core/config.h"
#include "catenary/core/error.h"
#include "catenary/device/stream.h"

namespace catenary::training {

namespace {

constexpr detail::Setting kSettings[] = {
#define CT_SETTING(type, name, initial) detail::Setting::name,
#include "catenary/core/settings.def"
#undef CT_SETTING
};

}  // namespace

/// The state that making a minibatch may depend on beside the iterator: the thread's settings, its random seed and the
/// devices.
struct Prefetch::Circumstances {
  explicit Circumstances(const std::vector<Device>& devices)
      : current(current_device()), devices(devices), seed(random::get_state().seed) {
    for (const detail::Setting s : kSettings) {
      own.push_back(detail::local_setting(s));
      in_effect.push_back(detail::setting(s));
    }
  }
  /// Applies them to the calling thread.
  void use() const {
    for (std::size_t i = 0; i < own.size(); ++i) detail::set_local_setting(kSettings[i], own[i]);
    current.use();
  }
  bool operator==(const Circumstances&) const = default;

  std::vector<int> own;
  std::vector<std::uint8_t> in_effect;
  Device current;
  std::vector<Device> devices;
  std::uint64_t seed;
};

struct Prefetch::State {
  /// A minibatch that is made or will be made.
  struct Job {
    Circumstances circumstances;
    iterators::Upcoming upcoming;
    random::Generator numbers;
    std::vector<Batch> result = {};
    std::exception_ptr error = {};
  };

  State(const Iterator& of, Convert c) : iterator(of), convert(std::move(c)) {}

  const Iterator iterator;
  const Convert convert;
  std::vector<std::int64_t> place;  // the next minibatch when next() returned
  std::vector<Stream> streams;      // of the thread: its uploads run in parallel with the computation
  std::unique_ptr<Job> job;         // belongs to the thread while `working`
  std::mutex mutex;
  std::condition_variable changed;
  bool working = false, stopping = false;
  std::thread thread;

  void begin(iterators::Upcoming upcoming, const Circumstances& circumstances) {
    wait();
    job.reset();
    give_stream(circumstances.current);
    for (const Device& device : circumstances.devices) give_stream(device);
    // dataset and converter may read anything that the calling thread has submitted so far
    for (const Stream& stream : streams) stream.wait(current_stream(stream.device()).record());
    if (!thread.joinable()) thread = std::thread([this] { serve(); });
    job.reset(new Job{circumstances, std::move(upcoming), random::get_state()});
    const std::lock_guard lock(mutex);
    working = true;
    changed.notify_all();
  }

  void give_stream(const Device& device) {
    if (std::ranges::find(streams, device, &Stream::device) == streams.end()) streams.emplace_back(device);
  }

  std::vector<Batch> take() {
    wait();
    const std::unique_ptr<Job> done = std::move(job);
    if (done->error) std::rethrow_exception(done->error);
    return std::move(done->result);
  }

  void wait() {
    std::unique_lock lock(mutex);
    changed.wait(lock, [&] { return !working; });
  }

  void serve() {
    std::unique_lock lock(mutex);
    for (;;) {
      changed.wait(lock, [&] { return working || stopping; });
      if (!working) return;
      lock.unlock();
      try {
        work(*job);
      } catch (...) {
        job->error = std::current_exception();
        job->result.clear();
      }
      lock.lock();
      working = false;
      changed.notify_all();
    }
  }

  void work(Job& of) const {
    of.circumstances.use();
    random::set_state(of.numbers);
    std::vector<std::unique_ptr<Stream::Use>> uses;  // when they end, they run pending operations of this thread
    for (const Stream& stream : streams) uses.push_back(std::make_unique<Stream::Use>(stream));
    of.result = convert(of.upcoming.make(), of.circumstances.devices);
    if (random::get_state().call != of.numbers.call)
      throw ValueError(
          "prefetch: the dataset or the converter drew random numbers of the thread, where it is the training that "
          "decides which come next. Read the dataset by a MultithreadIterator, which gives each example numbers of its "
          "own, draw in the loss, or leave prefetch out");
    // nobody else waits here, so device errors are reported for this minibatch
    for (const Stream& stream : streams) stream.synchronize();
  }

  void stop() {
    wait();
    job.reset();
    if (!thread.joinable()) return;
    {
      const std::lock_guard lock(mutex);
      stopping = true;
      changed.notify_all();
    }
    thread.join();
    stopping = false;
  }
};

Prefetch::Prefetch(const Iterator& iterator, Convert convert)
    : state_(std::make_unique<State>(iterator, std::move(convert))) {
  if (!iterator.looks_ahead())
    throw ValueError(
        "prefetch: the iterator 'main' cannot look ahead. SerialIterator and MultithreadIterator can, and "
        "those of create_multi_node_iterator do not; one of your own overrides looks_ahead, upcoming and advance");
}

Prefetch::~Prefetch() { stop(); }

void Prefetch::stop() { state_->stop(); }

std::optional<std::vector<Batch>> Prefetch::next(const std::vector<Device>& devices) {
  State& s = *state_;
  const Circumstances here(devices);
  std::optional<iterators::Upcoming> wanted = s.iterator.upcoming();
  std::optional<std::vector<Batch>> result;
  s.wait();
  const bool foreseen = wanted && s.job && s.job->upcoming.which == wanted->which && s.job->circumstances == here;
  if (wanted) {
    if (!foreseen) s.begin(std::move(*wanted), here);
    s.iterator.advance();
    result = s.take();
  } else {  // next() must draw a new order first, or the iterator has ended
    s.job.reset();
    const std::optional<Minibatch> batch = s.iterator.next();
    if (batch) result = s.convert(*batch, devices);
  }
  wanted = s.iterator.upcoming();
  s.place = wanted ? wanted->which : std::vector<std::int64_t>();
  if (wanted) s.begin(std::move(*wanted), here);
  return result;
}

void Prefetch::check_place() const {
  const std::optional<iterators::Upcoming> now = state_->iterator.upcoming();
  if (now ? now->which != state_->place : !state_->place.empty())
    throw ValueError(
        "prefetch: update_core took from the iterator 'main', whose next minibatch has been begun; give it another "
        "iterator, or leave prefetch out");
}

}  // namespace catenary::training
