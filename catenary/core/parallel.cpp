#include "catenary/core/parallel.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <exception>
#include <memory>
#include <mutex>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include "catenary/core/environment.h"
#include "catenary/core/format.h"
#include "catenary/core/os/process.h"

namespace catenary {
namespace {

thread_local bool inside_body = false;

int initial_threads() {
  if (const int n = environment::number("CATENARY_NUM_THREADS")) return n;
  if (const int n = environment::number("OMP_NUM_THREADS")) return n;
  return os::usable_processors();
}

std::atomic<int>& thread_count() {
  static std::atomic<int> count{initial_threads()};
  return count;
}

// One call of parallel_run: range i of `ranges` is [n * i / ranges, n * (i + 1) / ranges), computed so that it cannot
// overflow.
struct Job {
  std::int64_t n, ranges;
  detail::RangeBody body;
  void* context;
  std::mutex mutex;
  std::exception_ptr error;

  std::int64_t bound(std::int64_t i) const { return n / ranges * i + std::min(i, n % ranges); }

  void run(std::int64_t i) noexcept {
    const bool outer = std::exchange(inside_body, true);
    try {
      body(context, bound(i), bound(i + 1));
    } catch (...) {
      std::lock_guard lock(mutex);
      if (!error) error = std::current_exception();
    }
    inside_body = outer;
  }
};

// Waits a little for `done` without giving the core away: a thread that sleeps takes tens of microseconds to wake, as
// long as a short loop lasts. Not for longer, for another thread or program may want the core.
template <class Done>
bool spin_until(Done done) {
  const auto end = std::chrono::steady_clock::now() + std::chrono::microseconds(100);
  do {
    for (int i = 0; i < 32; ++i) {
      if (done()) return true;
#if defined(__x86_64__)
      __builtin_ia32_pause();
#endif
    }
  } while (std::chrono::steady_clock::now() < end);
  return false;
}

// Range i of a job is offered to worker i, always the same one, which has its part of the arrays in its cache. The
// caller does range 0, then every range that its worker has not taken up yet: a machine whose cores are busy with other
// work makes a loop slower by what those cores are short of, and no more.
class Pool {
 public:
  void run(Job& job) {
    std::unique_lock alone(alone_, std::try_to_lock);
    if (!alone) {  // another thread of the user's has the workers
      for (std::int64_t i = 0; i < job.ranges; ++i) job.run(i);
      return;
    }
    const int offered = std::min(static_cast<int>(job.ranges) - 1, hire(static_cast<int>(job.ranges) - 1));
    job_ = &job;
    unfinished_.store(offered, std::memory_order_relaxed);
    for (int i = 0; i < offered; ++i) workers_[i]->offer();
    job.run(0);
    for (std::int64_t i = offered + 1; i < job.ranges; ++i) job.run(i);
    for (int i = 0; i < offered; ++i) {
      if (!workers_[i]->take()) continue;
      job.run(i + 1);
      unfinished_.fetch_sub(1, std::memory_order_relaxed);
    }
    auto left = [this] { return unfinished_.load(std::memory_order_acquire); };
    if (!spin_until([&] { return left() == 0; })) {
      while (int now = left()) unfinished_.wait(now, std::memory_order_acquire);
    }
  }

 private:
  // What lies on the table between the caller and one worker: its range, or nothing. On a cache line of its own.
  class alignas(64) Worker {
   public:
    void offer() {
      offered_.store(1, std::memory_order_release);
      offered_.notify_one();
    }
    bool take() {
      int one = 1;
      return offered_.compare_exchange_strong(one, 0, std::memory_order_acquire);
    }
    void wait() {
      auto is_offered = [this] { return offered_.load(std::memory_order_relaxed) == 1; };
      if (!spin_until(is_offered)) offered_.wait(0, std::memory_order_relaxed);
    }

   private:
    std::atomic<int> offered_{0};
  };

  // Sees to it that there are `wanted` workers, and gives how many there are: fewer where the system has no more
  // threads to give.
  int hire(int wanted) {
    while (static_cast<int>(workers_.size()) < wanted && !refused_) {
      Worker& worker = *workers_.emplace_back(std::make_unique<Worker>());
      const auto range = static_cast<std::int64_t>(workers_.size());
      try {
        std::thread([this, range, &worker] { work(range, worker); }).detach();
      } catch (const std::system_error& error) {
        workers_.pop_back();
        refused_ = true;
        fmt::print(stderr, "catenary: loops run on {} threads instead of {}: {}\n", range, wanted + 1, error.what());
      }
    }
    return static_cast<int>(workers_.size());
  }

  [[noreturn]] void work(std::int64_t range, Worker& self) {
    for (;;) {
      self.wait();
      if (!self.take()) continue;  // the caller was faster
      job_->run(range);
      // The caller may leave as soon as this is 0, so nothing of the job is touched any more.
      if (unfinished_.fetch_sub(1, std::memory_order_release) == 1) unfinished_.notify_one();
    }
  }

  std::mutex alone_;
  std::vector<std::unique_ptr<Worker>> workers_;
  bool refused_ = false;
  Job* job_ = nullptr;
  alignas(64) std::atomic<int> unfinished_{0};
};

void run_job(Job& job) {
  // Never destroyed: threads may still be in it when the program ends, and in a forked child, which has no workers, the
  // caller finds every range still on the table.
  static Pool& pool = *new Pool;
  pool.run(job);
}

}  // namespace

int num_threads() { return thread_count().load(std::memory_order_relaxed); }

void set_num_threads(int n) {
  if (n < 1) fail<ValueError>("set_num_threads: expected 1 or more, got {}", n);
  thread_count().store(n, std::memory_order_relaxed);
}

void detail::parallel_run(std::int64_t n, std::int64_t grain, RangeBody body, void* context) {
  grain = std::max<std::int64_t>(grain, 1);
  const int threads = num_threads();
  const std::int64_t ranges = std::min<std::int64_t>(threads, n / grain + (n % grain != 0));
  if (inside_body || ranges <= 1) {
    body(context, 0, n);
    return;
  }
  Job job{n, ranges, body, context, {}, {}};
  run_job(job);
  if (job.error) std::rethrow_exception(job.error);
}

}  // namespace catenary
