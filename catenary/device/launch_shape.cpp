#include "catenary/device/launch_shape.h"

#include "catenary/core/format.h"

namespace catenary {

std::string LaunchShape::text() const {
  const auto axes = static_cast<std::ptrdiff_t>(ndim());
  const std::string bytes = local_bytes ? fmt::format(", with {} bytes each", local_bytes) : "";
  return fmt::format("{} groups of {}{}", fmt::join(groups.begin(), groups.begin() + axes, " x "),
                     fmt::join(group_size.begin(), group_size.begin() + axes, " x "), bytes);
}

}  // namespace catenary
