#pragma once
// Searches for vendors' libraries.

#include <optional>
#include <string>
#include <vector>

#include "catenary/core/export.h"
#include "catenary/core/os/library.h"

namespace catenary::gpu {

/// Returns possible folders of CUDA's libraries beside the loader's, the likeliest first.
std::vector<std::string> cuda_folders();
/// Returns possible folders of ROCm's libraries: old layout (/opt/rocm-6.2), new layout (/opt/rocm/core-10.0), and
/// Python packages.
CT_API std::vector<std::string> rocm_folders();

/// Returns the first of `names` that the loader finds, otherwise the first that is in one of the folders. Returns
/// nothing, with a sentence in `why`, if there is none.
CT_API std::optional<os::Library> find_library(const std::vector<std::string>& names,
                                               const std::vector<std::string>& folders, std::string& why);

}  // namespace catenary::gpu
