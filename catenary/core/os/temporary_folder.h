#pragma once
// Private to the library: folders for temporary files that do not outlive their processes.

#include <string>

#include "catenary/core/export.h"
#include "catenary/core/os/handle.h"

namespace catenary::os {

/// A new empty folder in the system's folder for temporary files. Its name begins with `prefix`. The destructor removes
/// it with its contents. The folder of a killed process stays until remove_abandoned is called. A file lock, which ends
/// with the process, shows that a folder is in use.
class CT_API TemporaryFolder {
 public:
  /// Throws FileError.
  explicit TemporaryFolder(const std::string& prefix);
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  ~TemporaryFolder();
  const std::string& path() const { return path_; }

  /// Removes this user's folders with this prefix that no process uses. Ignores errors, because a folder that stays
  /// does no harm.
  static void remove_abandoned(const std::string& prefix) noexcept;

 private:
  TemporaryFolder(const std::string& path, Handle lock) : path_(path), lock_(lock) {}

  std::string path_;
  Handle lock_ = Handle::none;
};

}  // namespace catenary::os
