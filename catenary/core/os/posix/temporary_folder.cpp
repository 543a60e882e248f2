#include "catenary/core/os/temporary_folder.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "catenary/core/os/file.h"
#include "catenary/core/os/posix/detail.h"
#include "catenary/core/os/system_temporary_folder.h"

namespace catenary::os {

Handle lock_folder(const std::string& path) {
  Descriptor folder(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  struct stat info {};
  if (!folder || ::flock(folder.get(), LOCK_EX | LOCK_NB) != 0) return Handle::none;
  // it may have been removed between open and flock
  if (::fstat(folder.get(), &info) != 0 || info.st_nlink == 0 || info.st_uid != ::geteuid()) return Handle::none;
  return to_handle(folder.release());
}

void unlock_folder(Handle lock) { ::close(descriptor_of(lock)); }

TemporaryFolder::TemporaryFolder(const std::string& prefix) {
  // a cleaning process may remove the folder between its creation and the lock
  for (int tries = 0; lock_ == Handle::none && tries < 100; ++tries) {
    path_ = make_temporary_directory(prefix);
    lock_ = lock_folder(path_);
  }
  if (lock_ == Handle::none) fail_errno(path_, "cannot lock the folder");
}

}  // namespace catenary::os
