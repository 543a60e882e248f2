#pragma once
// A call that may kill its process, tried first in a copy of the process.

#include <functional>
#include <string>

#include "catenary/core/export.h"

namespace catenary::os {

/// How a trial ended: by itself, where neither is set.
struct TrialResult {
  int signal = 0;          ///< that killed the child, or 0
  bool timed_out = false;  ///< it was killed as the time was up
};

/// Calls `f` in a forked child whose output goes nowhere, and waits for it at most `timeout` seconds. A child that
/// could not be forked counts as one that ended by itself. Of the caller's threads the child has only this one: `f`
/// must not wait for another. Throws Error after end_trials.
CT_API TrialResult run_trial(const std::function<void()>& f, double timeout);

/// Names a function that runs all trials which may be wanted later; end_trials calls it. Returns true.
CT_API bool add_trials(void (*f)());
/// From now on no copy of this process may be made, because of `why` (MPI has begun: its memory that a network card
/// knows must not be in two processes). What was named by add_trials is tried before, at the first call.
CT_API void end_trials(const std::string& why);

}  // namespace catenary::os
