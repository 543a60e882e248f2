#include "catenary/training/extensions/python_json.h"

#include <cmath>
#include <limits>

#include "catenary/core/error.h"
#include "catenary/core/format.h"
#include "catenary/core/json_text.h"

namespace catenary::training::extensions {

namespace {

constexpr struct {
  const char* word;
  double value;
} kWords[] = {{"-Infinity", -std::numeric_limits<double>::infinity()},
              {"Infinity", std::numeric_limits<double>::infinity()},
              {"NaN", std::numeric_limits<double>::quiet_NaN()}};

}  // namespace

std::string python_number(double value) {
  if (std::isnan(value)) return "NaN";
  if (std::isinf(value)) return value > 0 ? "Infinity" : "-Infinity";
  std::string text = fmt::format("{}", value);
  if (text.find_first_of(".e") == std::string::npos) text += ".0";
  return text;
}

nlohmann::ordered_json parse_python_json(const std::string& text) {
  std::string quoted_words;
  bool quoted = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '"' && (i == 0 || text[i - 1] != '\\')) quoted = !quoted;
    bool replaced = false;
    for (const auto& [word, value] : kWords) {
      const std::size_t size = std::char_traits<char>::length(word);
      if (quoted || text.compare(i, size, word) != 0) continue;
      quoted_words += fmt::format("\"{}\"", word);
      i += size - 1;
      replaced = true;
      break;
    }
    if (!replaced) quoted_words += text[i];
  }
  return json_text::parse_or_discarded<nlohmann::ordered_json>(quoted_words);
}

double python_number(const nlohmann::ordered_json& value) {
  if (value.is_number()) return value.get<double>();
  if (value.is_null()) return std::numeric_limits<double>::quiet_NaN();
  if (value.is_string())
    for (const auto& [word, number] : kWords)
      if (value == word) return number;
  throw ValueError("expected a number in JSON, not " + value.dump());
}

}  // namespace catenary::training::extensions
