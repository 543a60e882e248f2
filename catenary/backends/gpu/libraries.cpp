#include "catenary/backends/gpu/libraries.h"

#include <algorithm>
#include <cctype>
#include <cstdlib>

#include "catenary/backends/gpu/drivers/find.h"
#include "catenary/core/environment.h"
#include "catenary/core/format.h"
#include "catenary/core/os/file.h"

namespace catenary::gpu {

namespace {

std::vector<std::string> library_path() {
  std::vector<std::string> folders;
  const char* value = std::getenv("LD_LIBRARY_PATH");
  std::string folder;
  for (const char* at = value ? value : "";; ++at) {
    if (*at && *at != ':') {
      folder += *at;
      continue;
    }
    if (!folder.empty()) folders.push_back(folder);
    folder.clear();
    if (!*at) return folders;
  }
}

std::string folder_of(const std::string& path) {
  const std::size_t slash = path.rfind('/');
  return slash == std::string::npos ? "." : path.substr(0, slash);
}

std::string chip(const std::string& arch) { return arch.substr(0, arch.find(':')); }

/// Returns the file names in a folder, or nothing if it cannot be read.
std::vector<std::string> list(const std::string& folder) {
  try {
    return os::is_directory(folder) ? os::list_directory(folder) : std::vector<std::string>();
  } catch (const FileError&) {
    return {};
  }
}

}  // namespace

std::optional<os::Library> find_cuda_library(bool for_simulated, const std::string& file, std::string& why) {
  if (!for_simulated) return find_library({file}, cuda_folders(), why);
  for (const std::string& folder : library_path())
    if (const std::string path = folder + "/" + file; os::exists(path)) return os::Library::find(path, &why);
  why = fmt::format("none of {} was found", file);
  return std::nullopt;
}

void each_cuda_library(const Context& context, const std::string& name, const std::vector<const char*>& versions,
                       std::string& why, const std::function<bool(const os::Library&, std::string& why)>& open) {
  std::string missing;
  for (const char* version : versions) {
    const std::string file = os::library_file(name, version);
    std::string reason;
    try {
      const auto library = find_cuda_library(context.info.is_simulated, file, reason);
      if (!library) {
        missing += (missing.empty() ? "" : ", ") + file;
        continue;
      }
      if (open(*library, reason)) return;
    } catch (const Error& error) {
      reason = error.what();
    }
    if (why.empty()) why = reason;
  }
  if (why.empty()) why = fmt::format("none of {} was found", missing);
}

void* make_handle(Context& context, const os::Library& library, const std::string& create, std::string& why) {
  context.driver.queue(context.index);  // makes the device current
  void* handle = nullptr;
  const int status = library.required<int(void**)>(create.c_str())(&handle);
  if (status == 0) return handle;
  why = fmt::format("{}: {} failed with status {}", library.path(), create.substr(0, create.find("_v2")), status);
  return nullptr;
}

std::string cuda_library_version(std::size_t number) {
  return fmt::format("{}.{}.{}", number / 10000, number / 100 % 100, number % 100);
}

std::vector<std::string> tensile_folders(const std::string& path, const std::string& folder, const std::string& given) {
  if (!given.empty()) return {given};
  // beside the library, and the layout of ROCm 5.1 and older: a folder for each library with a subfolder lib/
  const std::string beside = folder_of(path);
  return {fmt::format("{}/{}/library", beside, folder), beside + "/library",
          fmt::format("{}/../{}/lib/library", beside, folder)};
}

bool has_tensile_files(const std::vector<std::string>& names, const std::string& arch) {
  const std::string wanted = chip(arch);
  if (wanted.empty()) return false;
  return std::any_of(names.begin(), names.end(), [&](const std::string& name) {
    if (name == wanted) return true;  // a folder for each chip
    if (!name.starts_with("TensileLibrary")) return false;
    // gfx90 does not match gfx90a
    for (std::size_t at = name.find(wanted); at != std::string::npos; at = name.find(wanted, at + 1)) {
      const std::size_t end = at + wanted.size();
      if (end == name.size() || !std::isalnum(static_cast<unsigned char>(name[end]))) return true;
    }
    return false;
  });
}

std::vector<std::string> RocmLibrary::names(int hip_major) const {
  std::vector<std::string> own;
  for (const File& file : files)
    if (file.oldest_hip <= hip_major && hip_major <= file.newest_hip) own.emplace_back(file.name);
  return own;
}

std::optional<os::Library> find_rocm_library(const Context& context, const RocmLibrary& library, std::string& why) {
  std::optional<os::Library> runtime;
  int major = 9;
  while (!runtime && --major >= 5)
    runtime = os::Library::find(os::library_file("amdhip64", std::to_string(major)), nullptr,
                                os::Library::Mode::already_loaded);
  if (!runtime) {
    why = "the HIP runtime in use has an unknown version";
    return std::nullopt;
  }
  std::vector<std::string> folders = library_path();
  if (!context.info.is_simulated) {
    folders.push_back(folder_of(runtime->path()));
    for (const std::string& more : rocm_folders()) folders.push_back(more);
  }
  const std::vector<std::string> names = library.names(major);
  const char* const variable = library.variable ? std::getenv(library.variable) : nullptr;
  if (names.empty()) {
    why = fmt::format("its version for HIP {} is too old", major);
    return std::nullopt;
  }
  for (const std::string& name : names) {
    for (const std::string& at : folders) {
      const std::string path = at + "/" + name;
      if (!os::exists(path)) continue;
      if (library.folder.empty()) return os::Library::find(path, &why);
      const std::vector<std::string> places = tensile_folders(path, library.folder, variable ? variable : "");
      if (std::any_of(places.begin(), places.end(),
                      [&](const std::string& place) { return has_tensile_files(list(place), context.info.arch); }))
        return os::Library::find(path, &why);
      if (why.empty())
        why = fmt::format(
            "{} is there, but {} has no kernels for {} (TensileLibrary_*{}*), without which it would end the "
            "process",
            path, places.front(), chip(context.info.arch), chip(context.info.arch));
    }
  }
  if (why.empty())
    why = fmt::format("{} (of HIP {}) was not found on LD_LIBRARY_PATH, beside the HIP runtime or in ROCm's folders",
                      fmt::join(names, " or "), major);
  return std::nullopt;
}

}  // namespace catenary::gpu
