#pragma once
// Private: vocabularies, and the models that split words into tokens.

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

/// A two-way table of tokens and ids. Ids may have gaps.
class Vocabulary {
 public:
  /// Throws ValueError if the id already has another token, or the token another id.
  void add(std::string_view token, std::uint32_t id);
  /// Adds a token that may already have an id. Later ids replace earlier ones.
  void add_again(std::string_view token, std::uint32_t id);
  std::optional<std::uint32_t> id(std::string_view token) const;
  /// Returns null for ids without a token.
  const std::string* token(std::int64_t id) const;
  std::int64_t size() const { return static_cast<std::int64_t>(tokens_.size()); }

 private:
  struct Hash : std::hash<std::string_view> {
    using is_transparent = void;
  };
  std::unordered_map<std::string, std::uint32_t, Hash, std::equal_to<>> ids_;
  std::vector<const std::string*> tokens_;
  std::vector<std::unique_ptr<std::string>> repeated_;  // tokens of ids whose token also has another id
};

/// Splits a word (not empty, valid UTF-8) into ids. Throws ValueError.
struct Model {
  virtual ~Model() = default;
  virtual void encode(std::string_view word, std::vector<std::int64_t>& ids) const = 0;
  Vocabulary vocabulary;
};

/// Pairs that are merged by rank, lowest first.
struct BytePairs {
  std::vector<std::pair<std::uint32_t, std::uint32_t>> merges;  ///< pairs of ids whose concatenated tokens are a token
  std::optional<std::uint32_t> unknown;
  bool fuse_unknown = false, byte_fallback = false, ignore_merges = false;
  bool whole_lines = false;  ///< words of line ends only are looked up without merges
  std::string continuing_prefix, word_suffix;
};
/// Throws ValueError if a merged pair is not in the vocabulary, with the index of the merge in `at`.
std::unique_ptr<Model> make_byte_pairs(Vocabulary vocabulary, const BytePairs& options, std::size_t& at);

/// Merges pairs whose concatenation is a token, highest score first, like SentencePiece, and writes other characters as
/// bytes. Tokens with a NaN score never occur in texts. Without bytes, each unknown byte becomes an unknown token, as
/// in llama.cpp. With `fuse_unknown` adjacent unknown characters become a single token.
std::unique_ptr<Model> make_scored_pairs(Vocabulary vocabulary, std::vector<float> scores,
                                         std::optional<std::uint32_t> unknown, bool fuse_unknown = false);

/// How scores are added up.
struct UnigramSums {
  std::optional<double> least =
      {};                   ///< an unknown character scores this minus 10, by default the lowest score minus 10
  bool in_float32 = false;  ///< as in SentencePiece; decides between equal splits
};
/// Returns the model that finds the split with the highest total score (Kudo 2018). Tokens with a NaN score never occur
/// in texts.
std::unique_ptr<Model> make_unigram(Vocabulary vocabulary, std::vector<double> scores,
                                    std::optional<std::uint32_t> unknown, bool byte_fallback,
                                    const UnigramSums& sums = {});

}  // namespace catenary::tokenizers
