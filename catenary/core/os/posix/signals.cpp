#include "catenary/core/os/signals.h"

#include <signal.h>

#include "catenary/core/os/system_signals.h"

namespace catenary::os {

namespace {

static_assert(kKill == SIGKILL && kTerminate == SIGTERM && kContinue == SIGCONT);
constexpr int kSignals[] = {SIGINT, SIGTERM, SIGHUP, SIGXCPU, SIGXFSZ};
constexpr int kCount = 5;
struct sigaction previous[kCount];

void on_signal(int number) {
  if (number == SIGXFSZ || note_first_signal(number) || number == SIGXCPU) return;
  // the second time, act as if there were no handler
  for (int i = 0; i < kCount; ++i)
    if (kSignals[i] == number) ::sigaction(number, &previous[i], nullptr);
  ::raise(number);
}

}  // namespace

void set_signal_handlers() {
  struct sigaction action {};
  action.sa_handler = on_signal;
  action.sa_flags = SA_RESTART;
  ::sigemptyset(&action.sa_mask);
  for (int i = 0; i < kCount; ++i) {
    ::sigaction(kSignals[i], nullptr, &previous[i]);
    if (previous[i].sa_handler != SIG_IGN) ::sigaction(kSignals[i], &action, nullptr);
  }
}

void restore_signal_handlers() {
  for (int i = 0; i < kCount; ++i) ::sigaction(kSignals[i], &previous[i], nullptr);
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
