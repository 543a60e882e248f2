#include "catenary/core/os/installation.h"

#include "catenary/core/os/file.h"
#include "catenary/core/os/process.h"
#include "catenary/core/os/windows/detail.h"

namespace catenary::os {

namespace {

/// Returns the file of a module, or of the program.
std::string file_of(HMODULE module) {
  std::wstring path(32768, L'\0');
  path.resize(::GetModuleFileNameW(module, path.data(), static_cast<DWORD>(path.size())));
  return our_path(path);
}

}  // namespace

std::string program_path() { return file_of(nullptr); }

std::string library_folder() {
  HMODULE module = nullptr;
  ::GetModuleHandleExW(GET_MODULE_HANDLE_EX_FLAG_FROM_ADDRESS | GET_MODULE_HANDLE_EX_FLAG_UNCHANGED_REFCOUNT,
                       reinterpret_cast<const wchar_t*>(&library_folder), &module);
  const std::string path = file_of(module);
  const std::size_t slash = path.rfind('/');
  return slash == std::string::npos ? "." : path.substr(0, slash);
}

std::string share_folder() {
  // share/ is beside the programs in the archive for users, and beside bin/ in a build.
  const std::string here = library_folder(), above = here.substr(0, here.rfind('/'));
  for (const std::string& root : {here, above})
    if (is_directory(root + "/share/catenary")) return root + "/share/catenary";
  return {};
}

}  // namespace catenary::os
