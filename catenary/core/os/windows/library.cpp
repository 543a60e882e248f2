#include "catenary/core/os/library.h"

#include "catenary/core/format.h"
#include "catenary/core/os/file.h"
#include "catenary/core/os/temporary_folder.h"
#include "catenary/core/os/windows/detail.h"
#include "catenary/core/os/windows/library_names.h"

namespace catenary::os {

namespace {

bool is_path(const std::string& name) { return name.find_first_of("/\\") != std::string::npos; }

HMODULE load(const std::string& name) {
  // Never from the working folder, where a stranger may have put a file of this name.
  const std::wstring file = is_path(name) ? wide_path(name) : wide(name);
  return ::LoadLibraryExW(file.c_str(), nullptr,
                          is_path(name) ? LOAD_WITH_ALTERED_SEARCH_PATH : LOAD_LIBRARY_SEARCH_SYSTEM32);
}

}  // namespace

std::string library_search_folder() {
  std::wstring folder(MAX_PATH, L'\0');
  folder.resize(::GetSystemDirectoryW(folder.data(), MAX_PATH));
  return our_path(folder);
}

std::string no_opencl_driver() {
  return "no OpenCL driver is registered. The graphics drivers of AMD, Intel and NVIDIA install one; drivers that "
         "Windows installs by itself may lack it";
}

std::optional<Library> Library::find(const std::string& name, std::string* why, Mode mode) {
  const std::string refusal = library_refusal(name);
  if (!refusal.empty()) {
    if (why) *why = refusal;
    return std::nullopt;
  }
  HMODULE module = nullptr;
  if (mode == Mode::already_loaded) {
    ::GetModuleHandleExW(GET_MODULE_HANDLE_EX_FLAG_PIN, wide(name).c_str(), &module);
  } else {
    module = load(name);
  }
  if (module) return Library(module, name);
  if (why)
    *why = mode == Mode::already_loaded ? "it is not loaded" : fmt::format("{}: {}", name, reason(::GetLastError()));
  return std::nullopt;
}

Library Library::from_memory(const std::string& name, std::span<const std::byte> bytes) {
  // An open library cannot be removed. The next process does it.
  static const std::string prefix = "catenary-library-";
  static const bool cleaned = (TemporaryFolder::remove_abandoned(prefix), true);
  static auto* const folder = new TemporaryFolder(prefix);
  (void)cleaned;
  const std::string path = fmt::format("{}/{}.dll", folder->path(), unique_number());
  write_file(path, bytes);
  HMODULE const module = load(path);
  if (!module) fail<FileError>("{}: cannot load the library: {}", name, reason(::GetLastError()));
  return Library(module, name);
}

std::pair<void*, std::size_t> Library::variable(const std::string& name) const {
  if (!symbol(name.c_str())) fail<FileError>("{}: there is no {} in the library", name_, name);
  fail<FileError>("{}: the size of {} is unknown: libraries of Windows do not contain it", name_, name);
}

void* Library::symbol(const char* name) const {
  return reinterpret_cast<void*>(::GetProcAddress(static_cast<HMODULE>(handle_), name));
}

std::string Library::path() const {
  std::wstring file(32768, L'\0');
  file.resize(::GetModuleFileNameW(static_cast<HMODULE>(handle_), file.data(), static_cast<DWORD>(file.size())));
  return file.empty() ? name_ : our_path(file);
}

}  // namespace catenary::os
