#pragma once
// What is handed to a device's compiler: the prelude of its dialect, of the shared helpers those that the kernel calls,
// and the kernel. A kernel's text stays short so, and so does its compilation.

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "catenary/core/export.h"

namespace catenary::gpu {

using Defines = std::vector<std::pair<std::string, std::string>>;

/// `dialect` is the name of a driver; `device_defines` what it says of the device.
CT_API std::string assemble_source(std::string_view dialect, std::string_view device_defines, const Defines& defines,
                                   std::string_view kernels);

}  // namespace catenary::gpu
