#pragma once
// Private to the library: devices without float64, as many OpenCL GPUs are.

#include "catenary/core/dtype.h"
#include "catenary/device/device.h"

namespace catenary {

inline bool has_float64(const Device& device) { return device.is_cpu() || device.info().has_f64; }

/// float64, or float32 where the device has no float64: for numbers that deserve the precision that there is.
inline Dtype widest_float(const Device& device) { return has_float64(device) ? Dtype::float64 : Dtype::float32; }

}  // namespace catenary
