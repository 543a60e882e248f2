#pragma once
// Private: regular expressions of tokenizer.json (Oniguruma's syntax), matched by PCRE2.

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace catenary::tokenizers {

/// Translates an Oniguruma expression to PCRE2, using characters that are independent of both libraries' Unicode
/// versions (unicode_tables.h). Throws ValueError for invalid and for unsupported expressions, and never changes the
/// meaning.
std::string translate_expression(std::string_view expression);

/// The word characters and the white space of the Rust crate `regex`, as the inside of a PCRE2 class. PCRE2's own \s
/// has one more character.
std::string word_characters();
std::string space_characters();
/// Classes for the pre-tokenizers Digits and Punctuation.
std::string digit_class();
std::string punctuation_class();

class Regex {
 public:
  /// Throws ValueError.
  static Regex oniguruma(std::string_view expression);
  /// Compiles PCRE2 syntax.
  explicit Regex(const std::string& pattern);

  /// Calls f(begin, end) for each match in valid UTF-8, from left to right, without empty matches at the end of the
  /// last one. Throws ValueError after too many steps.
  template <class F>
  void for_each(std::string_view text, F f) const {
    Search search(*this, text);
    while (const auto match = search.next()) f(match->first, match->second);
  }

 private:
  struct Code;
  class Search {
   public:
    Search(const Regex& regex, std::string_view text);
    ~Search();
    std::optional<std::pair<std::size_t, std::size_t>> next();

   private:
    std::string_view text_;
    const Code& code_;
    struct Data;
    std::unique_ptr<Data> data_;
    std::size_t from_ = 0;
    std::optional<std::size_t> last_end_;
  };
  std::shared_ptr<const Code> code_;
};

}  // namespace catenary::tokenizers
