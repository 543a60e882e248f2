#pragma once
// Tokenizers convert text to the token ids of a language model, and back. Results equal those of the Python package
// `tokenizers` for tokenizer.json, of SentencePiece for its models, and of llama.cpp for GGUF files.

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "catenary/core/export.h"

namespace catenary {

/// Options of Tokenizer::encode.
struct EncodeOptions {
  bool add_special = true;  ///< add the tokens that the model expects before and after a text ("<s>")
  /// Recognises special tokens in the text. Otherwise their characters are ordinary text. Set this for chat templates,
  /// and never for text from untrusted users.
  bool parse_special = false;
};

/// A tokenizer. Copies share the data. Thread-safe.
class CT_API Tokenizer {
 public:
  struct State;  ///< private to tokenizers/
  explicit Tokenizer(std::shared_ptr<const State> state);

  /// Returns the ids of a text. Invalid UTF-8 becomes U+FFFD, once for each maximal invalid part. Throws ValueError for
  /// characters that are not in the vocabulary if there is no unknown token, and for regular expressions that take too
  /// many steps.
  std::vector<std::int64_t> encode(std::string_view text, const EncodeOptions& options = {}) const;
  /// Returns the text of ids. Special tokens are left out, or with `skip_special` false written by name. GGUF's unused
  /// tokens are always left out. Bytes that are not UTF-8 become U+FFFD. Throws IndexError for ids without a token.
  std::string decode(std::span<const std::int64_t> ids, bool skip_special = true) const;

  /// Returns the highest id plus one: the number of rows that an embedding needs.
  std::int64_t vocabulary_size() const;
  /// Returns the id of a token as written in the vocabulary ("Ġthe", "▁the", "<0x0A>"), or nullopt.
  std::optional<std::int64_t> id(std::string_view token) const;
  /// Returns the token of an id, as written in the vocabulary. Throws IndexError.
  std::string token(std::int64_t id) const;
  /// Whether the id is a special token, which decode can leave out. Throws IndexError.
  bool is_special(std::int64_t id) const;
  /// Whether the id is an added token, found in the text before the model splits it: a special token or a user's.
  /// Throws IndexError.
  bool is_added(std::int64_t id) const;
  /// The tokens that begin and end a text, if the file defines them.
  std::optional<std::int64_t> bos_id() const;
  std::optional<std::int64_t> eos_id() const;
  /// Returns the chat template in Jinja, from tokenizer_config.json (the default one of several), chat_template.jinja
  /// or GGUF. Empty if there is none.
  const std::string& chat_template() const;

  /// Writes the original or trained tokenizer.json, or one with the tokens of a GGUF file. A `path` ending with ".json"
  /// is the file. Any other `path` is a folder, which is created if missing and also gets a tokenizer_config.json with
  /// the begin and end tokens and the chat template. Throws FileError, and ValueError for SentencePiece models and for
  /// GGUF files with repeated tokens, groups of digits or byte pairs of characters.
  void save(const std::string& path) const;

  const State& state() const { return *state_; }  ///< private to tokenizers/

 private:
  std::shared_ptr<const State> state_;
};

/// Decodes ids one at a time and returns complete characters. The concatenated results equal decode()'s text, except
/// that invalid sequences of byte tokens ("<0xE4>") may give another number of U+FFFD.
class CT_API TokenStream {
 public:
  explicit TokenStream(Tokenizer tokenizer, bool skip_special = true);
  /// Returns the text that the id completes, often a word, or an empty string inside a character. Throws IndexError.
  std::string put(std::int64_t id);
  /// Ends the text: returns U+FFFD for an incomplete character. The stream can then be used for another text.
  std::string finish();

 private:
  Tokenizer tokenizer_;
  bool skip_special_;
  std::vector<std::int64_t> context_, pending_;  // ids whose text was returned, and the ids after them
  std::size_t given_ = 0;                        // bytes of their common text that were returned
};

/// Loads a tokenizer from a file or a folder:
///
/// - tokenizer.json, or the folder that contains it: byte pairs (of bytes, or of characters with byte fallback) and
/// unigram
///   models
/// - a GGUF file, see make_tokenizer
/// - a SentencePiece model with a name ending in ".model", or a folder without tokenizer.json that has tokenizer.model,
///   spiece.model or ice_text.model, see parse_sentencepiece
///
/// A tokenizer_config.json in the same folder defines the begin and end tokens. Throws FileError with the path inside
/// the file for damaged files and for unsupported steps or options.
CT_API Tokenizer load_tokenizer(const std::string& path);

/// Parses the text of a tokenizer.json. `name` is used in messages.
CT_API Tokenizer parse_tokenizer(std::string_view json, const std::string& name);

/// Parses a SentencePiece model (unigram or bpe). `name` is used in messages. Texts are split as SentencePiece splits
/// them, without begin and end tokens. load_tokenizer adds these according to tokenizer_config.json (add_bos_token,
/// add_eos_token), by default as transformers' classes for Llama and T5 do. chatglm-6b's ice_text.model is recognised
/// by its pieces: it encodes line ends, tabs and runs of spaces with separate pieces and ends a prompt with [gMASK] and
/// `<sop>`. Throws FileError with the byte offset for damaged files and for unsupported ones: models of words or
/// characters, spaces after words, unused pieces in bpe.
CT_API Tokenizer parse_sentencepiece(std::string_view model, const std::string& name);

/// The tokenizer in a GGUF file: the keys tokenizer.ggml.*.
struct GgufTokens {
  std::string model;                     ///< model: "llama" (pairs by score) or "gpt2" (byte pairs by rank)
  std::string pre;                       ///< pre: one of llama.cpp's names, only for "gpt2"
  std::vector<std::string> tokens = {};  ///< tokens
  std::vector<float> scores = {};        ///< scores, only for "llama"
  std::vector<std::int32_t> token_types =
      {};  ///< token_type: 1 normal, 2 unknown, 3 control, 4 user-defined, 5 unused, 6 byte
  std::vector<std::string> merges = {};                          ///< merges, only for "gpt2": "a b"
  std::optional<std::int64_t> bos = {}, eos = {}, unknown = {};  ///< bos_token_id, eos_token_id, unknown_token_id
  std::optional<bool> add_bos = {}, add_eos = {}, add_space_prefix = {};  ///< by default as in llama.cpp
  std::string chat_template = {};                                         ///< tokenizer.chat_template
};
/// Makes the tokenizer of a GGUF file. Throws FileError with `name` and the key for inconsistent or unsupported values.
CT_API Tokenizer make_tokenizer(const GgufTokens& tokens, const std::string& name = "GGUF");

/// Options of train_byte_pairs.
struct TrainOptions {
  /// Special tokens. They get the first ids, and the first of them begins and ends a text.
  std::vector<std::string> special = {"<|endoftext|>"};
  std::int64_t min_count = 2;  ///< rarer pairs are not merged
};
/// Trains byte pairs on a text (Sennrich et al. 2016), with GPT-2's words. Merges the most frequent pair until there
/// are `vocabulary_size` tokens or no pair is left. The tokens equal those of BpeTrainer in the Python package
/// `tokenizers`. Throws ValueError if `vocabulary_size` is less than 256 bytes plus the special tokens.
CT_API Tokenizer train_byte_pairs(std::string_view text, std::int64_t vocabulary_size,
                                  const TrainOptions& options = {});

}  // namespace catenary
