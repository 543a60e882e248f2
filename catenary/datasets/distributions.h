#pragma once
// Private: the datasets that are known by name, in their authors' distributions.

#include <cstdint>
#include <string>
#include <vector>

#include "catenary/core/export.h"

namespace catenary::datasets {

/// A file of a distribution.
struct DistributedFile {
  const char* name;
  std::int64_t bytes;
  const char* sha256;
};

struct Distribution {
  const char* name;    ///< "fashion-mnist"
  const char* folder;  ///< below data_folder(), or "" for data_folder() itself
  const char* home;    ///< URL prefix of the files, "" if they come with Catenary
  std::vector<DistributedFile> files;
  const char* unpacked = "";  ///< folder that the archive unpacks to, which is read as well
};

/// Returns all distributions.
CT_API const std::vector<Distribution>& distributions();
/// Returns the distribution with this name. Throws ValueError that lists the names.
CT_API const Distribution& distribution(const std::string& name);

/// Returns the folder of all datasets: CATENARY_DATA, or "data".
CT_API std::string data_folder();
/// Returns the folder of a distribution's files.
CT_API std::string folder_of(const Distribution& distribution);

}  // namespace catenary::datasets
