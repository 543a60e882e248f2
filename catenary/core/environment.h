#pragma once
// Private to the library and its tools: all environment variables CATENARY_…, which are listed and read here, except
// that those for libraries are listed with the libraries. The first call of any of these functions checks all
// variables, so that an invalid value is reported early and once. It also reports once, on standard error, names
// CATENARY_… that nothing reads.

#include <string>
#include <string_view>
#include <vector>

#include "catenary/core/export.h"

namespace catenary::environment {

/// Throws ValueError with the name of each invalid variable and the expected values.
CT_API void check();

/// Returns the value of a variable, or of an older variable that it replaces (CHAINER_DEBUG). Empty if neither is set.
CT_API std::string text(std::string_view name);
/// Returns a variable that is 0 or 1 as a bool.
CT_API bool flag(std::string_view name, bool otherwise = false);
/// Returns a number of 1 or more, or 0 if the variable is not set.
CT_API int number(std::string_view name);
/// Returns whether a list contains a word.
CT_API bool lists(std::string_view name, std::string_view word);

/// Adds a variable that selects a library: "own" or one of the names, in upper or lower case. The kind becomes a word
/// of CATENARY_TRACE. Must be called before main. `variable` must be a literal.
void add_library_choice(std::string_view kind, std::string_view variable, const std::vector<std::string>& names);

}  // namespace catenary::environment
