#pragma once
// Terminals: is this one, and how wide.

#include "catenary/core/export.h"

namespace catenary::os {

/// File descriptors.
inline constexpr int kStandardOutput = 1, kStandardError = 2;

/// Is the file descriptor a terminal that a human looks at?
CT_API bool is_terminal(int descriptor);
/// Columns of the terminal; else what COLUMNS says; else 80.
CT_API int terminal_width(int descriptor = kStandardError);

}  // namespace catenary::os
