#pragma once
// Structs that know the names of their members.

#include <concepts>
#include <string>
#include <type_traits>
#include <vector>

#include "catenary/core/export.h"

namespace catenary::detail {

/// Splits the member names that a macro received: "a, b_" gives {"a", "b"}.
CT_API std::vector<std::string> split_names(const char* names);

template <class Visit, class... M>
void visit_each(Visit& visit, const std::vector<std::string>& names, M&... members) {
  std::size_t i = 0;
  (visit(names[i++], members), ...);
}

/// A Type, const or not. Excludes derived types, which have more members.
template <class T, class Type>
concept ThatVery = std::same_as<std::remove_cvref_t<T>, Type>;

/// Returns a struct as its base, with equal constness.
template <class Base, class T>
auto& as_base(T& fields) {
  return static_cast<std::conditional_t<std::is_const_v<T>, const Base, Base>&>(fields);
}

/// A struct with CT_FIELDS.
template <class T>
concept WithFields = requires(T& value) {
  visit_fields(value, [](const std::string&, auto&) {});
};
/// A value that may be absent: std::optional, and types with its interface.
template <class T>
concept IsOptional = requires(T& value) {
  value.reset(), value.value();
};

}  // namespace catenary::detail

/// Names all members of a struct, in order. Write `CT_FIELDS(Geometry, window, elements)` after the struct, in its
/// namespace. visit_fields(g, [](const std::string& name, auto& value) { … }) then visits them, and can set them if g
/// is not const. A missing member is a compile error.
#define CT_FIELDS(Type, ...)                                                                     \
  template <::catenary::detail::ThatVery<Type> T>                                                \
  void visit_fields(T&& fields, auto&& visit) {                                                  \
    static const std::vector<std::string> names = ::catenary::detail::split_names(#__VA_ARGS__); \
    auto& [__VA_ARGS__] = fields;                                                                \
    ::catenary::detail::visit_each(visit, names, __VA_ARGS__);                                   \
  }
/// Names the members of a struct with one member more than its base. The base's members come first.
#define CT_MORE_FIELD(Type, Base, member)                           \
  template <::catenary::detail::ThatVery<Type> T>                   \
  void visit_fields(T&& fields, auto&& visit) {                     \
    visit_fields(::catenary::detail::as_base<Base>(fields), visit); \
    static const std::string name = #member;                        \
    visit(name, fields.member);                                     \
  }
