#pragma once
// Private: the settings of config.json.

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <memory>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <vector>

#include "catenary/core/format.h"
#include "catenary/core/json_text.h"
#include "catenary/core/os/file.h"
#include "catenary/links/models/unused_settings.h"
#include "catenary/tokenizers/json.h"

namespace catenary::links::detail {

using nlohmann::json;

/// Returns the keys that occur again in their object, in the order of the text. Only the last value of such a key is
/// used, as in Python.
inline std::vector<std::string> repeated_keys(std::string_view text) {
  std::vector<std::set<std::string>> objects;
  std::vector<std::string> repeated;
  const auto look = [&](int, json::parse_event_t event, json& parsed) {
    if (event == json::parse_event_t::object_start) objects.emplace_back();
    if (event == json::parse_event_t::object_end) objects.pop_back();
    if (event == json::parse_event_t::key && !objects.back().insert(parsed.get<std::string>()).second)
      repeated.push_back(parsed.get<std::string>());
    return true;
  };
  json_text::visit<json>(text, look);
  return repeated;
}

inline json read_json(const std::string& path) {
  const std::vector<std::byte> bytes = os::read_file(path);
  const std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  json value = tokenizers::parse_json(text, path);
  if (!value.is_object()) fail<FileError>("{}: expected a JSON object", path);
  for (const std::string& key : repeated_keys(text)) tell_repeated(path, key);
  return value;
}

/// A JSON object of settings. A null value counts as missing.
class Settings {
 public:
  Settings(std::string path, json values) : path_(std::move(path)), values_(std::move(values)) {}

  const std::string& path() const { return path_; }
  bool has(const char* key) const { return is_said(key) && !values_[key].is_null(); }
  /// Whether the key exists, even with a null value.
  bool is_said(const char* key) const {
    asked_.insert(key);
    return values_.contains(key);
  }
  bool empty() const { return values_.empty(); }
  bool operator==(const Settings& other) const { return values_ == other.values_; }
  std::int64_t integer(const char* key) const {
    const json& value = at(key);
    if (!value.is_number_integer() || value.get<double>() < 1 || value.get<double>() > kLargest)
      reject(key, fmt::format("must be a whole number from 1 to {}", kLargest));
    return value.get<std::int64_t>();
  }
  std::int64_t integer(const char* key, std::int64_t otherwise) const { return has(key) ? integer(key) : otherwise; }
  double number(const char* key, double otherwise) const {
    if (!has(key)) return otherwise;
    if (!at(key).is_number()) reject(key, "must be a number");
    return at(key).get<double>();
  }
  bool flag(const char* key, bool otherwise) const {
    if (!has(key)) return otherwise;
    if (!at(key).is_boolean()) reject(key, "must be true or false");
    return at(key).get<bool>();
  }
  std::string text(const char* key, const char* otherwise) const {
    if (!has(key)) return otherwise;
    if (!at(key).is_string()) reject(key, "must be a text");
    return at(key).get<std::string>();
  }
  /// A single number or a list of numbers.
  std::vector<std::int64_t> integers(const char* key) const {
    std::vector<std::int64_t> all;
    if (!has(key)) return all;
    for (const json& value : at(key).is_array() ? at(key) : json::array({at(key)})) {
      if (!value.is_number_integer() || std::abs(value.get<double>()) > kLargest)
        reject(key, fmt::format("must be a whole number of at most {}, or a list of them", kLargest));
      all.push_back(value.get<std::int64_t>());
    }
    return all;
  }
  /// A list of exactly `count` strings.
  std::vector<std::string> texts(const char* key, std::int64_t count) const {
    const json& list = at(key);
    if (!list.is_array() || std::ssize(list) != count ||
        !std::ranges::all_of(list, [](const json& value) { return value.is_string(); }))
      reject(key, fmt::format("must be a list of {} texts", count));
    return list.get<std::vector<std::string>>();
  }
  Settings below(const char* key) const {
    if (!at(key).is_object()) reject(key, "must be an object");
    return {path_, at(key)};
  }
  /// Throws if the value is not among the known ones.
  void expect(const char* key, const std::vector<std::string>& known, const char* otherwise) const {
    if (const std::string given = text(key, otherwise); std::ranges::count(known, given) == 0)
      reject(key, fmt::format("is not supported; expected one of {}", fmt::join(known, ", ")));
  }
  /// Settings that no code has read, except null values. `before` is the prefix of their names.
  std::vector<UnusedSetting> unused(const std::string& before = "") const {
    std::vector<UnusedSetting> all;
    for (const auto& [key, value] : values_.items())
      if (!value.is_null() && !asked_.contains(key)) all.push_back({before + key, value == false});
    return all;
  }
  [[noreturn]] void reject(const char* key, const std::string& why) const {
    fail<FileError>("{}: '{}' {}{}", path_, key, why, has(key) ? ", not " + at(key).dump().substr(0, 100) : "");
  }

 private:
  static constexpr std::int64_t kLargest = std::int64_t{1} << 30;
  const json& at(const char* key) const {
    if (!has(key)) fail<FileError>("{}: '{}' is missing", path_, key);
    return values_[key];
  }
  std::string path_;
  json values_;
  mutable std::set<std::string> asked_;
};

}  // namespace catenary::links::detail
