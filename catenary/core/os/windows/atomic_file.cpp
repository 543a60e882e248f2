#include "catenary/core/os/windows/atomic_file.h"

#include <memory>

#include "catenary/core/format.h"
#include "catenary/core/os/temporary_name.h"

namespace catenary::os {

namespace {

/// Follows a symbolic link to its file.
std::string resolve_link(const std::string& path) {
  const std::wstring name = wide_path(path);
  const DWORD attributes = ::GetFileAttributesW(name.c_str());
  if (attributes == INVALID_FILE_ATTRIBUTES || !(attributes & FILE_ATTRIBUTE_REPARSE_POINT)) return path;
  const Owned file(::CreateFileW(name.c_str(), 0, FILE_SHARE_READ | FILE_SHARE_WRITE | FILE_SHARE_DELETE, nullptr,
                                 OPEN_EXISTING, FILE_FLAG_BACKUP_SEMANTICS, nullptr));
  const DWORD size = file ? ::GetFinalPathNameByHandleW(file.get(), nullptr, 0, 0) : 0;
  if (size == 0) fail_last(path, "cannot follow the link");
  std::wstring target(size, L'\0');
  target.resize(::GetFinalPathNameByHandleW(file.get(), target.data(), size, 0));
  return our_path(target);
}

}  // namespace

bool remove_abandoned(const std::string& path) { return ::DeleteFileW(wide_path(path).c_str()) != 0; }

AtomicFile::Place AtomicFile::place_of(const std::string& path) {
  const std::string target = resolve_link(path);
  const std::size_t slash = target.find_last_of("/\\");
  if (slash == std::string::npos) return {".", target};
  return {target.substr(0, slash == 0 || target[slash - 1] == ':' ? slash + 1 : slash), target.substr(slash + 1)};
}

AtomicFile::AtomicFile(const std::string& path) : AtomicFile(path, place_of(path)) {}

AtomicFile::AtomicFile(const std::string& path, Place&& given)
    : path_(path), place_(std::make_unique<Place>(std::move(given))) {
  Place& place = *place_;
  if (place.name.empty()) fail<FileError>("'{}': cannot write: no file name", path);
  if (is_directory(path)) fail<FileError>("{}: cannot write: it is a directory", path);
  if (!is_directory(place.folder))
    fail<FileError>("{}: cannot create a file in its folder: No such file or directory", path);
  for (const std::string& name : list_directory(place.folder))
    if (is_temporary(name, place.name)) remove_abandoned(place.folder + "/" + name);
  for (int attempt = 0; attempt < 100; ++attempt) {
    place.temporary =
        fmt::format("{}{}-{}.tmp", temporary_prefix(place.name), ::GetCurrentProcessId(), unique_number());
    // nobody may delete it while it is open, which shows others that it is being written
    Owned file(::CreateFileW(wide_path(temporary_path()).c_str(), GENERIC_WRITE, FILE_SHARE_READ, nullptr, CREATE_NEW,
                             FILE_ATTRIBUTE_NORMAL, nullptr));
    if (!file && ::GetLastError() != ERROR_FILE_EXISTS) fail_last(path, "cannot create a file in its folder");
    if (!file) continue;
    place.file = std::move(file);
    return;
  }
  fail<FileError>("{}: cannot create a temporary file in its folder", path);
}

AtomicFile::~AtomicFile() {
  if (!place_->file) return;
  place_->file.close();
  ::DeleteFileW(wide_path(temporary_path()).c_str());
}

std::string AtomicFile::temporary_path() const { return place_->folder + "/" + place_->temporary; }

void AtomicFile::write(std::span<const std::byte> bytes) {
  if (!place_->file) fail<FileError>("{}: write after commit", path_);
  write_all(place_->file.get(), bytes, path_);
  offset_ += bytes.size();
}

void AtomicFile::commit() {
  if (!place_->file) fail<FileError>("{}: commit was called before", path_);
  if (!::FlushFileBuffers(place_->file.get())) fail_last(path_, "cannot synchronise to the disk");
  place_->file.close();
  const std::wstring from = wide_path(temporary_path()), to = wide_path(place_->folder + "/" + place_->name);
  const DWORD code = retry_shared(
      [&] { return ::MoveFileExW(from.c_str(), to.c_str(), MOVEFILE_REPLACE_EXISTING | MOVEFILE_WRITE_THROUGH); });
  if (code == 0) return;
  ::DeleteFileW(from.c_str());
  fail_with(path_, "cannot rename the temporary file", code);
}

}  // namespace catenary::os
