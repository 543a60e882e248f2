#pragma once
// The location of this copy of Catenary. A build, an installation and an unpacked bundle find their files through it.

#include <string>

#include "catenary/core/export.h"

namespace catenary::os {

/// Returns the folder of the loaded library, or of the program if the library is linked statically.
CT_API std::string library_folder();

/// Returns the folder share/catenary of this copy, which holds mnist/. In a build tree it is a link to the checkout's
/// data/. Empty if there is none.
CT_API std::string share_folder();

}  // namespace catenary::os
