#pragma once
// Where vendors' libraries lie.

#include <optional>
#include <string>
#include <vector>

#include "catenary/core/export.h"
#include "catenary/core/os/library.h"

namespace catenary::gpu {

/// The folders in which CUDA's libraries may lie beside those that the loader searches, the likeliest first.
std::vector<std::string> cuda_folders();
/// The same for ROCm, old layout (/opt/rocm-6.2) and new (/opt/rocm/core-10.0), and its Python packages.
CT_API std::vector<std::string> rocm_folders();

/// The first of `names` that the loader finds by itself; else the first that lies in one of the folders.
/// Nothing, with a sentence in `why`, where there is none.
CT_API std::optional<os::Library> find_library(const std::vector<std::string>& names,
                                               const std::vector<std::string>& folders, std::string& why);

}  // namespace catenary::gpu
