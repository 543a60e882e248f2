#pragma once
// Converts JSON values to argument types.

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "catenary/array/manipulation.h"
#include "catenary/autograd/attributes.h"
#include "catenary/core/per_axis.h"

namespace reference {

using nlohmann::json;

/// A value of a type that may lack a default constructor.
template <class T>
T made() {
  if constexpr (std::is_default_constructible_v<T>)
    return T();
  else
    return T(0);
}

// Each returns whether the value has the type, and then sets `to`.

inline bool read(const json& j, bool& to) {
  if (j.is_boolean()) to = j.get<bool>();
  return j.is_boolean();
}
template <class T>
requires(std::is_integral_v<T>) bool read(const json& j, T& to) {
  if (j.is_number_integer()) to = j.get<T>();
  return j.is_number_integer();
}
inline bool read(const json& j, double& to) {
  if (j.is_number()) to = j.get<double>();
  return j.is_number();
}
inline bool read(const json& j, std::string& to) {
  if (j.is_string()) to = j.get<std::string>();
  return j.is_string();
}
/// An enumerator, by its name.
template <class E>
requires(std::is_enum_v<E>) bool read(const json& j, E& to) {
  const auto found = j.is_string() ? catenary::detail::enumerator_named<E>(j.get<std::string>()) : std::nullopt;
  if (found) to = *found;
  return found.has_value();
}
inline bool read(const json& j, catenary::Scalar& to) {
  if (j.is_boolean()) {
    to = j.get<bool>();
  } else if (j.is_number_integer()) {
    to = j.get<std::int64_t>();
  } else if (j.is_number()) {
    to = j.get<double>();
  }
  return j.is_boolean() || j.is_number();
}
/// A list of integers. A single integer is a list of one. Also for PerAxis.
inline bool read(const json& j, catenary::Dims& to) {
  catenary::Shape all;
  for (const json& value : j.is_array() ? j : json::array({j})) {
    if (!value.is_number_integer()) return false;
    all.push_back(value.get<std::int64_t>());
  }
  to = all;
  return true;
}
/// Null means all axes.
inline bool read(const json& j, catenary::AxisArg& to) {
  catenary::Shape axes;
  if (!j.is_null() && !read(j, axes)) return false;
  to = j.is_null() ? catenary::AxisArg() : catenary::AxisArg(axes);
  return true;
}
/// NumPy's forms of a width: for all sides, for before and after, or pairs.
template <class T>
bool read(const json& j, catenary::PerSide<T>& to) {
  T both(0);
  std::pair<T, T> pair(0, 0);
  const auto is_pair = [&](const json& of) {
    return of.is_array() && of.size() == 2 && read(of[0], pair.first) && read(of[1], pair.second);
  };
  std::vector<std::pair<T, T>> pairs;
  if (read(j, both)) {
    pairs.emplace_back(both, both);
  } else if (is_pair(j)) {
    pairs.push_back(pair);
  } else {
    for (const json& of : j) {
      if (!is_pair(of)) return false;
      pairs.push_back(pair);
    }
  }
  to = pairs;
  return true;
}
/// Null means not given.
template <class T>
requires requires(const json& j, T& value) { read(j, value); }
bool read(const json& j, std::optional<T>& to) {
  T value = made<T>();
  if (!j.is_null() && !read(j, value)) return false;
  to = j.is_null() ? std::optional<T>() : std::optional<T>(value);
  return true;
}

inline std::vector<std::int64_t> integers(const json& j) { return j.get<std::vector<std::int64_t>>(); }

}  // namespace reference
