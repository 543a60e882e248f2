#pragma once
// A card's matrix units, derived from its architecture only. The vendors' documentation lists the supported dtypes.
// Only a library can report whether the units ran.

#include <string>

#include "catenary/core/dtype.h"
#include "catenary/device/computations.h"
#include "catenary/device/device_info.h"

namespace catenary::gpu {

/// Returns "Tensor Cores" or "Matrix Cores", or "" for an architecture without them or an unknown one.
CT_API std::string matrix_units(const DeviceInfo& info);
/// Returns the reason why a card's matrix units do not multiply a dtype, or "". `tf32`: float32 may be rounded to TF32.
CT_API std::string lacks_matrix_units(const DeviceInfo& info, Dtype dtype, bool tf32);

/// Describes a computation by a library that does not report which units ran. `facts` decide whether they may run:
/// "operands begin at multiples of 16 bytes, and step by them".
Computation untold(const char* kind, const char* library, const DeviceInfo& info, Dtype dtype, bool tf32,
                   const std::string& facts);

}  // namespace catenary::gpu
