#pragma once
// Private to the library: an undefined Variable is named by the function that was given it and by the argument.

#include <string>
#include <vector>

#include "catenary/autograd/variable.h"
#include "catenary/core/fields.h"

namespace catenary::detail {

/// The name of the first Variable that is undefined, "ws[1][0]" in lists; empty where there is none.
inline std::string undefined_in(const Variable& v, const std::string& name) { return v.defined() ? "" : name; }
template <class T>
std::string undefined_in(const std::vector<T>& all, const std::string& name) {
  std::string found;
  for (std::size_t i = 0; i < all.size() && found.empty(); ++i)
    found = undefined_in(all[i], name + '[' + std::to_string(i) + ']');
  return found;
}
inline bool is_defined(const Variable& v) { return v.defined(); }
template <class T>
bool is_defined(const std::vector<T>& all) {
  for (const T& v : all)
    if (!is_defined(v)) return false;
  return true;
}
[[noreturn]] void throw_undefined(const char* function, const std::string& name);

template <class... V>
void check_defined(const char* function, const char* names, const V&... values) {
  if ((is_defined(values) && ...)) return;
  const std::vector<std::string> all = split_names(names);
  std::string found;
  std::size_t i = 0;
  ((found.empty() ? void(found = undefined_in(values, all[i++])) : void()), ...);
  throw_undefined(function, found);
}

}  // namespace catenary::detail

/// Throws ValueError for an argument of the function around it that is an undefined Variable, or a list that holds one.
/// Functions begin with it that look at their arguments before another function is applied to them.
#define CT_DEFINED(...) ::catenary::detail::check_defined(__func__, #__VA_ARGS__, __VA_ARGS__)
