#pragma once
// The Backend upon a driver.

#include "catenary/backends/gpu/driver.h"
#include "catenary/device/backend.h"

namespace catenary::gpu {

/// `driver` is called when the first device is asked for, so that a program that stays on the CPU loads no driver.
/// The backend lives as long as the process.
Backend& make_backend(const char* name, Driver& (*driver)());

}  // namespace catenary::gpu
