#pragma once
// Interruption by Ctrl-C or a batch system, as a flag that a loop can check.

#include <string>

#include "catenary/core/export.h"

namespace catenary::os {

/// The numbers of SIGKILL, SIGTERM and SIGCONT.
inline constexpr int kKill = 9, kTerminate = 15, kContinue = 18;

/// Handles signals while it exists. The first SIGINT, SIGTERM, SIGHUP (the terminal is gone) or SIGXCPU (the limit of
/// CPU time) only sets a flag. A second one takes its original effect, except that SIGXCPU, which arrives every second,
/// is then ignored. SIGXFSZ is ignored, so that a write beyond the file size limit fails with an error that names the
/// file. The destructor restores the previous handlers. Signals that were ignored (nohup, background jobs) stay
/// ignored. All objects in all threads share the flag.
class CT_API ScopedSignals {
 public:
  ScopedSignals();
  ScopedSignals(const ScopedSignals&) = delete;
  ScopedSignals& operator=(const ScopedSignals&) = delete;
  ~ScopedSignals();

  /// Returns the number of the signal received since the first existing object was made, or 0.
  int received() const;
};

/// Returns ScopedSignals::received() of an existing object, or 0 if there is none.
CT_API int received_signal();

/// Returns "SIGINT", "SIGSEGV", …, or "signal 35" for a signal without a name.
CT_API std::string signal_name(int number);

}  // namespace catenary::os
