#pragma once
// The clock that durations are measured with.

#include "catenary/core/export.h"

namespace catenary {

/// Seconds of a clock that never goes back; only differences mean anything.
CT_API double monotonic_seconds();

}  // namespace catenary
