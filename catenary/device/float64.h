#pragma once
// Private to the library: support for devices without float64, such as many OpenCL GPUs.

#include "catenary/core/dtype.h"
#include "catenary/device/device.h"

namespace catenary {

inline bool has_float64(const Device& device) { return device.is_cpu() || device.info().has_f64; }

/// Returns float64, or float32 if the device has no float64, for numbers that need the highest available precision.
inline Dtype widest_float(const Device& device) { return has_float64(device) ? Dtype::float64 : Dtype::float32; }

}  // namespace catenary
