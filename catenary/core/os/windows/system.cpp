#include "catenary/core/os/system.h"

#include "catenary/core/format.h"
#include "catenary/core/os/file.h"
#include "catenary/core/os/system_temporary_folder.h"
#include "catenary/core/os/windows/detail.h"

namespace catenary::os {

namespace {

/// Returns the name of an error as on other systems.
std::string error_name(DWORD code) {
  switch (code) {
    case ERROR_FILE_NOT_FOUND:
    case ERROR_PATH_NOT_FOUND:
      return "ENOENT";
    case ERROR_ACCESS_DENIED:
      return "EACCES";
    case ERROR_SHARING_VIOLATION:
      return "EBUSY";
    case ERROR_WRITE_PROTECT:
      return "EROFS";
    default:
      return reason(code);
  }
}

/// Returns the nearest existing folder: the path itself or one of its parents.
std::string nearest(std::string path) {
  while (!path.empty() && !exists(path)) {
    const std::size_t slash = path.find_last_of("/\\");
    path.resize(slash == std::string::npos ? 0 : slash);
  }
  return path.empty() ? "." : path;
}

ULARGE_INTEGER space(const std::string& path, bool free) {
  ULARGE_INTEGER mine{}, all{};
  if (!::GetDiskFreeSpaceExW(wide_path(nearest(path)).c_str(), &mine, &all, nullptr)) return {};
  return free ? mine : all;
}

}  // namespace

std::string system_name() {
  // GetVersionEx tells the version for which a program's manifest says that it was made.
  const HMODULE kernel = ::GetModuleHandleW(L"ntdll.dll");
  OSVERSIONINFOW version{};
  version.dwOSVersionInfoSize = sizeof version;
  if (const auto get = reinterpret_cast<LONG(WINAPI*)(OSVERSIONINFOW*)>(
          reinterpret_cast<void*>(::GetProcAddress(kernel, "RtlGetVersion"))))
    get(&version);
  std::string name =
      fmt::format("Windows {}.{}.{} x86_64", version.dwMajorVersion, version.dwMinorVersion, version.dwBuildNumber);
  if (const auto wine =
          reinterpret_cast<const char* (*)()>(reinterpret_cast<void*>(::GetProcAddress(kernel, "wine_get_version"))))
    name += fmt::format(" (Wine {})", wine());
  return name;
}

std::string user_name() {
  wchar_t name[257] = {};
  DWORD size = 257;
  return ::GetUserNameW(name, &size) && size > 1 ? narrow({name, size - 1}) : "unknown";
}

std::vector<std::uint32_t> process_groups() { return {}; }

int code_page() { return static_cast<int>(::GetACP()); }

std::tm local_time(std::time_t time) {
  std::tm local{};
  ::localtime_s(&local, &time);
  return local;
}

std::string open_error(const std::string& path) {
  const Owned file(::CreateFileW(wide_path(path).c_str(), GENERIC_READ | GENERIC_WRITE,
                                 FILE_SHARE_READ | FILE_SHARE_WRITE, nullptr, OPEN_EXISTING, FILE_ATTRIBUTE_NORMAL,
                                 nullptr));
  return file ? std::string() : error_name(::GetLastError());
}

bool is_writable_folder(const std::string& path) {
  const std::string trial = nearest(path) + "/.catenary-" + unique_number();
  return bool(Owned(::CreateFileW(wide_path(trial).c_str(), GENERIC_WRITE, 0, nullptr, CREATE_NEW,
                                  FILE_ATTRIBUTE_TEMPORARY | FILE_FLAG_DELETE_ON_CLOSE, nullptr)));
}

std::string temporary_folder_of_user(const std::string& name) {
  return temporary_root() + "/" + name + "-" + user_name();
}

std::string user_cache_folder() { return our_path(wide(environment_variable(L"LOCALAPPDATA"))); }

std::int64_t owner_group(const std::string&) { return -1; }

std::string link_target(const std::string&) { return {}; }

std::uint64_t free_bytes(const std::string& path) { return space(path, true).QuadPart; }
std::uint64_t total_bytes(const std::string& path) { return space(path, false).QuadPart; }

bool is_network_folder(const std::string& path) {
  wchar_t root[MAX_PATH + 1] = {};
  return ::GetVolumePathNameW(wide_path(nearest(path)).c_str(), root, MAX_PATH) &&
         ::GetDriveTypeW(root) == DRIVE_REMOTE;
}

}  // namespace catenary::os
