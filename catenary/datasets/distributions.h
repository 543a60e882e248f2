#pragma once
// Private: the datasets that are known by name, as their authors distribute them.

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
  const char* folder;  ///< below data_folder(), or "" for that itself
  const char* home;    ///< what the files' names are added to; "" where they come with Catenary
  std::vector<DistributedFile> files;
  const char* unpacked = "";  ///< the folder that an archive unpacks to, which is read as well
};

/// All of them.
CT_API const std::vector<Distribution>& distributions();
/// The one of a name; throws ValueError that lists the names.
CT_API const Distribution& distribution(const std::string& name);

/// The folder below which datasets lie: what CATENARY_DATA names, else "data".
CT_API std::string data_folder();
/// Where a distribution's files are looked for.
CT_API std::string folder_of(const Distribution& distribution);

}  // namespace catenary::datasets
