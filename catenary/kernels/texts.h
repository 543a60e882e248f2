#pragma once
// kernels/: kernel texts in the common subset of CUDA, HIP and OpenCL C 1.2, and a prelude for each dialect. A text
// includes nothing and has no host code. Backends compile it for the available GPU. The build embeds all texts, and the
// math prelude of ops/, in the library.

#include <string_view>

#include "catenary/core/export.h"

namespace catenary::kernels {

/// Returns the text of a file by its name without folder and extension: "memory", "math", … Throws ValueError for an
/// unknown name.
CT_API std::string_view text(std::string_view name);

}  // namespace catenary::kernels
