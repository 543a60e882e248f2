#include "catenary/core/os/temporary_folder.h"

#include "catenary/core/format.h"
#include "catenary/core/os/file.h"
#include "catenary/core/os/system_temporary_folder.h"
#include "catenary/core/os/windows/detail.h"

namespace catenary::os {

/// Opens the file beside a folder that shows that it is in use. It disappears with its last handle.
Handle lock_folder(const std::string& path) {
  Owned lock(::CreateFileW(wide_path(path + ".lock").c_str(), GENERIC_WRITE, 0, nullptr, OPEN_ALWAYS,
                           FILE_ATTRIBUTE_TEMPORARY | FILE_FLAG_DELETE_ON_CLOSE, nullptr));
  return lock ? to_handle(lock.release()) : Handle::none;
}

void unlock_folder(Handle lock) { ::CloseHandle(handle_of(lock)); }

TemporaryFolder::TemporaryFolder(const std::string& prefix) {
  for (int tries = 0; lock_ == Handle::none && tries < 100; ++tries) {
    path_ = fmt::format("{}/{}{}-{}", temporary_root(), prefix, ::GetCurrentProcessId(), unique_number());
    lock_ = lock_folder(path_);
    if (lock_ == Handle::none || ::CreateDirectoryW(wide_path(path_).c_str(), nullptr)) continue;
    unlock_folder(lock_);
    lock_ = Handle::none;
  }
  if (lock_ == Handle::none) fail_last(path_, "cannot make and lock the folder");
}

}  // namespace catenary::os
