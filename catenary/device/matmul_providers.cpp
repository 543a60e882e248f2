#include "catenary/device/matmul_providers.h"

#include "catenary/device/backend.h"

namespace catenary {

std::vector<MatmulProviderInfo> matmul_providers_of(Backend& backend, int device) {
  if (auto* reporter = dynamic_cast<MatmulReporter*>(&backend)) return reporter->matmul_providers(device);
  return {{"own", true, "Catenary's own kernels", 0}};
}

std::vector<MatmulProviderInfo> matmul_providers(const Device& device) {
  return matmul_providers_of(device.backend(), device.index());
}

}  // namespace catenary
