#pragma once
// Private to the library and its tools: the variables CATENARY_… of the environment, all of which are listed and read
// here. The first call of any of these functions looks at all of them, so that a value that makes no sense is reported
// at once and once, whatever is asked for. It also tells, on standard error and once, of names CATENARY_… that nothing
// reads.

#include <string>
#include <string_view>

#include "catenary/core/export.h"

namespace catenary::environment {

/// Throws ValueError that names each variable whose value makes no sense, and what was expected.
CT_API void check();

/// The value of a variable, or that of the older one in its place (CHAINER_DEBUG); empty where neither is set.
CT_API std::string text(std::string_view name);
/// 0 or 1.
CT_API bool flag(std::string_view name, bool otherwise = false);
/// A number of 1 or more; 0 where it is not set.
CT_API int number(std::string_view name);
/// Is a word in a list?
CT_API bool lists(std::string_view name, std::string_view word);

}  // namespace catenary::environment
