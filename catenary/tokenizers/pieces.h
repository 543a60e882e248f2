#pragma once
// Private: a text split into pieces, and the steps from a text to words: normalizers and pre-tokenizers.

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "catenary/tokenizers/regex.h"

namespace catenary::tokenizers {

/// U+2581, which stands for a space in the tokens of SentencePiece.
inline constexpr char kSpaceMark[] = "\xe2\x96\x81";

/// A part of a text: a word, or an added token.
struct Piece {
  std::size_t begin = 0, end = 0;
  std::int64_t id = -1;   ///< the token's id, or -1 for a word
  bool at_start = false;  ///< at the beginning of the whole text
};
struct Pieces {
  std::string text;
  std::vector<Piece> list;
  std::string_view of(const Piece& piece) const {
    return std::string_view(text).substr(piece.begin, piece.end - piece.begin);
  }
};

/// A pattern to search for: a regular expression or a literal text.
class Pattern {
 public:
  explicit Pattern(Regex regex) : regex_(std::make_unique<Regex>(std::move(regex))) {}
  explicit Pattern(std::string letters) : letters_(std::move(letters)) {}  ///< not empty
  template <class F>
  void for_each(std::string_view text, F f) const {
    if (regex_) return regex_->for_each(text, f);
    for (std::size_t at = 0; (at = text.find(letters_, at)) != std::string_view::npos; at += letters_.size())
      f(at, at + letters_.size());
  }
  /// Returns the text with matches replaced by `content`. Throws ValueError if the result exceeds `most` bytes.
  std::string replaced(std::string_view text, std::string_view content, std::size_t most = SIZE_MAX) const;

 private:
  std::unique_ptr<Regex> regex_;
  std::string letters_;
};

/// The limit of a text's growth by normalizers. A few steps of a file could otherwise turn one letter into gigabytes.
constexpr std::size_t most_bytes_of(std::size_t bytes) { return 64 * bytes + 65536; }

/// The state of a text between normalizers.
struct Normalizing {
  std::size_t most;              ///< the largest allowed size in bytes
  bool loses_beginning = false;  ///< its first characters were removed without a replacement
};
struct Normalizer {
  virtual ~Normalizer() = default;
  /// Throws ValueError if the text grows beyond state.most.
  virtual std::string apply(std::string text, Normalizing& state) const = 0;
};
enum class Form { nfc, nfd, nfkc, nfkd };
std::unique_ptr<Normalizer> make_form(Form form);
std::unique_ptr<Normalizer> make_lowercase();
std::unique_ptr<Normalizer> make_prepend(std::string what);
std::unique_ptr<Normalizer> make_replace(Pattern pattern, std::string content);
std::unique_ptr<Normalizer> make_strip(bool left, bool right);
/// SentencePiece's table of replacements: a trie (Darts double array) and texts.
class Charsmap {
 public:
  /// Throws ValueError for damaged tables.
  explicit Charsmap(std::string_view bytes);
  struct Match {
    std::size_t bytes;         ///< number of replaced bytes
    std::string_view content;  ///< the replacement
  };
  /// Returns the shortest (longest) prefix of a text that is in the table.
  std::optional<Match> shortest(std::string_view text) const;
  std::optional<Match> longest(std::string_view text) const;

 private:
  static constexpr std::size_t kMost = 1024;  // limit of both the replaced bytes and the replacement
  template <class F>
  void beginnings(std::string_view text, F f) const;
  std::optional<Match> match(std::string_view text, bool first) const;

  std::vector<std::uint32_t> units_;
  std::string texts_;
};
/// Returns the normalizer that applies a table as `tokenizers` does. Throws ValueError for damaged tables.
std::unique_ptr<Normalizer> make_charsmap(std::string_view base64);
std::unique_ptr<Normalizer> make_sequence(std::vector<std::unique_ptr<Normalizer>> steps);

struct PreTokenizer {
  virtual ~PreTokenizer() = default;
  virtual void apply(Pieces& pieces) const = 0;
};
enum class Behavior { removed, isolated, merged_with_previous, merged_with_next, contiguous };
std::unique_ptr<PreTokenizer> make_split(Pattern pattern, Behavior behavior, bool invert);
std::unique_ptr<PreTokenizer> make_byte_level(bool add_prefix_space, bool use_regex);
/// Splits runs of digits into groups of three from the right. Without `within`, digits are those of all scripts and are
/// separated from adjacent text. With it, digits are ASCII and only the ends of groups split.
std::unique_ptr<PreTokenizer> make_digit_groups(bool within);
enum class Prepend { first, never, always };
std::unique_ptr<PreTokenizer> make_metaspace(std::string replacement, Prepend prepend, bool split);
std::unique_ptr<PreTokenizer> make_sequence(std::vector<std::unique_ptr<PreTokenizer>> steps);

/// GPT-2's expression for words.
extern const char* const kWordsOfGpt2;

}  // namespace catenary::tokenizers
