#pragma once
// The Backend upon a driver.

#include <vector>

#include "catenary/backends/gpu/driver.h"
#include "catenary/core/export.h"
#include "catenary/device/backend.h"
#include "catenary/device/matmul_providers.h"

namespace catenary::gpu {

/// `driver` is called when the first device is asked for, so that a program that stays on the CPU loads no driver.
/// The backend lives as long as the process.
Backend& make_backend(const char* name, Driver& (*driver)());

/// As matmul_providers, of convolutions: what CATENARY_GPU_DNN leaves of the vendor's libraries that are found, then
/// Catenary's own kernels. `products` counts convolutions; those that are a product of matrices count there.
CT_API std::vector<MatmulProviderInfo> convolution_providers(const Device& device);

}  // namespace catenary::gpu
