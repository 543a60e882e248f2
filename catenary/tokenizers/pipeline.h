#pragma once
// Private: what a tokenizer consists of.

#include <mutex>
#include <set>
#include <unordered_map>

#include "catenary/tokenizers/model.h"
#include "catenary/tokenizers/pieces.h"
#include "catenary/tokenizers/tokenizer.h"

namespace catenary {

namespace tokenizers {

/// A token beside the model's, found in a text before anything else is.
struct AddedToken {
  std::string content;
  std::int64_t id = 0;
  bool single_word = false;             ///< only where no part of a word
  bool lstrip = false, rstrip = false;  ///< takes the white space before and after along
  bool normalized = false;              ///< is looked for, normalized, in the normalized text
  bool special = false;
};

class AddedTokens {
 public:
  /// Throws ValueError for a content or an id that another one has.
  void add(AddedToken token);
  /// To be called once, after all were added.
  void finish(const Normalizer* normalizer);
  /// The normalized text in pieces: those tokens, and what lies between.
  Pieces split(std::string_view text, const Normalizer* normalizer, bool parse_special) const;

  const AddedToken* find(std::int64_t id) const;
  const AddedToken* find(std::string_view content) const;
  /// What decoders get for it: the form in which it was found.
  const std::string& form(const AddedToken& token) const;
  /// The highest id and one.
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

/// A part of a template: the text's ids, or some of its own.
struct TemplatePart {
  bool text = false;
  std::vector<std::int64_t> ids = {};
};

/// A step of decoding, from the tokens to the text. Where `raw`, bytes that make no UTF-8 stay as they are.
struct Decoder {
  virtual ~Decoder() = default;
  virtual void apply(std::vector<std::string>& tokens, bool raw) const = 0;
};
std::unique_ptr<Decoder> make_byte_decoder();
std::unique_ptr<Decoder> make_metaspace_decoder(std::string replacement, Prepend prepend);
/// "<0xE4>" and its like. Bytes that make no UTF-8 become U+FFFD each, with `by_characters` alone, else with all of
/// their run.
std::unique_ptr<Decoder> make_fallback_decoder(bool by_characters = false);
std::unique_ptr<Decoder> make_fuse_decoder();
std::unique_ptr<Decoder> make_replace_decoder(Pattern pattern, std::string content);
std::unique_ptr<Decoder> make_strip_decoder(std::string content, std::size_t start, std::size_t stop);
std::unique_ptr<Decoder> make_join_decoder(std::string between);

/// Ids of words that were cut before; of bounded size.
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
  std::set<std::int64_t> unused;           ///< ids that are no text, whatever they are called
  std::string json;                        ///< what save writes; empty for GGUF's
  std::shared_ptr<const GgufTokens> gguf;  ///< what a GGUF file held; null for others
  std::string chat_template;

  /// Throws IndexError.
  const std::string& token(std::int64_t id) const;
  std::string decode(std::span<const std::int64_t> ids, bool skip_special, bool raw) const;

  mutable std::mutex mutex;
  mutable tokenizers::WordCache
      cache;  ///< of the thread that holds the mutex; others, meanwhile, have one of their own
};

namespace tokenizers {

/// parse_tokenizer, of which more is to be said before it is used.
std::shared_ptr<Tokenizer::State> read_tokenizer(std::string_view json, const std::string& name);
/// parse_sentencepiece, likewise.
std::shared_ptr<Tokenizer::State> read_sentencepiece(std::string_view model, const std::string& name);

}  // namespace tokenizers

}  // namespace catenary
