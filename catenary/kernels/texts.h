#pragma once
// kernels/: kernel texts in the C that CUDA, HIP and OpenCL C 1.2 share, and a prelude for each dialect. A text
// includes nothing and knows no host code; backends compile it for the card that is there. The build puts all of them,
// and the math prelude of ops/, into the library.

#include <string_view>

#include "catenary/core/export.h"

namespace catenary::kernels {

/// The text of a file by its name without folder and ending: "memory", "math", … Throws ValueError for an unknown one.
CT_API std::string_view text(std::string_view name);

}  // namespace catenary::kernels
