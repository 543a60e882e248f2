#pragma once
// Private: vocabularies, and the models that cut words into tokens.

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "catenary/tokenizers/utf8.h"

namespace catenary::tokenizers {

/// Tokens by id and back. Some ids may have none.
class Vocabulary {
 public:
  /// Throws ValueError for an id that has another token already, or a token that has another id.
  void add(std::string_view token, std::uint32_t id);
  /// The same, where a later id of a token takes the place of the one before.
  void add_again(std::string_view token, std::uint32_t id);
  std::optional<std::uint32_t> id(std::string_view token) const;
  /// Nothing where the id has none.
  const std::string* token(std::int64_t id) const;
  std::int64_t size() const { return static_cast<std::int64_t>(tokens_.size()); }

 private:
  struct Hash : std::hash<std::string_view> {
    using is_transparent = void;
  };
  std::unordered_map<std::string, std::uint32_t, Hash, std::equal_to<>> ids_;
  std::vector<const std::string*> tokens_;
  std::vector<std::unique_ptr<std::string>> repeated_;  // of ids whose token another id has
};

/// Cuts a word, which is not empty and valid UTF-8, into ids; throws ValueError.
struct Model {
  virtual ~Model() = default;
  virtual void encode(std::string_view word, std::vector<std::int64_t>& ids) const = 0;
  Vocabulary vocabulary;
};

/// Pairs that are merged by rank, the lowest first.
struct BytePairs {
  std::vector<std::pair<std::uint32_t, std::uint32_t>> merges;  ///< two ids, whose tokens' join is a token
  std::optional<std::uint32_t> unknown;
  bool fuse_unknown = false, byte_fallback = false, ignore_merges = false;
  bool whole_lines = false;  ///< merges are ignored for words of line ends alone
  std::string continuing_prefix, word_suffix;
};
/// Throws ValueError when a pair's join is not in the vocabulary; `at` says which of the merges it was.
std::unique_ptr<Model> make_byte_pairs(Vocabulary vocabulary, const BytePairs& options, std::size_t& at);

/// Pairs whose join is a token, the one of the highest score first, as SentencePiece merges them; bytes for the rest.
/// What has a NaN for a score is in no text. Without bytes, an unknown token for each byte, as llama.cpp has it, or
/// with `fuse_unknown` one for unknown characters side by side.
std::unique_ptr<Model> make_scored_pairs(Vocabulary vocabulary, std::vector<float> scores,
                                         std::optional<std::uint32_t> unknown, bool fuse_unknown = false);

/// How scores are added up.
struct UnigramSums {
  std::optional<double> least = {};  ///< an unknown character has it less 10; by default the least of all
  bool in_float32 = false;           ///< as SentencePiece does: which of equal cuts is taken depends on it
};
/// The cut whose scores sum to the most (Kudo 2018). What has a NaN for a score is in no text.
std::unique_ptr<Model> make_unigram(Vocabulary vocabulary, std::vector<double> scores,
                                    std::optional<std::uint32_t> unknown, bool byte_fallback,
                                    const UnigramSums& sums = {});

}  // namespace catenary::tokenizers
