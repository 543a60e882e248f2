#pragma once
// Private to core/os/posix: where an AtomicFile writes.

#include <string>

#include "catenary/core/os/file.h"
#include "catenary/core/os/posix/detail.h"

namespace catenary::os {

/// Names within an open folder. Moving or replacing the folder during the write therefore has no effect.
struct AtomicFile::Place {
  Descriptor folder;
  std::string folder_path, name;
  unsigned mode = 0644;
  std::string temporary = {};
  Descriptor file = {};  ///< none after commit
};

}  // namespace catenary::os
