#include "catenary/core/os/tiles.h"

namespace catenary::os {

std::string ask_for_tiles() { return "AMX's tiles are used on Linux alone"; }

}  // namespace catenary::os
