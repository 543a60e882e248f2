#include "catenary/core/os/private_folder.h"

#include <fcntl.h>
#include <pwd.h>

#include <algorithm>
#include <cerrno>

#include "catenary/core/format.h"
#include "catenary/core/os/posix/atomic_file.h"
#include "catenary/core/os/posix/detail.h"
#include "catenary/core/os/temporary_name.h"

namespace catenary::os {

namespace {

std::string name_of_user(uid_t user) {
  const passwd* entry = ::getpwuid(user);
  return entry ? entry->pw_name : fmt::format("{}", user);
}

/// Throws FileError if another user owns it.
void check_owner(const std::string& path, const struct stat& info) {
  if (info.st_uid != ::geteuid() && info.st_uid != 0)
    fail<FileError>("{}: not used: it belongs to the user {}; expected {} or root", path, name_of_user(info.st_uid),
                    name_of_user(::geteuid()));
}

/// Throws FileError if another user could have written it.
void check_trust(const std::string& path, const struct stat& info) {
  check_owner(path, info);
  if (info.st_mode & (S_IWGRP | S_IWOTH))
    fail<FileError>("{}: not used: {} may write it (mode {:04o}); check its contents, then run `chmod go-w` on it",
                    path, info.st_mode & S_IWOTH ? "everybody" : "its group", info.st_mode & 07777);
}

void make_private_directories(const std::string& path) {
  for (std::size_t end = path.find('/', 1); end != std::string::npos; end = path.find('/', end + 1))
    if (::mkdir(path.substr(0, end).c_str(), 0700) != 0 && errno != EEXIST && errno != EROFS && errno != EACCES)
      fail_errno(path, "cannot make the folder");
  if (::mkdir(path.c_str(), 0700) != 0 && errno != EEXIST) fail_errno(path, "cannot make the folder");
}

}  // namespace

class PrivateFolder::Open {
 public:
  Open(std::string path, Descriptor folder) : path_(std::move(path)), folder_(std::move(folder)) {}
  int fd() const { return folder_.get(); }
  std::string path_of(const std::string& name) const { return path_ + "/" + name; }

 private:
  std::string path_;
  Descriptor folder_;
};

std::optional<PrivateFolder> PrivateFolder::find(const std::string& path) {
  struct stat info {};
  if (::lstat(path.c_str(), &info) == 0 && S_ISLNK(info.st_mode)) check_owner(path, info);
  Descriptor folder(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!folder && errno == ENOENT) return std::nullopt;
  if (!folder || ::fstat(folder.get(), &info) != 0) fail_errno(path, "cannot open the folder");
  check_trust(path, info);
  return PrivateFolder(std::make_shared<const Open>(path, std::move(folder)));
}

PrivateFolder PrivateFolder::make(const std::string& path) {
  if (auto there = find(path)) return *there;
  make_private_directories(path);
  if (auto made = find(path)) return *made;
  fail<FileError>("{}: cannot make the folder", path);
}

std::optional<std::vector<std::byte>> PrivateFolder::read(const std::string& name) const {
  const std::string path = open_->path_of(name);
  const Descriptor file(::openat(open_->fd(), name.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
  if (!file && errno == ENOENT) return std::nullopt;
  if (!file && errno == ELOOP) fail<FileError>("{}: not used: it is a symbolic link", path);
  struct stat info {};
  if (!file || ::fstat(file.get(), &info) != 0) fail_errno(path, "cannot open");
  if (!S_ISREG(info.st_mode))
    fail<FileError>("{}: not used: it is {}", path, S_ISDIR(info.st_mode) ? "a directory" : "no regular file");
  check_trust(path, info);
  return read_all(file.get(), path, static_cast<std::size_t>(info.st_size));
}

void PrivateFolder::write(const std::string& name, std::span<const std::byte> bytes) const {
  Descriptor folder(::fcntl(open_->fd(), F_DUPFD_CLOEXEC, 0));
  if (!folder) fail_errno(open_->path_of(name), "cannot create a file in its folder");
  AtomicFile file(open_->path_of(name), {std::move(folder), open_->path_of("."), name, 0600});
  file.write(bytes);
  file.commit();
}

bool PrivateFolder::remove(const std::string& name) const {
  return is_temporary(name, {}) ? remove_abandoned(open_->fd(), name) : ::unlinkat(open_->fd(), name.c_str(), 0) == 0;
}

std::vector<PrivateFolder::Entry> PrivateFolder::list() const {
  std::vector<Entry> entries;
  for (const std::string& name : names_in(open_->fd())) {
    struct stat info {};
    if (::fstatat(open_->fd(), name.c_str(), &info, AT_SYMLINK_NOFOLLOW) != 0 || !S_ISREG(info.st_mode)) continue;
    entries.push_back({name, static_cast<std::size_t>(info.st_size),
                       static_cast<double>(info.st_mtim.tv_sec) + 1e-9 * static_cast<double>(info.st_mtim.tv_nsec),
                       is_temporary(name, {})});
  }
  std::sort(entries.begin(), entries.end(), [](const Entry& a, const Entry& b) { return a.name < b.name; });
  return entries;
}

}  // namespace catenary::os
