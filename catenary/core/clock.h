#pragma once
// The clock for durations.

#include "catenary/core/export.h"

namespace catenary {

/// Returns the seconds of a clock that never goes back. Only differences are meaningful.
CT_API double monotonic_seconds();

}  // namespace catenary
