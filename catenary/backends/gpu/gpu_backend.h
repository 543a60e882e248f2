#pragma once
// The Backend on top of a driver.

#include "catenary/backends/gpu/driver.h"
#include "catenary/device/backend.h"

namespace catenary::gpu {

/// Returns a backend that is never destroyed. `driver` is called when a device is first used, so that programs on the
/// CPU load no driver.
Backend& make_backend(const char* name, Driver& (*driver)());

}  // namespace catenary::gpu
