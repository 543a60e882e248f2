#include "catenary/device/collectives.h"

#include "catenary/device/backend.h"

namespace catenary {

DeviceGroup::~DeviceGroup() = default;
DeviceCollectives::~DeviceCollectives() = default;
HasCollectives::~HasCollectives() = default;

DeviceCollectives* collectives_of(Backend& backend) {
  auto* const offers = dynamic_cast<HasCollectives*>(&backend);
  return offers ? &offers->collectives() : nullptr;
}

}  // namespace catenary
