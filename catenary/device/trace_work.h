#pragma once
// Private to the library: reports work that is no primitive to CATENARY_TRACE (device/trace.h).

#include <functional>

#include "catenary/device/device.h"

namespace catenary {

struct Work;

/// Runs work and reports its time if kernels or ops are traced. The work is not counted, because other devices compute
/// it by operations that are.
void trace_work(const Device& device, const Work& work, const std::function<void()>& run);

}  // namespace catenary
