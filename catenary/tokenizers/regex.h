#pragma once
// Private: regular expressions as tokenizer.json has them (Oniguruma's syntax), matched by PCRE2.

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace catenary::tokenizers {

/// Oniguruma's expression as PCRE2's, with the characters that both know at any version (unicode_tables.h). Throws
/// ValueError for what is not Oniguruma's, and for what is not translated: it never means something else.
std::string translate_expression(std::string_view expression);

/// What a word consists of for the Rust crate `regex`, and white space: as the inside of a class of PCRE2's, whose own
/// \s knows one more.
std::string word_characters();
std::string space_characters();
/// A class of what the pre-tokenizers Digits and Punctuation look for.
std::string digit_class();
std::string punctuation_class();

class Regex {
 public:
  /// Throws ValueError.
  static Regex oniguruma(std::string_view expression);
  /// PCRE2's own syntax.
  explicit Regex(const std::string& pattern);

  /// The matches of valid UTF-8 from left to right, as f(begin, end); no empty one where the last one ended. Throws
  /// ValueError when it takes too many steps.
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
