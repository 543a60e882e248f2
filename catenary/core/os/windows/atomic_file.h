#pragma once
// Private to core/os/windows: where an AtomicFile writes.

#include <string>

#include "catenary/core/os/file.h"
#include "catenary/core/os/windows/detail.h"

namespace catenary::os {

struct AtomicFile::Place {
  std::string folder, name;
  std::string temporary = {};
  Owned file = {};  ///< none after commit
};

/// Removes a temporary file whose writer is gone. A writer has it open, and then the system refuses.
bool remove_abandoned(const std::string& path);

}  // namespace catenary::os
