#pragma once
// Private: a text in pieces, and the steps that a tokenizer takes from a text to words: normalizers, pre-tokenizers.

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "catenary/tokenizers/regex.h"

namespace catenary::tokenizers {

/// A part of a text: a word, or a token that is found already.
struct Piece {
  std::size_t begin = 0, end = 0;
  std::int64_t id = -1;   ///< of the token, or -1
  bool at_start = false;  ///< it begins where the whole text does
};
struct Pieces {
  std::string text;
  std::vector<Piece> list;
  std::string_view of(const Piece& piece) const {
    return std::string_view(text).substr(piece.begin, piece.end - piece.begin);
  }
};

/// What is looked for in a text: an expression or some letters.
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
  /// The text with `content` where the pattern was. Throws ValueError where that is more than `most` bytes.
  std::string replaced(std::string_view text, std::string_view content, std::size_t most = SIZE_MAX) const;

 private:
  std::unique_ptr<Regex> regex_;
  std::string letters_;
};

/// The bytes that a text may become by steps that a file tells: a few steps could make gigabytes of a letter.
constexpr std::size_t most_bytes_of(std::size_t bytes) { return 64 * bytes + 65536; }

/// A text on its way through normalizers.
struct Normalizing {
  std::size_t most;              ///< bytes that it may become
  bool loses_beginning = false;  ///< its first characters were removed, and not replaced
};
struct Normalizer {
  virtual ~Normalizer() = default;
  /// Throws ValueError where the text grows beyond state.most.
  virtual std::string apply(std::string text, Normalizing& state) const = 0;
};
enum class Form { nfc, nfd, nfkc, nfkd };
std::unique_ptr<Normalizer> make_form(Form form);
std::unique_ptr<Normalizer> make_lowercase();
std::unique_ptr<Normalizer> make_prepend(std::string what);
std::unique_ptr<Normalizer> make_replace(Pattern pattern, std::string content);
std::unique_ptr<Normalizer> make_strip(bool left, bool right);
/// SentencePiece's table of what is replaced by what: a trie (Darts, a double array), and texts.
class Charsmap {
 public:
  /// Throws ValueError for a table that is damaged.
  explicit Charsmap(std::string_view bytes);
  struct Match {
    std::size_t bytes;         ///< that are replaced
    std::string_view content;  ///< by this
  };
  /// The shortest beginning of a text, and the longest, that is in the table.
  std::optional<Match> shortest(std::string_view text) const;
  std::optional<Match> longest(std::string_view text) const;

 private:
  static constexpr std::size_t kMost = 1024;  // bytes that are replaced, and of what replaces them
  template <class F>
  void beginnings(std::string_view text, F f) const;
  std::optional<Match> match(std::string_view text, bool first) const;

  std::vector<std::uint32_t> units_;
  std::string texts_;
};
/// Its use by `tokenizers`; throws ValueError for one that is damaged.
std::unique_ptr<Normalizer> make_charsmap(std::string_view base64);
std::unique_ptr<Normalizer> make_sequence(std::vector<std::unique_ptr<Normalizer>> steps);

struct PreTokenizer {
  virtual ~PreTokenizer() = default;
  virtual void apply(Pieces& pieces) const = 0;
};
enum class Behavior { removed, isolated, merged_with_previous, merged_with_next, contiguous };
std::unique_ptr<PreTokenizer> make_split(Pattern pattern, Behavior behavior, bool invert);
std::unique_ptr<PreTokenizer> make_byte_level(bool add_prefix_space, bool use_regex);
/// Runs of digits in groups of three from the right: those of all scripts, which are then apart from what stands beside
/// them, or with `within` those of ASCII, which a group's end alone cuts.
std::unique_ptr<PreTokenizer> make_digit_groups(bool within);
enum class Prepend { first, never, always };
std::unique_ptr<PreTokenizer> make_metaspace(std::string replacement, Prepend prepend, bool split);
std::unique_ptr<PreTokenizer> make_sequence(std::vector<std::unique_ptr<PreTokenizer>> steps);

/// GPT-2's words.
extern const char* const kWordsOfGpt2;

}  // namespace catenary::tokenizers
