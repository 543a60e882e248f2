#include "catenary/core/os/registry.h"

namespace catenary::os {

std::vector<std::pair<std::string, std::string>> registry_values(const std::string&) { return {}; }

std::vector<std::string> registry_keys(const std::string&) { return {}; }

}  // namespace catenary::os
