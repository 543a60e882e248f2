#pragma once
// Private to the library: reports an undefined Variable with the names of the function and the argument.

#include <string>
#include <vector>

#include "catenary/autograd/variable.h"
#include "catenary/core/fields.h"

namespace catenary::detail {

/// Returns the name of the first undefined Variable ("ws[1][0]" in nested lists), or "" if all are defined.
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

/// Throws ValueError if an argument of the enclosing function is an undefined Variable or a list that contains one. For
/// functions that read their arguments before they apply another function to them.
#define CT_DEFINED(...) ::catenary::detail::check_defined(__func__, #__VA_ARGS__, __VA_ARGS__)
