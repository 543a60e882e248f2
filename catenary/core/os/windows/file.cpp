#include "catenary/core/os/file.h"

#include <algorithm>
#include <atomic>
#include <filesystem>
#include <limits>
#include <new>
#include <random>
#include <stdexcept>

#include "catenary/core/format.h"
#include "catenary/core/os/system_temporary_folder.h"
#include "catenary/core/os/windows/detail.h"

namespace catenary::os {

std::wstring wide(std::string_view text) {
  if (text.empty()) return {};
  const int n = static_cast<int>(text.size());
  std::wstring result(static_cast<std::size_t>(::MultiByteToWideChar(CP_UTF8, 0, text.data(), n, nullptr, 0)), L'\0');
  ::MultiByteToWideChar(CP_UTF8, 0, text.data(), n, result.data(), static_cast<int>(result.size()));
  return result;
}

std::string narrow(std::wstring_view text) {
  if (text.empty()) return {};
  const int n = static_cast<int>(text.size());
  const int size = ::WideCharToMultiByte(CP_UTF8, 0, text.data(), n, nullptr, 0, nullptr, nullptr);
  std::string result(static_cast<std::size_t>(size), '\0');
  ::WideCharToMultiByte(CP_UTF8, 0, text.data(), n, result.data(), size, nullptr, nullptr);
  return result;
}

std::wstring wide_path(const std::string& path) {
  constexpr std::size_t kShort = 240;  // a folder needs room for a short file name within the limit of 260
  if (path.find('\0') != std::string::npos) fail<FileError>("{}: a path cannot contain a zero byte", path);
  std::wstring result = wide(path);
  std::replace(result.begin(), result.end(), L'/', L'\\');
  if (result.starts_with(L"\\\\?\\") || result.starts_with(L"\\\\.\\")) return result;
  const DWORD size = ::GetFullPathNameW(result.c_str(), 0, nullptr, nullptr);
  if (size < kShort) return result;
  std::wstring full(size, L'\0');
  full.resize(::GetFullPathNameW(result.c_str(), size, full.data(), nullptr));
  return full.starts_with(L"\\\\") ? L"\\\\?\\UNC" + full.substr(1) : L"\\\\?\\" + full;
}

std::string our_path(std::wstring_view path) {
  if (path.starts_with(L"\\\\?\\UNC\\")) return "/" + our_path(path.substr(7));
  if (path.starts_with(L"\\\\?\\")) path.remove_prefix(4);
  std::string result = narrow(path);
  std::replace(result.begin(), result.end(), '\\', '/');
  return result;
}

std::string reason(DWORD code) {
  if (code == ERROR_FILE_NOT_FOUND || code == ERROR_PATH_NOT_FOUND) return "No such file or directory";
  wchar_t text[512] = {};
  DWORD n = ::FormatMessageW(FORMAT_MESSAGE_FROM_SYSTEM | FORMAT_MESSAGE_IGNORE_INSERTS, nullptr, code, 0, text, 512,
                             nullptr);
  while (n > 0 && (text[n - 1] == L'\n' || text[n - 1] == L'\r' || text[n - 1] == L'.' || text[n - 1] == L' ')) --n;
  return n > 0 ? narrow({text, n}) : fmt::format("error {} of Windows", code);
}

void fail_with(const std::string& path, const char* what, DWORD code) {
  fail<FileError>("{}: {}: {}", path, what, reason(code));
}
void fail_last(const std::string& path, const char* what) { fail_with(path, what, ::GetLastError()); }
void fail_code(const std::string& path, const char* what, const std::error_code& code) {
  fail<FileError>("{}: {}: {}", path, what, code.message());
}

std::vector<std::byte> read_all(HANDLE file, const std::string& path) {
  LARGE_INTEGER size{};
  if (!::GetFileSizeEx(file, &size)) fail_last(path, "cannot read");
  try {
    std::vector<std::byte> bytes(static_cast<std::size_t>(size.QuadPart));
    for (std::size_t used = 0; used < bytes.size();) {
      DWORD n = 0;
      const auto wanted = static_cast<DWORD>(std::min<std::size_t>(bytes.size() - used, std::size_t{1} << 30));
      if (!::ReadFile(file, bytes.data() + used, wanted, &n, nullptr)) fail_last(path, "cannot read");
      if (n == 0) bytes.resize(used);
      used += n;
    }
    return bytes;
  } catch (const std::bad_alloc&) {
    fail<FileError>("{}: its {} bytes do not fit into memory", path, size.QuadPart);
  } catch (const std::length_error&) {
    fail<FileError>("{}: its {} bytes do not fit into memory", path, size.QuadPart);
  }
}

void write_all(HANDLE file, std::span<const std::byte> bytes, const std::string& path) {
  while (!bytes.empty()) {
    DWORD n = 0;
    const auto wanted = static_cast<DWORD>(std::min<std::size_t>(bytes.size(), std::size_t{1} << 30));
    if (!::WriteFile(file, bytes.data(), wanted, &n, nullptr)) fail_last(path, "cannot write");
    bytes = bytes.subspan(n);
  }
}

std::string unique_number() {
  static std::atomic<unsigned> counter{0};
  std::random_device random;
  return fmt::format("{}-{:x}", counter++, random() & 0xffffffu);
}

std::string environment_variable(const wchar_t* name) {
  const DWORD size = ::GetEnvironmentVariableW(name, nullptr, 0);
  if (size == 0) return {};
  std::wstring value(size, L'\0');
  value.resize(::GetEnvironmentVariableW(name, value.data(), size));
  return narrow(value);
}

std::string temporary_root() {
  wchar_t path[MAX_PATH + 2] = {};
  const DWORD n = ::GetTempPathW(MAX_PATH + 1, path);
  if (n == 0) fail_last("the folder for temporary files", "cannot find");
  std::string root = our_path({path, n});
  if (root.ends_with('/')) root.pop_back();
  return root;
}

namespace {

/// Opens a file only if it is one: a device may have no end. Other programs may rename and replace it meanwhile.
Owned open_for_reading(const std::string& path) {
  const std::wstring name = wide_path(path);
  const DWORD attributes = ::GetFileAttributesW(name.c_str());
  if (attributes == INVALID_FILE_ATTRIBUTES) fail_last(path, "cannot open");
  if (attributes & FILE_ATTRIBUTE_DIRECTORY) fail<FileError>("{}: cannot read: Is a directory", path);
  Owned file;
  const DWORD code = retry_shared([&] {
    file = Owned(::CreateFileW(name.c_str(), GENERIC_READ, FILE_SHARE_READ | FILE_SHARE_WRITE | FILE_SHARE_DELETE,
                               nullptr, OPEN_EXISTING, FILE_ATTRIBUTE_NORMAL, nullptr));
    return bool(file);
  });
  if (code != 0) fail_with(path, "cannot open", code);
  if (::GetFileType(file.get()) != FILE_TYPE_DISK)
    fail<FileError>("{}: it is a device; only regular files can be read: copy its output into one", path);
  return file;
}

WIN32_FILE_ATTRIBUTE_DATA attributes_of(const std::string& path, const char* what) {
  WIN32_FILE_ATTRIBUTE_DATA data{};
  if (!::GetFileAttributesExW(wide_path(path).c_str(), GetFileExInfoStandard, &data)) fail_last(path, what);
  return data;
}

}  // namespace

std::vector<std::byte> read_file(const std::string& path) { return read_all(open_for_reading(path).get(), path); }

FileView::FileView(const std::string& path) : path_(path) {
  const Owned file = open_for_reading(path);
  LARGE_INTEGER size{};
  if (!::GetFileSizeEx(file.get(), &size)) fail_last(path, "cannot read");
  if (size.QuadPart == 0) return;
  const Owned mapping(::CreateFileMappingW(file.get(), nullptr, PAGE_READONLY, 0, 0, nullptr));
  if (void* const memory = mapping ? ::MapViewOfFile(mapping.get(), FILE_MAP_READ, 0, 0, 0) : nullptr) {
    data_ = static_cast<const std::byte*>(memory);
    size_ = static_cast<std::size_t>(size.QuadPart);
    mapped_ = true;
    return;
  }
  copy_ = read_all(file.get(), path);
  data_ = copy_.data();
  size_ = copy_.size();
}

FileView::~FileView() {
  if (mapped_) ::UnmapViewOfFile(data_);
}

bool exists(const std::string& path) {
  return !path.empty() && ::GetFileAttributesW(wide_path(path).c_str()) != INVALID_FILE_ATTRIBUTES;
}

bool is_directory(const std::string& path) {
  const DWORD attributes = path.empty() ? INVALID_FILE_ATTRIBUTES : ::GetFileAttributesW(wide_path(path).c_str());
  return attributes != INVALID_FILE_ATTRIBUTES && (attributes & FILE_ATTRIBUTE_DIRECTORY);
}

std::size_t file_size(const std::string& path) {
  const WIN32_FILE_ATTRIBUTE_DATA data = attributes_of(path, "cannot get its size");
  return static_cast<std::size_t>(std::uint64_t{data.nFileSizeHigh} << 32 | data.nFileSizeLow);
}

double modification_time(const std::string& path) {
  const FILETIME time = attributes_of(path, "cannot get its time").ftLastWriteTime;
  const std::uint64_t ticks = std::uint64_t{time.dwHighDateTime} << 32 | time.dwLowDateTime;  // of 100 ns since 1601
  return 1e-7 * static_cast<double>(ticks) - 11644473600.0;
}

std::vector<std::string> list_directory(const std::string& path) {
  WIN32_FIND_DATAW entry{};
  const HANDLE search = ::FindFirstFileW((wide_path(path) + L"\\*").c_str(), &entry);
  if (search == INVALID_HANDLE_VALUE) fail_last(path, "cannot list");
  std::vector<std::string> names;
  do {
    const std::string name = narrow(entry.cFileName);
    if (name != "." && name != "..") names.push_back(name);
  } while (::FindNextFileW(search, &entry));
  ::FindClose(search);
  std::sort(names.begin(), names.end());
  return names;
}

void make_directories(const std::string& path) {
  if (path.empty() || is_directory(path)) return;
  if (exists(path)) fail<FileError>("{}: cannot make the folder: a file has this name", path);
  const std::size_t end = path.find_last_not_of("/\\"), slash = path.find_last_of("/\\", end);
  if (slash != std::string::npos && slash > 0 && path[slash - 1] != ':') make_directories(path.substr(0, slash));
  if (!::CreateDirectoryW(wide_path(path).c_str(), nullptr) && ::GetLastError() != ERROR_ALREADY_EXISTS)
    fail_last(path, "cannot make the folder");
  if (!is_directory(path)) fail<FileError>("{}: cannot make the folder: a file has this name", path);
}

void remove_file(const std::string& path) {
  const std::wstring name = wide_path(path);
  const DWORD code = retry_shared([&] { return ::DeleteFileW(name.c_str()); });
  if (code != 0 && code != ERROR_FILE_NOT_FOUND && code != ERROR_PATH_NOT_FOUND) fail_with(path, "cannot remove", code);
}

std::string make_temporary_directory(const std::string& prefix) {
  for (int attempt = 0; attempt < 100; ++attempt) {
    const std::string path =
        fmt::format("{}/{}{}-{}", temporary_root(), prefix, ::GetCurrentProcessId(), unique_number());
    if (::CreateDirectoryW(wide_path(path).c_str(), nullptr)) return path;
    if (::GetLastError() != ERROR_ALREADY_EXISTS) fail_last(path, "cannot make the folder");
  }
  fail<FileError>("{}/{}: cannot make a folder", temporary_root(), prefix);
}

void remove_directory(const std::string& path) {
  const std::wstring name = wide_path(path);
  const DWORD attributes = ::GetFileAttributesW(name.c_str());
  if (attributes == INVALID_FILE_ATTRIBUTES) return;
  if (!(attributes & FILE_ATTRIBUTE_DIRECTORY)) return remove_file(path);
  if (!(attributes & FILE_ATTRIBUTE_REPARSE_POINT))
    for (const std::string& entry : list_directory(path)) remove_directory(path + "/" + entry);
  const DWORD code = retry_shared([&] { return ::RemoveDirectoryW(name.c_str()); });
  if (code != 0 && code != ERROR_FILE_NOT_FOUND && code != ERROR_PATH_NOT_FOUND)
    fail_with(path, "cannot remove the folder", code);
}

}  // namespace catenary::os
