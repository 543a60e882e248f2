#pragma once
// A call that may kill its process, tried first in a copy of the process.

#include <functional>

#include "catenary/core/export.h"

namespace catenary::os {

/// How a trial ended: by itself, where neither is set.
struct TrialResult {
  int signal = 0;          ///< that killed the child, or 0
  bool timed_out = false;  ///< it was killed as the time was up
};

/// Calls `f` in a forked child whose output goes nowhere, and waits for it at most `timeout` seconds. A child that
/// could not be forked counts as one that ended by itself. Of the caller's threads the child has only this one: `f`
/// must not wait for another.
CT_API TrialResult run_trial(const std::function<void()>& f, double timeout);

}  // namespace catenary::os
