#pragma once
// Which libraries compute for a device, or exchange its data.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "catenary/core/export.h"
#include "catenary/device/device.h"

namespace catenary {

/// A library that computes for a device, or why it is not used.
struct LibraryInfo {
  std::string kind;     ///< "blas" (products of matrices), "dnn" (convolutions) or "collectives" (between processes)
  std::string name;     ///< "cuBLASLt", …; "own" for Catenary's code, which takes what no other does
  bool usable = false;  ///< tried for each such computation, in the order of the list
  std::string detail;   ///< version and file, or why it is not used
  std::int64_t computed = 0;  ///< how many computations it took so far, on this device
};

/// The libraries of a device, or those of one kind: of each kind first what its variable (CATENARY_GPU_BLAS,
/// CATENARY_GPU_DNN) leaves of the vendor's libraries that are found, in the order in which they are tried, then
/// Catenary's own code, then those that are not used. Kinds are missing where the device never asks a library. Looks
/// for the libraries. Throws DeviceError where a variable names one that cannot be used,
/// ValueError where it names none that there is.
CT_API std::vector<LibraryInfo> libraries(const Device& device, std::string_view kind = {});

}  // namespace catenary
