#include "catenary/core/os/installation.h"

#include <dlfcn.h>
#include <stdlib.h>

#include <memory>

#include "catenary/core/os/file.h"

namespace catenary::os {
namespace {

// Returns the path without links and dots, or unchanged if it does not exist.
std::string real_path(const std::string& path) {
  std::unique_ptr<char, decltype(&free)> real(realpath(path.c_str(), nullptr), &free);
  return real ? real.get() : path;
}

}  // namespace

std::string library_folder() {
  Dl_info here{};
  if (!dladdr(reinterpret_cast<void*>(&library_folder), &here) || !here.dli_fname) return ".";
  const std::string path = real_path(here.dli_fname);
  const auto slash = path.rfind('/');
  return slash == std::string::npos ? "." : path.substr(0, slash);
}

std::string share_folder() {
  // share/ is beside lib/, or one level higher for Debian's lib/x86_64-linux-gnu.
  for (const char* up : {"/../share/catenary", "/../../share/catenary"}) {
    const std::string folder = library_folder() + up;
    if (is_directory(folder)) return real_path(folder);
  }
  return {};
}

}  // namespace catenary::os
