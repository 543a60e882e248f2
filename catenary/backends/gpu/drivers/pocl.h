#pragma once
// OpenCL on a processor by PoCL, which has no device unless it can write to a cache folder.

#include <string>

namespace catenary::gpu {

/// Sets POCL_CACHE_DIR to a user's folder below the system's temporary folder if PoCL could not write to its default.
/// Call it before OpenCL's loader. Returns an explanation if no folder can be used, otherwise "".
std::string find_pocl_cache();

}  // namespace catenary::gpu
