#include "catenary/core/os/signals.h"

#include <signal.h>

#include <atomic>
#include <mutex>

namespace catenary::os {

namespace {

static_assert(kKill == SIGKILL && kTerminate == SIGTERM && kContinue == SIGCONT);
constexpr int kSignals[] = {SIGINT, SIGTERM, SIGHUP, SIGXCPU, SIGXFSZ};
constexpr int kCount = 5;

// a signal handler may only touch lock-free atomics
std::atomic<int> first_signal{0};
struct sigaction previous[kCount];
static_assert(std::atomic<int>::is_always_lock_free);
std::mutex mutex;
int living = 0;  // guarded by the mutex

void on_signal(int number) {
  int none = 0;
  if (number == SIGXFSZ) return;
  if (first_signal.compare_exchange_strong(none, number)) return;
  if (number == SIGXCPU) return;
  // the second time, act as if there were no handler
  for (int i = 0; i < kCount; ++i)
    if (kSignals[i] == number) ::sigaction(number, &previous[i], nullptr);
  ::raise(number);
}

}  // namespace

ScopedSignals::ScopedSignals() {
  const std::lock_guard lock(mutex);
  if (living++ > 0) return;
  first_signal = 0;
  struct sigaction action {};
  action.sa_handler = on_signal;
  action.sa_flags = SA_RESTART;
  ::sigemptyset(&action.sa_mask);
  for (int i = 0; i < kCount; ++i) {
    ::sigaction(kSignals[i], nullptr, &previous[i]);
    if (previous[i].sa_handler != SIG_IGN) ::sigaction(kSignals[i], &action, nullptr);
  }
}

ScopedSignals::~ScopedSignals() {
  const std::lock_guard lock(mutex);
  if (--living > 0) return;
  for (int i = 0; i < kCount; ++i) ::sigaction(kSignals[i], &previous[i], nullptr);
}

int ScopedSignals::received() const { return first_signal; }

int received_signal() {
  const std::lock_guard lock(mutex);
  return living > 0 ? first_signal.load() : 0;
}

std::string signal_name(int number) {
  switch (number) {
    case SIGINT:
      return "SIGINT";
    case SIGTERM:
      return "SIGTERM";
    case SIGSEGV:
      return "SIGSEGV";
    case SIGABRT:
      return "SIGABRT";
    case SIGBUS:
      return "SIGBUS";
    case SIGILL:
      return "SIGILL";
    case SIGFPE:
      return "SIGFPE";
    case SIGKILL:
      return "SIGKILL";
    case SIGHUP:
      return "SIGHUP";
    case SIGPIPE:
      return "SIGPIPE";
    case SIGQUIT:
      return "SIGQUIT";
    case SIGTRAP:
      return "SIGTRAP";
    case SIGSYS:
      return "SIGSYS";
    case SIGXCPU:
      return "SIGXCPU";
    case SIGXFSZ:
      return "SIGXFSZ";
    default:
      return "signal " + std::to_string(number);
  }
}

}  // namespace catenary::os
