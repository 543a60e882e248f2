#pragma once
// A lock for what one thread uses all the time and others hardly ever.

#include <atomic>

#include "catenary/core/export.h"

namespace catenary {

/// As std::recursive_mutex, in half of its time where nobody else wants it: it is given back by a plain store. Who
/// finds it taken looks again at growing intervals, of a millisecond at most.
class CT_API RecursiveLock {
 public:
  RecursiveLock() = default;
  RecursiveLock(const RecursiveLock&) = delete;

  void lock() {
    const void* const me = this_thread();
    if (owner_.load(std::memory_order_relaxed) != me) {
      const void* nobody = nullptr;
      if (!owner_.compare_exchange_strong(nobody, me, std::memory_order_acquire)) wait(me);
    }
    ++depth_;
  }
  void unlock() {
    if (--depth_ == 0) owner_.store(nullptr, std::memory_order_release);
  }
  /// How often the thread that has it has taken it.
  int depth() const { return depth_; }

 private:
  static const void* this_thread() {
    static thread_local const char here = 0;
    return &here;
  }
  void wait(const void* me);

  std::atomic<const void*> owner_{nullptr};
  int depth_ = 0;
};

}  // namespace catenary
