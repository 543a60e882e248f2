#pragma once
// Private to core/os: the names of an AtomicFile's temporary files.

#include <string>

namespace catenary::os {

/// Returns the prefix, before the numbers, of the names of a file's temporary files.
std::string temporary_prefix(const std::string& target);
/// Returns whether this is the name of an AtomicFile's temporary file: for `target`, or for any file if `target` is
/// empty.
bool is_temporary(const std::string& name, const std::string& target);

}  // namespace catenary::os
