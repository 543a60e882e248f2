#pragma once
// A lock for data that one thread uses all the time and others rarely.

#include <atomic>

#include "catenary/core/export.h"

namespace catenary {

/// A recursive mutex that takes half the time of std::recursive_mutex when uncontended: unlocking is a plain store. A
/// waiting thread retries at growing intervals of at most a millisecond.
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
  /// Returns how many times the owning thread has locked it.
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
