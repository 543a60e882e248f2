#pragma once
// Where this copy of Catenary lies, so that a build, an installation and an unpacked bundle all find their own files.

#include <string>

#include "catenary/core/export.h"

namespace catenary::os {

/// The folder of the loaded libcatenary.so (of the program itself where the library is linked statically).
CT_API std::string library_folder();

/// The folder share/catenary of this copy, which holds mnist/; in a build tree a link to the checkout's data/.
/// Empty where there is none.
CT_API std::string share_folder();

}  // namespace catenary::os
