#pragma once
// OpenCL on a processor by PoCL, which offers no device where it has no folder for what it compiles.

#include <string>

namespace catenary::gpu {

/// Names a folder of this user's below the system's place for temporary files (POCL_CACHE_DIR) where the one that PoCL
/// would take cannot be written. To be called before OpenCL's loader. Gives a sentence where there is none, else "".
std::string find_pocl_cache();

}  // namespace catenary::gpu
