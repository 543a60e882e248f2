#pragma once
// Private: the parts of a tokenizer.

#include <mutex>
#include <set>
#include <unordered_map>

#include "catenary/tokenizers/model.h"
#include "catenary/tokenizers/pieces.h"
#include "catenary/tokenizers/tokenizer.h"

namespace catenary {

namespace tokenizers {

/// A token outside the model, searched for in the text first.
struct AddedToken {
  std::string content;
  std::int64_t id = 0;
  bool single_word = false;             ///< only if not adjacent to letters or digits of a word
  bool lstrip = false, rstrip = false;  ///< also matches white space before (after) it
  bool normalized = false;              ///< its normalized form is searched for in the normalized text
  bool special = false;
};

class AddedTokens {
 public:
  /// Throws ValueError if another token has the content or the id.
  void add(AddedToken token);
  /// Must be called once after all tokens are added.
  void finish(const Normalizer* normalizer);
  /// Splits the normalized text into added tokens and the text between them.
  Pieces split(std::string_view text, const Normalizer* normalizer, bool parse_special) const;

  const AddedToken* find(std::int64_t id) const;
  const AddedToken* find(std::string_view content) const;
  /// The form found in the text, which decoders receive.
  const std::string& form(const AddedToken& token) const;
  /// The highest id plus one.
  std::int64_t end() const { return end_; }

 private:
  void split(std::string_view text, const Trie& tokens, bool parse_special, std::vector<Piece>& pieces) const;

  std::vector<AddedToken> tokens_;
  std::vector<std::string> forms_;
  std::unordered_map<std::int64_t, std::size_t> by_id_;
  std::unordered_map<std::string, std::size_t> by_content_;
  Trie plain_, normalized_;
  std::unique_ptr<Regex> word_;
  std::int64_t end_ = 0;
};

/// A part of a template: the ids of the text, or special tokens.
struct TemplatePart {
  bool text = false;
  std::vector<std::int64_t> ids = {};
};

/// A step of decoding from tokens to text. With `raw`, invalid UTF-8 stays unchanged.
struct Decoder {
  virtual ~Decoder() = default;
  virtual void apply(std::vector<std::string>& tokens, bool raw) const = 0;
};
std::unique_ptr<Decoder> make_byte_decoder();
std::unique_ptr<Decoder> make_metaspace_decoder(std::string replacement, Prepend prepend);
/// Decodes runs of byte tokens such as "<0xE4>". If a run is not valid UTF-8, each of its bytes becomes U+FFFD, and
/// with `by_characters` only those outside valid characters.
std::unique_ptr<Decoder> make_fallback_decoder(bool by_characters = false);
std::unique_ptr<Decoder> make_fuse_decoder();
std::unique_ptr<Decoder> make_replace_decoder(Pattern pattern, std::string content);
std::unique_ptr<Decoder> make_strip_decoder(std::string content, std::size_t start, std::size_t stop);
std::unique_ptr<Decoder> make_join_decoder(std::string between);

/// A cache of limited size from words to ids.
class WordCache {
 public:
  const std::vector<std::int64_t>* find(std::string_view word) const;
  void add(std::string_view word, std::vector<std::int64_t> ids);

 private:
  struct Hash : std::hash<std::string_view> {
    using is_transparent = void;
  };
  std::unordered_map<std::string, std::vector<std::int64_t>, Hash, std::equal_to<>> words_;
};

}  // namespace tokenizers

struct Tokenizer::State {
  std::string name;  ///< for messages
  tokenizers::AddedTokens added;
  std::unique_ptr<tokenizers::Normalizer> normalizer;       ///< may be null
  std::unique_ptr<tokenizers::PreTokenizer> pre_tokenizer;  ///< may be null
  std::unique_ptr<tokenizers::Model> model;
  std::vector<std::vector<tokenizers::TemplatePart>> templates;
  std::vector<std::unique_ptr<tokenizers::Decoder>> decoders;
  std::optional<std::int64_t> bos, eos;
  std::set<std::int64_t> unused;           ///< ids that have no text
  std::string json;                        ///< written by save, empty for GGUF and SentencePiece
  std::shared_ptr<const GgufTokens> gguf;  ///< the content of a GGUF file, else null
  std::string chat_template;

  /// Throws IndexError.
  const std::string& token(std::int64_t id) const;
  std::string decode(std::span<const std::int64_t> ids, bool skip_special, bool raw) const;

  mutable std::mutex mutex;
  mutable tokenizers::WordCache
      cache;  ///< used by the thread that holds the mutex, other threads use a temporary cache
};

namespace tokenizers {

/// Reads a tokenizer.json. The caller can add settings before use.
std::shared_ptr<Tokenizer::State> read_tokenizer(std::string_view json, const std::string& name);
/// Reads a model of SentencePiece. The caller can add settings before use.
std::shared_ptr<Tokenizer::State> read_sentencepiece(std::string_view model, const std::string& name);

}  // namespace tokenizers

}  // namespace catenary
