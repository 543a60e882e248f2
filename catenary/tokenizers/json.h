#pragma once
// Private: JSON values whose errors name the file and the path.

#include <initializer_list>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "catenary/core/format.h"

namespace catenary::tokenizers {

/// A value of a file, with its path: "model.merges[3]".
class Json {
 public:
  Json(const nlohmann::json& value, const std::string& file, std::string path)
      : value_(&value), file_(&file), path_(std::move(path)) {}

  template <class... Args>
  [[noreturn]] void refuse(fmt::format_string<Args...> format, Args&&... args) const {
    throw FileError(fmt::format("{}: {}: {}", *file_, path_.empty() ? "the whole" : path_,
                                fmt::format(format, std::forward<Args>(args)...)));
  }
  /// Runs f and turns a ValueError into a FileError with this path.
  template <class F>
  auto check(F f) const {
    try {
      return f();
    } catch (const ValueError& e) {
      refuse("{}", e.what());
    }
  }

  /// Throws if the object has other members than these.
  void only(std::initializer_list<std::string_view> names) const {
    object();
    for (const auto& [name, value] : value_->items()) {
      bool known = false;
      for (const std::string_view n : names) known = known || n == name;
      if (!known) refuse("unknown member '{}'", name.substr(0, 80));
    }
  }
  /// Returns a member, or nullopt if it is missing or null.
  std::optional<Json> get(const std::string& name) const {
    object();
    const auto found = value_->find(name);
    if (found == value_->end() || found->is_null()) return std::nullopt;
    return Json(*found, *file_, path_.empty() ? name : path_ + "." + name);
  }
  Json at(const char* name) const {
    if (auto found = get(name)) return *found;
    refuse("'{}' is missing", name);
  }
  std::size_t size() const {
    if (!value_->is_array()) refuse("expected a list, not {}", value_->type_name());
    return value_->size();
  }
  Json operator[](std::size_t i) const { return Json((*value_)[i], *file_, fmt::format("{}[{}]", path_, i)); }
  bool is_array() const { return value_->is_array(); }
  bool is_string() const { return value_->is_string(); }

  const std::string& text() const {
    if (!value_->is_string()) refuse("expected a string, not {}", value_->type_name());
    return value_->get_ref<const std::string&>();
  }
  bool flag() const {
    if (!value_->is_boolean()) refuse("expected true or false, not {}", value_->type_name());
    return value_->get<bool>();
  }
  double number() const {
    if (!value_->is_number()) refuse("expected a number, not {}", value_->type_name());
    return value_->get<double>();
  }
  /// Returns an integer from 0 to `most`.
  std::uint32_t index(std::uint64_t most) const {
    if (!value_->is_number_unsigned()) refuse("expected a non-negative integer, not {}", value_->dump().substr(0, 40));
    const auto number = value_->get<std::uint64_t>();
    if (number > most) refuse("{} is too large (at most {})", number, most);
    return static_cast<std::uint32_t>(number);
  }
  bool flag(const char* name, bool otherwise) const {
    const auto found = get(name);
    return found ? found->flag() : otherwise;
  }
  /// Calls f(name, value, Json) for each member of an object, without building all paths at once.
  template <class F>
  void each(F f) const {
    object();
    for (const auto& [name, value] : value_->items()) f(name, value);
  }
  std::size_t members() const {
    object();
    return value_->size();
  }

 private:
  void object() const {
    if (!value_->is_object()) refuse("expected an object, not {}", value_->type_name());
  }
  const nlohmann::json* value_;
  const std::string* file_;
  std::string path_;
};

/// Parses a file's JSON. Throws FileError with the byte offset, also if values are nested too deeply. With
/// `numbers_of_tokenizers` numbers are read by number_of_tokenizers.
nlohmann::json parse_json(std::string_view text, const std::string& file, bool numbers_of_tokenizers = false);
/// Reads a JSON number as `tokenizers` does: the digits as an integer, multiplied with or divided by a power of ten.
/// The last bit may differ from the nearest double, and it decides between equal splits of a unigram model.
double number_of_tokenizers(std::string_view text);

struct Normalizer;
struct PreTokenizer;
struct Decoder;
struct TemplatePart;
struct Model;
std::unique_ptr<Normalizer> read_normalizer(const Json& json, int depth = 0);
std::unique_ptr<PreTokenizer> read_pre_tokenizer(const Json& json, int depth = 0);
void read_decoder(const Json& json, std::vector<std::unique_ptr<Decoder>>& decoders, int depth = 0);
void read_post_processor(const Json& json, std::vector<std::vector<TemplatePart>>& templates, int depth = 0);
std::unique_ptr<Model> read_model(const Json& json);

}  // namespace catenary::tokenizers
