#pragma once
// Texts with the results of the Python package `tokenizers` (tests/data/tokenizers/make_tokenizers.py).

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "catenary/tokenizers/tokenizer.h"

namespace tests {

/// A text with a tokenizer's ids, with and without special tokens, and the decoded texts of the ids, with and without
/// special tokens.
struct CutText {
  std::string text;
  std::vector<std::int64_t> full, plain;
  std::string text_of_full, text_of_plain;
};

/// Returns the entries of cases.json for a tokenizer.
inline std::vector<CutText> cut_texts(const nlohmann::json& cases, const std::string& name) {
  const nlohmann::json &texts = cases.at("texts"), &results = cases.at("results").at(name);
  std::vector<CutText> all;
  for (std::size_t i = 0; i < texts.size(); ++i) {
    CutText one{texts[i], results.at("full").at(i), results.at("plain").at(i), {}, {}};
    const auto text_of = [&](const char* key) {
      const nlohmann::json& made = results.at(key).at(i);  // null if it equals the text
      return made.is_null() ? one.text : made.get<std::string>();
    };
    one.text_of_full = text_of("text_of_full"), one.text_of_plain = text_of("text_of_plain");
    all.push_back(std::move(one));
  }
  return all;
}

/// Returns the text that a stream decodes from ids, one at a time.
inline std::string streamed(const catenary::Tokenizer& tokenizer, const std::vector<std::int64_t>& ids,
                            bool skip_special) {
  catenary::TokenStream stream(tokenizer, skip_special);
  std::string text;
  for (const std::int64_t id : ids) text += stream.put(id);
  return text + stream.finish();
}

/// Returns a description of a tokenizer's differences from the expected results, or "".
inline std::string differences(const catenary::Tokenizer& tokenizer, const CutText& expected) {
  std::string words;
  const auto compare = [&](const char* what, const auto& found, const auto& wanted) {
    if (!(found == wanted)) words += fmt::format("{}: {} and not {}; ", what, found, wanted);
  };
  compare("ids", tokenizer.encode(expected.text, {.add_special = true, .parse_special = true}), expected.full);
  compare("plain ids", tokenizer.encode(expected.text, {.add_special = false, .parse_special = false}), expected.plain);
  compare("the text of the ids", tokenizer.decode(expected.full, false), expected.text_of_full);
  compare("that of the plain ids", tokenizer.decode(expected.plain, true), expected.text_of_plain);
  compare("the text as it comes", streamed(tokenizer, expected.full, false), expected.text_of_full);
  compare("that of the plain ids as it comes", streamed(tokenizer, expected.plain, true), expected.text_of_plain);
  return words;
}

}  // namespace tests
