#include "catenary/core/os/signals.h"

#include <csignal>

#include "catenary/core/os/system_signals.h"

namespace catenary::os {

namespace {

constexpr int kBreak = 21;  // Ctrl-Break
constexpr int kSignals[] = {SIGINT, SIGTERM, kBreak};
constexpr int kCount = 3;

using Handler = void (*)(int);
Handler previous[kCount];

void on_signal(int number) {
  // The system has removed this handler before the call.
  if (note_first_signal(number)) {
    std::signal(number, on_signal);
    return;
  }
  // the second time, act as if there were no handler
  for (int i = 0; i < kCount; ++i)
    if (kSignals[i] == number) std::signal(number, previous[i]);
  std::raise(number);
}

}  // namespace

void set_signal_handlers() {
  for (int i = 0; i < kCount; ++i) {
    previous[i] = std::signal(kSignals[i], on_signal);
    if (previous[i] == SIG_IGN) std::signal(kSignals[i], SIG_IGN);
  }
}

void restore_signal_handlers() {
  for (int i = 0; i < kCount; ++i) std::signal(kSignals[i], previous[i]);
}

std::string signal_name(int number) {
  switch (number) {
    case SIGINT:
      return "SIGINT";
    case SIGILL:
      return "SIGILL";
    case SIGFPE:
      return "SIGFPE";
    case kKill:
      return "SIGKILL";
    case SIGSEGV:
      return "SIGSEGV";
    case SIGTERM:
      return "SIGTERM";
    case kBreak:
      return "SIGBREAK";
    case SIGABRT:
      return "SIGABRT";
    default:
      return "signal " + std::to_string(number);
  }
}

}  // namespace catenary::os
