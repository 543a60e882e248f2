#include "catenary/device/libraries.h"

#include "catenary/device/backend.h"

namespace catenary {

std::vector<LibraryInfo> Backend::libraries(int, std::string_view) { return {}; }

std::vector<LibraryInfo> libraries(const Device& device, std::string_view kind) {
  return device.backend().libraries(device.index(), kind);
}

}  // namespace catenary
