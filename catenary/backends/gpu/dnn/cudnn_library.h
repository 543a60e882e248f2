#pragma once
// Finding and opening cuDNN, for all that asks it.

#include <cstddef>
#include <string>
#include <vector>

#include "catenary/backends/gpu/libraries.h"

namespace catenary::gpu {

/// 91900 of 9.19.0.
std::size_t cudnn_version(const os::Library& library);
std::string cudnn_version_text(std::size_t number);

/// The parts of version 9 are loaded from beside the library: by their names alone it would find those of another one.
void load_cudnn_parts(const os::Library& library);

/// As open_cuda_library, of these major versions.
template <class Open>
auto open_cudnn_library(const Context& context, std::string& why, const std::vector<const char*>& versions,
                        const Open& open) {
  return open_cuda_library(
      context, "libcudnn.so", why,
      [&](const os::Library& library, std::string& reason) {
        load_cudnn_parts(library);
        return open(library, reason);
      },
      versions);
}

}  // namespace catenary::gpu
