#pragma once
// Interruption by Ctrl-C or a batch system, as a flag that a loop can look at.

#include <string>

#include "catenary/core/export.h"

namespace catenary::os {

/// The numbers of SIGKILL, SIGTERM and SIGCONT.
inline constexpr int kKill = 9, kTerminate = 15, kContinue = 18;

/// While one lives, the first SIGINT, SIGTERM, SIGHUP (the terminal is gone) or SIGXCPU (the limit of processor time)
/// only sets a flag; a second one does what it would have done without us, but a further SIGXCPU, which comes every
/// second, nothing. SIGXFSZ does nothing: the write that was too large for the limit of file sizes fails, with an error
/// that names the file. What was installed before is restored at the end, and a signal that was ignored (nohup,
/// background jobs) stays ignored. Those that live at once, in any threads, share the flag.
class CT_API ScopedSignals {
 public:
  ScopedSignals();
  ScopedSignals(const ScopedSignals&) = delete;
  ScopedSignals& operator=(const ScopedSignals&) = delete;
  ~ScopedSignals();

  /// The number of the signal that came since the first of those that live was made, or 0.
  int received() const;
};

/// What ScopedSignals::received() of one that lives would say; 0 where none does.
CT_API int received_signal();

/// "SIGINT", "SIGSEGV", …; "signal 35" of one without a name.
CT_API std::string signal_name(int number);

}  // namespace catenary::os
