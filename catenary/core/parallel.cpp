#include "catenary/core/parallel.h"

#include <algorithm>
#include <atomic>
#include <charconv>
#include <cstdlib>
#include <exception>
#include <mutex>
#include <string_view>
#include <thread>
#include <utility>

#include "catenary/core/format.h"

// The thread sanitizer does not see the barriers of libgomp and reports races that are none: it gets threads of our
// own.
#if defined(__SANITIZE_THREAD__)
#  define CT_PARALLEL_STD 1
#elif defined(__has_feature)
#  if __has_feature(thread_sanitizer)
#    define CT_PARALLEL_STD 1
#  endif
#endif

#ifdef CT_PARALLEL_STD
#  include <condition_variable>
#  include <vector>
#else
#  include <omp.h>
#endif

namespace catenary {
namespace {

thread_local bool inside_body = false;

int threads_from_environment(const char* name) {
  const char* text = std::getenv(name);
  if (!text || !*text) return 0;
  std::string_view all = text;
  int value = 0;
  auto [end, error] = std::from_chars(all.data(), all.data() + all.size(), value);
  // OMP_NUM_THREADS may list one number for each level of nesting; the first counts.
  const bool ends_well = end == all.data() + all.size() || *end == ',';
  if (error != std::errc() || !ends_well || value < 1)
    fail<ValueError>("{}={}: expected a number of threads, 1 or more", name, all);
  return value;
}

int initial_threads() {
  if (int n = threads_from_environment("CATENARY_NUM_THREADS")) return n;
  if (int n = threads_from_environment("OMP_NUM_THREADS")) return n;
#ifdef CT_PARALLEL_STD
  return std::max(1u, std::thread::hardware_concurrency());
#else
  return omp_get_num_procs();
#endif
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
    if (i >= ranges) return;
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

#ifdef CT_PARALLEL_STD

class Pool {
 public:
  void run(Job& job, int threads) {
    std::unique_lock alone(alone_, std::try_to_lock);
    if (!alone) {  // another thread of the user's has the workers
      for (std::int64_t i = 0; i < job.ranges; ++i) job.run(i);
      return;
    }
    {
      std::lock_guard lock(mutex_);
      while (static_cast<int>(workers_.size()) + 1 < threads) {
        const auto index = static_cast<std::int64_t>(workers_.size()) + 1;
        workers_.emplace_back([this, index, seen = generation_] { work(index, seen); });
      }
      job_ = &job;
      pending_ = workers_.size();
      ++generation_;
    }
    start_.notify_all();
    job.run(0);
    std::unique_lock lock(mutex_);
    done_.wait(lock, [&] { return pending_ == 0; });
    job_ = nullptr;
  }

  ~Pool() {
    {
      std::lock_guard lock(mutex_);
      stop_ = true;
    }
    start_.notify_all();
    for (std::thread& worker : workers_) worker.join();
  }

 private:
  void work(std::int64_t index, std::uint64_t seen) {
    std::unique_lock lock(mutex_);
    for (;;) {
      start_.wait(lock, [&] { return stop_ || generation_ != seen; });
      if (stop_) return;
      seen = generation_;
      Job* job = job_;
      lock.unlock();
      job->run(index);
      lock.lock();
      if (--pending_ == 0) done_.notify_one();
    }
  }

  std::mutex alone_, mutex_;
  std::condition_variable start_, done_;
  std::vector<std::thread> workers_;
  Job* job_ = nullptr;
  std::size_t pending_ = 0;
  std::uint64_t generation_ = 0;
  bool stop_ = false;
};

void run_job(Job& job, int threads) {
  static Pool pool;
  pool.run(job, threads);
}

#else

void run_job(Job& job, [[maybe_unused]] int threads) {
  // Always the whole team: libgomp ends threads when a team shrinks and starts them again when it grows. It may give
  // fewer than asked.
#  pragma omp parallel num_threads(threads)
  {
    for (std::int64_t i = omp_get_thread_num(); i < job.ranges; i += omp_get_num_threads()) job.run(i);
  }
}

#endif

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
  run_job(job, threads);
  if (job.error) std::rethrow_exception(job.error);
}

}  // namespace catenary
