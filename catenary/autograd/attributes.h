#pragma once
// Attributes describe an operation of the graph apart from its inputs: axes, windows, masks.
//
//   class Sum : public FunctionNode {
//    public:
//     Sum(const AxisArg& axis, bool keepdims) : axis_(axis), keepdims_(keepdims) {}
//     const char* name() const override { return "Sum"; }
//     CT_ATTRIBUTES(axis_, keepdims_)
//     …
//   };
//
// A function without CT_ATTRIBUTES has no description, and callers that need the description reject the function.
// Functions of autograd/elementwise.h without members are described automatically.

#include <array>
#include <complex>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "catenary/array/manipulation.h"
#include "catenary/autograd/function_node.h"
#include "catenary/core/fields.h"
#include "catenary/core/window.h"

namespace catenary {

/// Holds the value of an attribute. std::monostate stands for an argument that was not given. Enumerators are strings.
using Attribute =
    std::variant<std::monostate, bool, std::int64_t, double, std::complex<double>, std::string, Dtype, Device,
                 std::vector<std::int64_t>, std::vector<double>, std::vector<std::string>, std::vector<Index>, Array>;

/// Receives the attributes of an operation one by one.
class CT_API AttributeVisitor {
 public:
  virtual void operator()(const std::string& name, const Attribute& value) = 0;

 protected:
  ~AttributeVisitor() = default;
};

/// Returns the attributes of a function with their names. Throws ValueError if the function does not describe itself.
CT_API std::vector<std::pair<std::string, Attribute>> attributes_of(const FunctionNode& function);
/// Returns the value in Python's notation, for an array only its dtype and shape.
CT_API std::string to_string(const Attribute& value);

CT_FIELDS(Window, size, stride, pad, dilate)

namespace detail {

/// Returns the name of an enumerator: "mean" for Reduce::mean.
template <auto value>
constexpr std::string_view enumerator() {
  constexpr std::string_view text = __PRETTY_FUNCTION__;  // "… [with auto value = catenary::Reduce::mean; …]"
  constexpr std::size_t begin = text.find("value = ") + 8;
  constexpr std::string_view full = text.substr(begin, text.find_first_of(";]", begin) - begin);
  return full.substr(full.rfind(':') + 1);
}
template <class E>
constexpr auto enumerators = []<std::size_t... i>(std::index_sequence<i...>) {
  return std::array<std::string_view, sizeof...(i)>{enumerator<static_cast<E>(i)>()...};
}
(std::make_index_sequence<16>());
template <class E>
std::string enumerator_of(E value) {
  const auto at = static_cast<std::size_t>(value);
  return at < enumerators<E>.size() ? std::string(enumerators<E>[at]) : std::string();
}
/// Returns the enumerator with this name.
template <class E>
std::optional<E> enumerator_named(std::string_view name) {
  for (std::size_t i = 0; i < enumerators<E>.size(); ++i)
    if (enumerators<E>[i] == name) return static_cast<E>(i);
  return std::nullopt;
}

CT_API Attribute attribute(const std::string& value);
CT_API Attribute attribute(const Dtype& value);
CT_API Attribute attribute(const Device& value);
CT_API Attribute attribute(const Dims& value);
CT_API Attribute attribute(const AxisArg& value);
CT_API Attribute attribute(const Scalar& value);
CT_API Attribute attribute(const Sections& value);
CT_API Attribute attribute(const PerSide<std::int64_t>& value);
CT_API Attribute attribute(const PerSide<Scalar>& value);
CT_API Attribute attribute(const std::vector<std::int64_t>& value);
CT_API Attribute attribute(const std::vector<std::string>& value);
CT_API Attribute attribute(const std::vector<Index>& value);
/// Returns std::monostate for an undefined array, which stands for an argument that was not given.
CT_API Attribute attribute(const Array& value);
template <class T>
requires std::is_arithmetic_v<T> Attribute attribute(const T& value) {
  if constexpr (std::same_as<T, bool>)
    return value;
  else if constexpr (std::integral<T>)
    return static_cast<std::int64_t>(value);
  else
    return static_cast<double>(value);
}
template <class E>
requires std::is_enum_v<E> Attribute attribute(const E& value) { return enumerator_of(value); }
template <class T>
Attribute attribute(const std::optional<T>& value) {
  return value ? attribute(*value) : Attribute();
}
/// Returns whether a function was given.
template <class Signature>
Attribute attribute(const std::function<Signature>& value) {
  return static_cast<bool>(value);
}

/// Visits a struct with CT_FIELDS field by field, and any other value as a whole.
template <class T>
void tell(AttributeVisitor& visitor, const std::string& name, const T& value) {
  const auto field = [&](const std::string& field_name, const auto& of) { tell(visitor, field_name, of); };
  if constexpr (requires { visit_fields(value, field); })
    visit_fields(value, field);
  else if constexpr (!std::same_as<T, const char*>)  // already reported by name()
    visitor(name, attribute(value));
}

}  // namespace detail
}  // namespace catenary

/// Declares the attributes of a function: its members, in the order of its constructor's parameters. Structs with
/// CT_FIELDS are visited field by field.
#define CT_ATTRIBUTES(...) CT_ATTRIBUTES_OF(std::remove_cvref_t<decltype(*this)> __VA_OPT__(, ) __VA_ARGS__)
/// Declares the attributes in a base class of the function `Self`.
#define CT_ATTRIBUTES_OF(Self, ...)                                                              \
  bool visit_attributes([[maybe_unused]] ::catenary::AttributeVisitor& visitor) const override { \
    static const std::vector<std::string> names = ::catenary::detail::split_names(#__VA_ARGS__); \
    const auto tell_each = [&](const std::string& name, const auto& value) {                     \
      ::catenary::detail::tell(visitor, name, value);                                            \
    };                                                                                           \
    ::catenary::detail::visit_each(tell_each, names __VA_OPT__(, ) __VA_ARGS__);                 \
    return true;                                                                                 \
  }                                                                                              \
  ::catenary::Ref<::catenary::FunctionNode> again() const override {                             \
    return ::catenary::Ref<::catenary::FunctionNode>(new Self(__VA_ARGS__));                     \
  }
