#pragma once
// Private to core/os/windows: libraries that exist for Windows but are not used yet.

#include <string>

namespace catenary::os {

/// Returns why this build does not load a library, or "" if it does.
std::string library_refusal(const std::string& name);

}  // namespace catenary::os
