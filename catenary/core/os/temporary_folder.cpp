#include "catenary/core/os/temporary_folder.h"

#include <exception>

#include "catenary/core/os/file.h"
#include "catenary/core/os/system_temporary_folder.h"

namespace catenary::os {

TemporaryFolder::~TemporaryFolder() {
  try {
    remove_directory(path_);
  } catch (const std::exception&) {
    // the next process removes it
  }
  unlock_folder(lock_);
}

void TemporaryFolder::remove_abandoned(const std::string& prefix) noexcept {
  try {
    const std::string root = temporary_root();
    for (const std::string& name : list_directory(root)) {
      const std::string path = root + "/" + name;
      if (!name.starts_with(prefix) || !is_directory(path)) continue;
      const Handle lock = lock_folder(path);
      if (lock != Handle::none) const TemporaryFolder abandoned(path, lock);
    }
  } catch (const std::exception&) {
    return;
  }
}

}  // namespace catenary::os
