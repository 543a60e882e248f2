#include "catenary/backends/gpu/drivers/find.h"

#include <algorithm>
#include <cstdlib>

#include "catenary/core/format.h"
#include "catenary/core/os/file.h"

namespace catenary::gpu {

namespace {

void add_variable(std::vector<std::string>& folders, const char* variable, const char* below) {
  if (const char* value = std::getenv(variable); value && *value) folders.push_back(std::string(value) + below);
}

/// Returns the folders `parent`/`prefix`*, highest version first.
std::vector<std::string> versions(const std::string& parent, const std::string& prefix) {
  std::vector<std::string> names;
  if (os::is_directory(parent)) {
    try {
      names = os::list_directory(parent);
    } catch (const FileError&) {
      return {};  // an unreadable folder has no loadable libraries
    }
  }
  std::erase_if(names, [&](const std::string& name) { return !name.starts_with(prefix); });
  const auto numbers = [&](const std::string& name) {
    std::vector<int> result(1);
    for (char c : name.substr(prefix.size())) {
      if (c < '0' || c > '9')
        result.push_back(0);
      else
        result.back() = result.back() * 10 + (c - '0');
    }
    return result;
  };
  std::stable_sort(names.begin(), names.end(),
                   [&](const std::string& a, const std::string& b) { return numbers(a) > numbers(b); });
  for (std::string& name : names) name = parent + "/" + name;
  return names;
}

/// Adds the packages of the active Python environment.
void add_packages(std::vector<std::string>& folders, const std::vector<std::string>& below) {
  for (const char* variable : {"VIRTUAL_ENV", "CONDA_PREFIX"}) {
    const char* root = std::getenv(variable);
    if (!root || !*root) continue;
    for (const std::string& python : versions(std::string(root) + "/lib", "python3."))
      for (const std::string& folder : below) folders.push_back(python + "/site-packages/" + folder);
    folders.push_back(std::string(root) + "/lib");
  }
}

}  // namespace

std::vector<std::string> cuda_folders() {
  std::vector<std::string> folders;
  add_variable(folders, "CUDA_HOME", "/lib64");
  add_variable(folders, "CUDA_PATH", "/lib64");
  folders.emplace_back("/usr/local/cuda/lib64");
  for (const std::string& folder : versions("/usr/local", "cuda-")) folders.push_back(folder + "/lib64");
  add_packages(folders, {"nvidia/cu13/lib", "nvidia/cuda_nvrtc/lib", "nvidia/cudnn/lib", "nvidia/nccl/lib"});
  return folders;
}

std::vector<std::string> rocm_folders() {
  std::vector<std::string> folders;
  add_variable(folders, "ROCM_PATH", "/lib");
  add_variable(folders, "HIP_PATH", "/lib");
  folders.emplace_back("/opt/rocm/lib");
  for (const std::string& folder : versions("/opt/rocm", "core-")) folders.push_back(folder + "/lib");
  folders.emplace_back("/opt/rocm/core/lib");
  for (const std::string& folder : versions("/opt", "rocm-")) folders.push_back(folder + "/lib");
  for (const char* folder : {"/usr/lib/x86_64-linux-gnu", "/usr/lib64", "/usr/local/lib"}) folders.emplace_back(folder);
  add_packages(folders, {"_rocm_sdk_core/lib"});
  return folders;
}

std::optional<os::Library> find_library(const std::vector<std::string>& names, const std::vector<std::string>& folders,
                                        std::string& why) {
  std::string broken;
  for (const std::string& name : names)
    if (const auto library = os::Library::find(name)) return library;
  for (const std::string& name : names) {
    for (const std::string& folder : folders) {
      const std::string path = folder + "/" + name;
      std::string reason;
      if (!os::exists(path)) continue;
      if (const auto library = os::Library::find(path, &reason)) return library;
      if (broken.empty()) broken = reason;
    }
  }
  if (!broken.empty())
    why = fmt::format("{} is there but cannot be loaded: {}", names.front(), broken);
  else
    why = fmt::format("none of {} was found", fmt::join(names, ", "));
  return std::nullopt;
}

}  // namespace catenary::gpu
