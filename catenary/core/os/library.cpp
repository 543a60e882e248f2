#include "catenary/core/os/library.h"

#include <dlfcn.h>
#include <link.h>

#include <filesystem>

#include "catenary/core/format.h"

namespace catenary::os {

Library::Library(const std::string& name) : handle_(nullptr), name_(name) {
  std::string why;
  const std::optional<Library> found = find(name, &why);
  if (!found) fail<FileError>("{}: cannot load the library: {}", name, why);
  handle_ = found->handle_;
}

std::optional<Library> Library::find(const std::string& name, std::string* why, Mode mode) {
  const int flags = RTLD_NOW | RTLD_LOCAL | (mode == Mode::already_loaded ? RTLD_NOLOAD : 0);
  if (void* handle = ::dlopen(name.c_str(), flags)) return Library(handle, name);
  const char* reason = ::dlerror();
  if (why) *why = reason ? reason : "it is not loaded";
  return std::nullopt;
}

void* Library::symbol(const char* name) const { return ::dlsym(handle_, name); }

void* Library::required_symbol(const char* name) const {
  if (void* address = symbol(name)) return address;
  fail<FileError>("{}: the library has no symbol '{}'", path(), name);
}

std::string Library::path() const {
  link_map* map = nullptr;
  if (::dlinfo(handle_, RTLD_DI_LINKMAP, &map) != 0 || !map || !map->l_name || !*map->l_name) return name_;
  return map->l_name;
}

std::string own_library_path() {
  Dl_info info{};
  if (::dladdr(reinterpret_cast<void*>(&own_library_path), &info) == 0 || !info.dli_fname) return "";
  std::error_code code;
  const std::filesystem::path path = std::filesystem::canonical(info.dli_fname, code);
  // a program started by a bare name is known to the loader by that name only
  return code ? std::filesystem::read_symlink("/proc/self/exe", code).string() : path.string();
}

std::string own_library_directory() { return std::filesystem::path(own_library_path()).parent_path().string(); }

}  // namespace catenary::os
