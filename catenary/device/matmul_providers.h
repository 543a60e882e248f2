#pragma once
// Which libraries compute products of matrices on a device.

#include <cstdint>
#include <string>
#include <vector>

#include "catenary/core/export.h"
#include "catenary/device/device.h"

namespace catenary {

/// A library for products of matrices, or why it is not used.
struct MatmulProviderInfo {
  std::string name;           ///< "cuBLASLt", …; "own" for Catenary's kernels, which take what no other does
  bool usable = false;        ///< tried for each product, in the order of the list
  std::string detail;         ///< version and file, or why it is not used
  std::int64_t products = 0;  ///< computed by it so far, on this device
};

/// The providers of a device in the order in which they are tried: what CATENARY_GPU_BLAS leaves of the vendor's
/// libraries that are found, then Catenary's own; those that are not used come last. Looks for the libraries. Throws
/// DeviceError where CATENARY_GPU_BLAS names one that cannot be used, ValueError where it names none.
CT_API std::vector<MatmulProviderInfo> matmul_providers(const Device& device);

}  // namespace catenary
