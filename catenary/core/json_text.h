#pragma once
// Private: JSON by nlohmann's parser. That parser takes a NUL byte as the end of the text and ignores the bytes after
// it. All JSON is parsed here, and NUL bytes are refused.

#include <string_view>

namespace catenary::json_text {

/// Returns the value of a text, or a discarded value if the text is not JSON.
template <class Json>
Json parse_or_discarded(std::string_view text) {
  return text.find('\0') == text.npos ? Json::parse(text.begin(), text.end(), nullptr, false)
                                      : Json(Json::value_t::discarded);
}

/// Returns the value of a text. Calls `refuse(position)` for a NUL byte, counted from 1. Throws Json::exception for
/// other texts that are not JSON.
template <class Json, class F>
Json parse(std::string_view text, F refuse) {
  if (const std::size_t nul = text.find('\0'); nul != text.npos) refuse(nul + 1);
  return Json::parse(text.begin(), text.end());
}

/// Calls `look(depth, event, value)` for each key and value of a JSON text, as Json::parse does with a callback. A zero
/// byte ends the text. Throws Json::exception for a text that is not JSON.
template <class Json, class F>
void visit(std::string_view text, F look) {
  const std::string_view whole = text.substr(0, text.find('\0'));
  [[maybe_unused]] const Json value = Json::parse(whole.begin(), whole.end(), look);
}

/// Passes a text to `sax` piece by piece. Calls `sax.not_json(position, token)` for a NUL byte, counted from 1.
template <class Json, class Sax>
void sax_parse(std::string_view text, Sax& sax) {
  if (const std::size_t nul = text.find('\0'); nul != text.npos) sax.not_json(nul + 1, "a zero byte");
  Json::sax_parse(text.begin(), text.end(), &sax);
}

}  // namespace catenary::json_text
