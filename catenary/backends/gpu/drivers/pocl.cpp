#include "catenary/backends/gpu/drivers/pocl.h"

#include <cstdlib>
#include <string_view>

#include "catenary/core/format.h"
#include "catenary/core/os/private_folder.h"
#include "catenary/core/os/process.h"
#include "catenary/core/os/system.h"

namespace catenary::gpu {

namespace {

std::string variable(const char* name, std::string_view below = {}) {
  const char* value = std::getenv(name);
  return value && *value ? value + std::string(below) : std::string();
}

}  // namespace

std::string find_pocl_cache() {
  if (!variable("POCL_CACHE_DIR").empty()) return {};
  std::string usual = variable("XDG_CACHE_HOME", "/pocl/kcache");
  if (usual.empty()) usual = variable("HOME", "/.cache/pocl/kcache");
  if (!usual.empty() && os::is_writable_folder(usual)) return {};
  try {
    const std::string own = os::temporary_folder_of_user("catenary-pocl");
    os::PrivateFolder::make(own);
    os::set_environment_default("POCL_CACHE_DIR", own);  // only PoCL reads it, which is not loaded yet
    return {};
  } catch (const FileError& error) {
    return fmt::format(
        "PoCL has no folder for compiled kernels ({}, and {} cannot be written); export POCL_CACHE_DIR=<a folder that "
        "can be written>",
        error.what(), usual.empty() ? "HOME is not set" : usual);
  }
}

}  // namespace catenary::gpu
