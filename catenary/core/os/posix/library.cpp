#include "catenary/core/os/library.h"

#include <dlfcn.h>
#include <link.h>

#include <atomic>
#include <cstdint>

#include "catenary/core/format.h"
#include "catenary/core/os/posix/detail.h"

namespace catenary::os {

namespace {

/// Returns a unique path of an open file. dlopen identifies libraries by path, and descriptor numbers are reused, so
/// redundant dots make each path different.
std::string path_of(int file) {
  static std::atomic<std::uint32_t> count{0};
  std::string path = "/proc/self/fd";
  for (std::uint32_t rest = ++count; rest; rest /= 2) path += rest % 2 ? "/." : "/";
  return path + "/" + std::to_string(file);
}

}  // namespace

std::string library_file(std::string_view name, std::string_view version) {
  return fmt::format("lib{}.so.{}", name, version);
}

std::string plugin_file(std::string_view name) { return fmt::format("libcatenary_{}.so", name); }

std::string library_search_folder() { return {}; }

std::string no_opencl_driver() {
  return "/etc/OpenCL/vendors names no driver that can be loaded. A GPU's driver brings OpenCL's, too. On Debian and "
         "Ubuntu, `apt install pocl-opencl-icd` runs OpenCL on the processor";
}

std::optional<Library> Library::find(const std::string& name, std::string* why, Mode mode) {
  const int flags = RTLD_NOW | RTLD_LOCAL | (mode == Mode::already_loaded ? RTLD_NOLOAD : 0);
  if (void* handle = ::dlopen(name.c_str(), flags)) return Library(handle, name);
  const char* reason = ::dlerror();
  if (why) *why = reason ? reason : "it is not loaded";
  return std::nullopt;
}

Library Library::from_memory(const std::string& name, std::span<const std::byte> bytes) {
  const Descriptor file = memory_file("catenary-library", bytes);
  void* const handle = ::dlopen(path_of(file.get()).c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!handle) fail<FileError>("{}: cannot load the library: {}", name, ::dlerror());
  return Library(handle, name);
}

std::pair<void*, std::size_t> Library::variable(const std::string& name) const {
  void* const found = symbol(name.c_str());
  if (!found) fail<FileError>("{}: there is no {} in the library", name_, name);
  Dl_info where;
  const ElfW(Sym)* entry = nullptr;
  if (!::dladdr1(found, &where, reinterpret_cast<void**>(const_cast<ElfW(Sym)**>(&entry)), RTLD_DL_SYMENT) || !entry)
    fail<FileError>("{}: the size of {} is unknown", name_, name);
  if (ELF64_ST_TYPE(entry->st_info) != STT_OBJECT) fail<FileError>("{}: {} is not a variable", name_, name);
  return {found, static_cast<std::size_t>(entry->st_size)};
}

void* Library::symbol(const char* name) const { return ::dlsym(handle_, name); }

std::string Library::path() const {
  link_map* map = nullptr;
  if (::dlinfo(handle_, RTLD_DI_LINKMAP, &map) != 0 || !map || !map->l_name || !*map->l_name) return name_;
  return map->l_name;
}

}  // namespace catenary::os
