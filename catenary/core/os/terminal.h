#pragma once
// Queries of terminals, and lines that the user types.

#include <string>

#include "catenary/core/export.h"

namespace catenary::os {

/// File descriptors.
inline constexpr int kStandardOutput = 1, kStandardError = 2;

/// Returns whether the file descriptor is a terminal.
CT_API bool is_terminal(int descriptor);
/// Returns the columns of the terminal, else COLUMNS, else 80.
CT_API int terminal_width(int descriptor = kStandardError);
/// Reads a line of standard input without its line end, as UTF-8. Returns false at the end of the input.
CT_API bool read_line(std::string& line);

}  // namespace catenary::os
