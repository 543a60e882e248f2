#include "catenary/core/os/installation.h"

#include <dlfcn.h>
#include <stdlib.h>

#include <memory>

#include "catenary/core/os/file.h"

namespace catenary::os {

std::string library_folder() {
  Dl_info here{};
  if (!dladdr(reinterpret_cast<void*>(&library_folder), &here) || !here.dli_fname) return ".";
  // A program's own name may be relative or a link; an installed copy is found through the file itself.
  std::unique_ptr<char, decltype(&free)> real(realpath(here.dli_fname, nullptr), &free);
  const std::string path = real ? real.get() : here.dli_fname;
  const auto slash = path.rfind('/');
  return slash == std::string::npos ? "." : path.substr(0, slash);
}

std::string share_folder() {
  // lib/ lies beside share/, and Debian's lib/x86_64-linux-gnu one folder deeper.
  for (const char* up : {"/../share/catenary", "/../../share/catenary"}) {
    const std::string folder = library_folder() + up;
    if (is_directory(folder)) return folder;
  }
  return {};
}

}  // namespace catenary::os
