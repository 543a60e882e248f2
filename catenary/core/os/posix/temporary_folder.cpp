#include "catenary/core/os/temporary_folder.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <exception>
#include <filesystem>

#include "catenary/core/os/file.h"
#include "catenary/core/os/posix/detail.h"

namespace catenary::os {

namespace {

/// Opens and locks a folder of this user that still has its name. Returns nothing if another process has the lock.
Descriptor locked(const std::string& path) {
  Descriptor folder(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  struct stat info {};
  if (!folder || ::flock(folder.get(), LOCK_EX | LOCK_NB) != 0) return {};
  // it may have been removed between open and flock
  if (::fstat(folder.get(), &info) != 0 || info.st_nlink == 0 || info.st_uid != ::geteuid()) return {};
  return folder;
}

}  // namespace

TemporaryFolder::TemporaryFolder(const std::string& prefix) {
  // a cleaning process may remove the folder between its creation and the lock
  for (int tries = 0; lock_ == Handle::none && tries < 100; ++tries) {
    path_ = make_temporary_directory(prefix);
    lock_ = to_handle(locked(path_).release());
  }
  if (lock_ == Handle::none) fail_errno(path_, "cannot lock the folder");
}

TemporaryFolder::~TemporaryFolder() {
  try {
    remove_directory(path_);
  } catch (const std::exception&) {
    // the next process removes it
  }
  ::close(descriptor_of(lock_));
}

void TemporaryFolder::remove_abandoned(const std::string& prefix) noexcept {
  try {
    const std::string root = std::filesystem::temp_directory_path().string();
    for (const std::string& name : list_directory(root)) {
      if (!name.starts_with(prefix)) continue;
      const std::string path = root + "/" + name;
      if (const Descriptor lock = locked(path)) remove_directory(path);
    }
  } catch (const std::exception&) {
    return;
  }
}

}  // namespace catenary::os
