#pragma once
// Private to the library: folders for temporary files that do not outlive their processes.

#include <string>

#include "catenary/core/export.h"

namespace catenary::os {

/// A new empty folder under the system's place for temporary files, its name beginning with `prefix`. It is removed
/// with all that is in it when this object goes; the folder of a process that was killed stays until somebody calls
/// remove_abandoned. A lock that the system gives up with the process tells whether a folder is in use.
class CT_API TemporaryFolder {
 public:
  /// Throws FileError.
  explicit TemporaryFolder(const std::string& prefix);
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  ~TemporaryFolder();
  const std::string& path() const { return path_; }

  /// Removes this user's folders with this prefix that no process uses; throws nothing, as what cannot be removed does
  /// no harm.
  static void remove_abandoned(const std::string& prefix) noexcept;

 private:
  std::string path_;
  int lock_ = -1;
};

}  // namespace catenary::os
