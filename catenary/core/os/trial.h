#pragma once
// A call that may kill its process, tried first in a copy of the process.

#include <functional>

#include "catenary/core/export.h"

namespace catenary::os {

/// Calls `f` in a forked child whose output goes nowhere, and gives the signal that killed the child; 0 where it ended
/// by itself, was not done within `timeout` seconds (it is killed then), or could not be forked. Of the caller's
/// threads the child has only this one: `f` must not wait for another.
CT_API int signal_of_trial(const std::function<void()>& f, double timeout);

}  // namespace catenary::os
