#pragma once
// What is known of a card's matrix units, from its architecture alone. Which of its dtypes they take is the vendors'
// documentation's; whether they ran only a library can tell.

#include <string>

#include "catenary/core/dtype.h"
#include "catenary/device/computations.h"
#include "catenary/device/device_info.h"

namespace catenary::gpu {

/// "Tensor Cores" or "Matrix Cores"; empty for an architecture that has none, or that is not known.
CT_API std::string matrix_units(const DeviceInfo& info);
/// Why a card's matrix units do not multiply operands of a dtype; empty where they do. `tf32`: float32 may be rounded
/// to TF32.
CT_API std::string lacks_matrix_units(const DeviceInfo& info, Dtype dtype, bool tf32);

/// A library's computation of operands of a dtype, where the library does not tell which units ran. `facts` are those
/// that decide whether they may run: "operands begin at multiples of 16 bytes, and step by them".
Computation untold(const char* kind, const char* library, const DeviceInfo& info, Dtype dtype, bool tf32,
                   const std::string& facts);

}  // namespace catenary::gpu
