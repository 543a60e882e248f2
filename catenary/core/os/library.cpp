#include "catenary/core/os/library.h"

#include "catenary/core/format.h"

namespace catenary::os {

Library::Library(const std::string& name) : handle_(nullptr), name_(name) {
  std::string why;
  const std::optional<Library> found = find(name, &why);
  if (!found) fail<FileError>("{}: cannot load the library: {}", name, why);
  handle_ = found->handle_;
}

void* Library::required_symbol(const char* name) const {
  if (void* address = symbol(name)) return address;
  fail<FileError>("{}: the library has no symbol '{}'", path(), name);
}

}  // namespace catenary::os
