#pragma once
// The version. This file is its only source: CMakeLists.txt and pyproject.toml read it from here.

#include "catenary/core/export.h"

#define CATENARY_VERSION_MAJOR 0
#define CATENARY_VERSION_MINOR 2
#define CATENARY_VERSION_PATCH 0
/// One number for comparisons: major * 10000 + minor * 100 + patch.
#define CATENARY_VERSION (CATENARY_VERSION_MAJOR * 10000 + CATENARY_VERSION_MINOR * 100 + CATENARY_VERSION_PATCH)

namespace catenary {

/// Returns the version of the loaded library as "MAJOR.MINOR.PATCH". CATENARY_VERSION is the version of the headers.
CT_API const char* version();
/// Returns the version of the loaded library as a number, for comparison with CATENARY_VERSION.
CT_API int version_number();

}  // namespace catenary
