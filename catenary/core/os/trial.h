#pragma once
// Calls that may kill the process are tried first in a copy of it.

#include <functional>
#include <string>

#include "catenary/core/export.h"

namespace catenary::os {

/// How a trial ended: normally if neither member is set.
struct TrialResult {
  std::string crash = {};  ///< the signal that killed the child, such as "SIGSEGV", or ""
  bool timed_out = false;  ///< true if it was killed after the timeout
};

/// Calls `f` in a forked child whose output is discarded, and waits at most `timeout` seconds. A failed fork counts as
/// a normal end. The child has only the calling thread, so `f` must not wait for another one. Throws Error after
/// end_trials.
CT_API TrialResult run_trial(const std::function<void()>& f, double timeout);

/// Registers a function that runs all trials which may be needed later. end_trials calls it. Returns true.
CT_API bool add_trials(void (*f)());
/// Forbids further copies of this process, because of `why` (MPI has started: memory that is registered with a network
/// card must not be in two processes). The first call runs the functions registered with add_trials before.
CT_API void end_trials(const std::string& why);

}  // namespace catenary::os
