#include "catenary/device/matmul_providers.h"

#include "catenary/device/backend.h"

namespace catenary {

std::vector<MatmulProviderInfo> Backend::matmul_providers(int) { return {{"own", true, "Catenary's own kernels", 0}}; }

std::vector<MatmulProviderInfo> matmul_providers(const Device& device) {
  return device.backend().matmul_providers(device.index());
}

}  // namespace catenary
