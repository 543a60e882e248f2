#include "catenary/core/os/signals.h"

#include <atomic>
#include <mutex>

#include "catenary/core/os/system_signals.h"

namespace catenary::os {

namespace {

// a signal handler may only touch lock-free atomics
std::atomic<int> first_signal{0};
static_assert(std::atomic<int>::is_always_lock_free);
std::mutex mutex;
int living = 0;  // guarded by the mutex

}  // namespace

bool note_first_signal(int number) {
  int none = 0;
  return first_signal.compare_exchange_strong(none, number);
}

ScopedSignals::ScopedSignals() {
  const std::lock_guard lock(mutex);
  if (living++ > 0) return;
  first_signal = 0;
  set_signal_handlers();
}

ScopedSignals::~ScopedSignals() {
  const std::lock_guard lock(mutex);
  if (--living == 0) restore_signal_handlers();
}

int ScopedSignals::received() const { return first_signal; }

int received_signal() {
  const std::lock_guard lock(mutex);
  return living > 0 ? first_signal.load() : 0;
}

}  // namespace catenary::os
