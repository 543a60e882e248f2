#pragma once
// Structs that know the names of their members.

#include <string>
#include <vector>

#include "catenary/core/export.h"

namespace catenary::detail {

/// "a, b_" as {"a", "b"}: the members that a macro names.
CT_API std::vector<std::string> split_names(const char* names);

template <class Visit, class... M>
void visit_each(Visit& visit, const std::vector<std::string>& names, const M&... members) {
  std::size_t i = 0;
  (visit(names[i++], members), ...);
}

}  // namespace catenary::detail

/// Names all members of a struct, in their order: `CT_FIELDS(Geometry, window, elements)` behind it, in its namespace.
/// visit_fields(g, [](const std::string& name, const auto& value) { … }) sees them. Where one is missing it does not
/// compile.
#define CT_FIELDS(Type, ...)                                                                     \
  void visit_fields(const Type& fields, auto&& visit) {                                          \
    static const std::vector<std::string> names = ::catenary::detail::split_names(#__VA_ARGS__); \
    const auto& [__VA_ARGS__] = fields;                                                          \
    ::catenary::detail::visit_each(visit, names, __VA_ARGS__);                                   \
  }
