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

constexpr std::int64_t kRangesPerThread = 4;  // of a long loop: bounds the work left when other threads are done

int initial_threads() {
  if (const int n = environment::number("CATENARY_NUM_THREADS")) return n;
  if (const int n = environment::number("OMP_NUM_THREADS")) return n;
  return os::usable_processors();
}

std::atomic<int>& thread_count() {
  static std::atomic<int> count{initial_threads()};
  return count;
}

std::int64_t cut(std::int64_t n, std::int64_t parts, std::int64_t i) {  // n * i / parts without overflow
  return n / parts * i + std::min(i, n % parts);
}

// One call of parallel_run: range i is [cut(n, ranges, i), cut(n, ranges, i + 1)).
struct Job {
  std::int64_t n, ranges;
  detail::RangeBody body;
  void* context;
  std::mutex mutex;
  std::exception_ptr error;

  void run(std::int64_t i) noexcept {
    const bool outer = std::exchange(inside_body, true);
    try {
      body(context, cut(n, ranges, i), cut(n, ranges, i + 1));
    } catch (...) {
      std::lock_guard lock(mutex);
      if (!error) error = std::current_exception();
    }
    inside_body = outer;
  }
};

// Spins briefly until `done`. Waking a sleeping thread takes tens of microseconds, as long as a short loop. Spins no
// longer, because another thread or program may need the core.
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

// Threads that share the ranges of a job. Each thread begins with neighbouring ranges, always the same ones for the
// same thread, whose part of the arrays is then in its cache; thread 0 is the caller. A finished thread takes ranges
// that others have not begun. Neither a slow core nor a thread that has not woken up then delays a loop.
class Pool {
 public:
  void run(Job& job, int threads) {
    std::unique_lock alone(alone_, std::try_to_lock);
    if (!alone) {  // another user thread has the workers
      for (std::int64_t i = 0; i < job.ranges; ++i) job.run(i);
      return;
    }
    job_ = &job;
    threads_ = hire(threads);
    for (int t = 0; t < threads_; ++t) crew_[t]->next.store(first_range(t), std::memory_order_relaxed);
    unfinished_.store(threads_ - 1, std::memory_order_relaxed);
    for (int t = 1; t < threads_; ++t) crew_[t]->offer();
    work(0);
    for (int t = 1; t < threads_; ++t)
      if (crew_[t]->take()) unfinished_.fetch_sub(1, std::memory_order_relaxed);
    auto left = [this] { return unfinished_.load(std::memory_order_acquire); };
    if (!spin_until([&] { return left() == 0; })) {
      while (int now = left()) unfinished_.wait(now, std::memory_order_acquire);
    }
  }

 private:
  struct Thread {
    /// This thread's next range that nobody has begun.
    alignas(64) std::atomic<std::int64_t> next{0};

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
    alignas(64) std::atomic<int> offered_{0};  // a job is waiting for this thread
  };

  std::int64_t first_range(int thread) const { return cut(job_->ranges, threads_, thread); }

  void work(int self) {
    for (int i = 0; i < threads_; ++i) {
      const int owner = (self + i) % threads_;
      const std::int64_t end = first_range(owner + 1);
      std::atomic<std::int64_t>& next = crew_[owner]->next;
      while (next.load(std::memory_order_relaxed) < end) {
        const std::int64_t range = next.fetch_add(1, std::memory_order_relaxed);
        if (range < end) job_->run(range);
      }
    }
  }

  // Makes threads until there are `wanted`, with the caller, and returns their number, which may be smaller if the
  // system refuses.
  int hire(int wanted) {
    if (crew_.empty()) crew_.push_back(std::make_unique<Thread>());
    while (static_cast<int>(crew_.size()) < wanted && !refused_) {
      Thread& thread = *crew_.emplace_back(std::make_unique<Thread>());
      const int number = static_cast<int>(crew_.size()) - 1;
      try {
        std::thread([this, number, &thread] { serve(number, thread); }).detach();
      } catch (const std::system_error& error) {
        crew_.pop_back();
        refused_ = true;
        fmt::print(stderr, "catenary: loops run on {} threads instead of {}: {}\n", number, wanted, error.what());
      }
    }
    return std::min(wanted, static_cast<int>(crew_.size()));
  }

  [[noreturn]] void serve(int number, Thread& self) {
    for (;;) {
      self.wait();
      if (!self.take()) continue;  // the caller was faster
      work(number);
      // The caller may return as soon as this is 0, so do not touch the job afterwards.
      if (unfinished_.fetch_sub(1, std::memory_order_release) == 1) unfinished_.notify_one();
    }
  }

  std::mutex alone_;
  std::vector<std::unique_ptr<Thread>> crew_;
  bool refused_ = false;
  Job* job_ = nullptr;
  int threads_ = 0;  // of this job
  alignas(64) std::atomic<int> unfinished_{0};
};

Pool& pool() {
  // Never destroyed, because threads may still use it when the program ends. In a forked child without workers, the
  // caller runs all ranges itself.
  static Pool& pool = *new Pool;
  return pool;
}

}  // namespace

int num_threads() { return thread_count().load(std::memory_order_relaxed); }

void set_num_threads(int n) {
  if (n < 1) fail<ValueError>("set_num_threads: expected 1 or more, got {}", n);
  thread_count().store(n, std::memory_order_relaxed);
}

void detail::parallel_run(std::int64_t n, std::int64_t grain, RangeBody body, void* context) {
  grain = std::max<std::int64_t>(grain, 1);
  const std::int64_t pieces = n / grain + (n % grain != 0);
  const int threads = static_cast<int>(std::min<std::int64_t>(num_threads(), pieces));
  if (inside_body || threads <= 1) {
    body(context, 0, n);
    return;
  }
  Job job{n, std::min(pieces, kRangesPerThread * threads), body, context, {}, {}};
  pool().run(job, threads);
  if (job.error) std::rethrow_exception(job.error);
}

}  // namespace catenary
