#include "catenary/core/os/posix/atomic_file.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/file.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <filesystem>
#include <memory>
#include <random>

#include "catenary/core/format.h"
#include "catenary/core/os/temporary_name.h"

namespace catenary::os {

namespace {

std::string folder_of(const std::string& path) {
  const std::size_t slash = path.rfind('/');
  if (slash == std::string::npos) return ".";
  return slash == 0 ? "/" : path.substr(0, slash);
}

/// Follows symbolic links, even to a file that does not exist yet.
std::string resolve_links(std::string path) {
  for (int i = 0; i < 40; ++i) {
    std::error_code code;
    if (!std::filesystem::is_symlink(path, code)) return path;
    const std::filesystem::path link = std::filesystem::read_symlink(path, code);
    if (code) fail_code(path, "cannot follow the link", code);
    path = link.is_absolute() ? link.string() : folder_of(path) + "/" + link.string();
  }
  fail<FileError>("{}: too many symbolic links", path);
}

}  // namespace

std::vector<std::string> names_in(int folder) {
  std::vector<std::string> names;
  Descriptor again(::openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  const std::unique_ptr<DIR, int (*)(DIR*)> stream(again ? ::fdopendir(again.get()) : nullptr, &::closedir);
  if (!stream) return names;
  again.release();  // the stream owns it now
  while (const dirent* entry = ::readdir(stream.get())) {
    const std::string name = entry->d_name;
    if (name != "." && name != "..") names.push_back(name);
  }
  return names;
}

bool remove_abandoned(int folder, const std::string& name) {
  const Descriptor file(::openat(folder, name.c_str(), O_WRONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
  struct stat info {};
  return file && ::fstat(file.get(), &info) == 0 && S_ISREG(info.st_mode) && info.st_uid == ::geteuid() &&
         ::flock(file.get(), LOCK_EX | LOCK_NB) == 0 && ::unlinkat(folder, name.c_str(), 0) == 0;
}

AtomicFile::Place AtomicFile::place_of(const std::string& path) {
  const std::string target = resolve_links(path), folder = folder_of(target);
  Place place{Descriptor(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)), folder,
              std::filesystem::path(target).filename().string()};
  // a folder that may be written but not read
  if (!place.folder && errno == EACCES) place.folder = Descriptor(::open(folder.c_str(), O_PATH | O_CLOEXEC));
  if (!place.folder) fail_errno(path, "cannot create a file in its folder");
  return place;
}

AtomicFile::AtomicFile(const std::string& path) : AtomicFile(path, place_of(path)) {}

AtomicFile::AtomicFile(const std::string& path, Place&& given)
    : path_(path), place_(std::make_unique<Place>(std::move(given))) {
  static std::atomic<unsigned> counter{0};
  Place& place = *place_;
  if (place.name.empty()) fail<FileError>("'{}': cannot write: no file name", path);
  struct stat info {};
  if (::fstatat(place.folder.get(), place.name.c_str(), &info, 0) == 0 && S_ISDIR(info.st_mode))
    fail<FileError>("{}: cannot write: it is a directory", path);
  for (const std::string& name : names_in(place.folder.get()))
    if (is_temporary(name, place.name)) remove_abandoned(place.folder.get(), name);
  std::random_device random;
  for (int attempt = 0; attempt < 100; ++attempt) {
    place.temporary =
        fmt::format("{}{}-{}-{:x}.tmp", temporary_prefix(place.name), ::getpid(), counter++, random() & 0xffffffu);
    // the mode goes through open, so that the kernel applies the umask
    Descriptor file(::openat(place.folder.get(), place.temporary.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC,
                             static_cast<mode_t>(place.mode)));
    if (!file && errno != EEXIST) fail_errno(path, "cannot create a file in its folder");
    // The lock shows others that the file is being written. A cleaner that ran before it may have removed the file.
    if (!file || (::flock(file.get(), LOCK_EX) == 0 && ::fstat(file.get(), &info) == 0 && info.st_nlink == 0)) continue;
    place.file = std::move(file);
    return;
  }
  fail<FileError>("{}: cannot create a temporary file in its folder", path);
}

AtomicFile::~AtomicFile() {
  if (place_->file) ::unlinkat(place_->folder.get(), place_->temporary.c_str(), 0);
}

std::string AtomicFile::temporary_path() const { return place_->folder_path + "/" + place_->temporary; }

void AtomicFile::write(std::span<const std::byte> bytes) {
  if (!place_->file) fail<FileError>("{}: write after commit", path_);
  while (!bytes.empty()) {
    const ssize_t n =
        ::write(place_->file.get(), bytes.data(), std::min<std::size_t>(bytes.size(), std::size_t{1} << 30));
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) fail_errno(path_, "cannot write");
    bytes = bytes.subspan(static_cast<std::size_t>(n));
    offset_ += static_cast<std::uint64_t>(n);
  }
}

void AtomicFile::commit() {
  if (!place_->file) fail<FileError>("{}: commit was called before", path_);
  if (::fsync(place_->file.get()) != 0 && errno != EINVAL && errno != ENOTSUP)
    fail_errno(path_, "cannot synchronise to the disk");
  const int folder = place_->folder.get();
  if (::renameat(folder, place_->temporary.c_str(), folder, place_->name.c_str()) != 0)
    fail_errno(path_, "cannot rename the temporary file");
  place_->file.close();
  // makes the new name durable, too, but on file systems without fsync of folders the content is still safe
  ::fsync(folder);
}

}  // namespace catenary::os
