#include "catenary/core/os/library.h"

#include <dlfcn.h>
#include <link.h>

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

}  // namespace catenary::os
