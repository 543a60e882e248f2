#pragma once
// The version. It is written here and nowhere else: CMakeLists.txt reads it from this file.

#include "catenary/core/export.h"

#define CATENARY_VERSION_MAJOR 0
#define CATENARY_VERSION_MINOR 1
#define CATENARY_VERSION_PATCH 0
/// One number to compare with: major * 10000 + minor * 100 + patch.
#define CATENARY_VERSION (CATENARY_VERSION_MAJOR * 10000 + CATENARY_VERSION_MINOR * 100 + CATENARY_VERSION_PATCH)

namespace catenary {

/// The version of the library that is loaded ("0.1.0"); CATENARY_VERSION is that of the headers.
CT_API const char* version();
/// The same as one number, to compare with CATENARY_VERSION.
CT_API int version_number();

}  // namespace catenary
