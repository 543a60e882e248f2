#pragma once
// Private to core/os: the parts of TemporaryFolder that depend on the system.

#include <string>

#include "catenary/core/os/handle.h"

namespace catenary::os {

/// Locks a folder of this user. Returns nothing if there is no such folder, or if another process has the lock.
Handle lock_folder(const std::string& path);
void unlock_folder(Handle lock);

/// Returns the folder for temporary files, without a slash at its end. Throws FileError.
std::string temporary_root();

}  // namespace catenary::os
