#pragma once
// Private to the library, its tools and its Python package: the devices that have ordinals in `cupy`.

#include <vector>

#include "catenary/core/export.h"
#include "catenary/device/device.h"

namespace catenary {

/// Returns the devices in the order of cupy's ordinals: the CPU if CATENARY_CUPY_CPU=1, then gpus().
CT_API std::vector<Device> cupy_devices();

}  // namespace catenary
