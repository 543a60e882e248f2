#pragma once
// Finds and opens cuDNN, for all its users.

#include <cstddef>
#include <string>
#include <vector>

#include "catenary/backends/gpu/libraries.h"

namespace catenary::gpu {

/// Returns the version: 91900 for 9.19.0.
std::size_t cudnn_version(const os::Library& library);
std::string cudnn_version_text(std::size_t number);

/// Loads the parts of version 9 from the library's folder. By name alone the loader might find parts of another
/// installation.
void load_cudnn_parts(const os::Library& library);

/// Opens cuDNN like open_cuda_library, in these major versions.
template <class Open>
auto open_cudnn_library(const Context& context, std::string& why, const std::vector<const char*>& versions,
                        const Open& open) {
  return open_cuda_library(
      context, "cudnn", why,
      [&](const os::Library& library, std::string& reason) {
        load_cudnn_parts(library);
        return open(library, reason);
      },
      versions);
}

}  // namespace catenary::gpu
