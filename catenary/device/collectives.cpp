#include "catenary/device/collectives.h"

namespace catenary {

DeviceGroup::~DeviceGroup() = default;
DeviceCollectives::~DeviceCollectives() = default;

}  // namespace catenary
