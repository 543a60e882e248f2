#pragma once
// Running a function once, in whichever thread comes first.

#include <atomic>
#include <mutex>
#include <utility>

namespace catenary {

/// Runs a function at the first call. Other threads wait for it. If the function throws, the next call runs it again.
/// (std::call_once does not link with every standard library for Windows.)
class Once {
 public:
  template <class F>
  void operator()(F&& f) {
    if (done_.load(std::memory_order_acquire)) return;
    const std::lock_guard lock(mutex_);
    if (done_.load(std::memory_order_relaxed)) return;
    std::forward<F>(f)();
    done_.store(true, std::memory_order_release);
  }

 private:
  std::atomic<bool> done_{false};
  std::mutex mutex_;
};

}  // namespace catenary
