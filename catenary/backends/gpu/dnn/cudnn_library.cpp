#include "catenary/backends/gpu/dnn/cudnn_library.h"

#include "catenary/core/os/file.h"

namespace catenary::gpu {

std::size_t cudnn_version(const os::Library& library) { return library.required<std::size_t()>("cudnnGetVersion")(); }

std::string cudnn_version_text(std::size_t number) {
  return number >= 90000 ? fmt::format("{}.{}.{}", number / 10000, number / 100 % 100, number % 100)
                         : fmt::format("{}.{}.{}", number / 1000, number / 100 % 10, number % 100);
}

void load_cudnn_parts(const os::Library& library) {
  const std::string path = library.path(), folder = path.substr(0, path.rfind('/') + 1);
  for (const char* part : {"graph", "ops", "cnn", "heuristic", "engines_precompiled", "engines_runtime_compiled"})
    if (const std::string file = fmt::format("{}libcudnn_{}.so.9", folder, part); os::exists(file))
      os::Library::find(file);
}

}  // namespace catenary::gpu
