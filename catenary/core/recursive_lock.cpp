#include "catenary/core/recursive_lock.h"

#include <algorithm>
#include <chrono>
#include <thread>

namespace catenary {

void RecursiveLock::wait(const void* me) {
  using namespace std::chrono_literals;
  constexpr int kSpins = 64;  // most holders keep it only briefly, to record an operation
  std::chrono::microseconds pause = 1us;
  for (int tries = 0;; ++tries) {
    const void* nobody = nullptr;
    if (owner_.load(std::memory_order_relaxed) == nullptr &&
        owner_.compare_exchange_strong(nobody, me, std::memory_order_acquire))
      return;
    if (tries < kSpins) {
      std::this_thread::yield();
    } else {
      std::this_thread::sleep_for(pause);
      pause = std::min<std::chrono::microseconds>(2 * pause, 1ms);
    }
  }
}

}  // namespace catenary
