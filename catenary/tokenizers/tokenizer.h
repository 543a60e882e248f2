#pragma once
// Tokenizers: text as the numbers that a language model was trained with, and back. tokenizer.json's format and results
// are those of the Python package `tokenizers`; GGUF's those of llama.cpp.

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "catenary/core/export.h"

namespace catenary {

/// How a text is encoded.
struct EncodeOptions {
  bool add_special = true;  ///< the tokens that the model wants before and after a text ("<s>")
  /// Special tokens that stand in the text are taken for such; else their letters are text like any other. For a
  /// template of a chat, say; never for what a stranger wrote.
  bool parse_special = false;
};

/// A tokenizer: a handle of what was read, which copies share. Any number of threads may use it at once.
class CT_API Tokenizer {
 public:
  struct State;  ///< private to tokenizers/
  explicit Tokenizer(std::shared_ptr<const State> state);

  /// The ids of a text. Bytes that are not UTF-8 become U+FFFD, one for each longest part that could have begun a
  /// character. Throws ValueError for a character that neither the vocabulary nor an unknown token has, and where an
  /// expression takes too many steps.
  std::vector<std::int64_t> encode(std::string_view text, const EncodeOptions& options = {}) const;
  /// The text of ids, special tokens left out or with their names, GGUF's unused ones left out; bytes that are not
  /// UTF-8 become U+FFFD. Throws
  /// IndexError for an id that has no token.
  std::string decode(std::span<const std::int64_t> ids, bool skip_special = true) const;

  /// The highest id and one: the rows that an embedding needs at least.
  std::int64_t vocabulary_size() const;
  /// The id of a token as the vocabulary writes it ("Ġthe", "▁the", "<0x0A>"); nothing when there is none.
  std::optional<std::int64_t> id(std::string_view token) const;
  /// The token of an id, as the vocabulary writes it; throws IndexError.
  std::string token(std::int64_t id) const;
  /// Whether an id is a special token, which decode may leave out; throws IndexError.
  bool is_special(std::int64_t id) const;
  /// Whether an id is a token that is found in a text before the text is cut: a special one, or a user's; throws
  /// IndexError.
  bool is_added(std::int64_t id) const;
  /// The token that begins a text, and the one that ends it, where the file says which.
  std::optional<std::int64_t> bos_id() const;
  std::optional<std::int64_t> eos_id() const;
  /// What forms a chat's messages, in Jinja: tokenizer_config.json's (the default of several), or chat_template.jinja
  /// beside it, or GGUF's; empty where there is none.
  const std::string& chat_template() const;

  /// Writes the tokenizer.json that it was read from or trained to: as `path` where that ends with ".json"; else into
  /// the folder `path`, which is made where there is none, beside a tokenizer_config.json that says which tokens begin
  /// and end a text, and has the chat template. Throws FileError, and ValueError for one of GGUF's or SentencePiece's.
  void save(const std::string& path) const;

  const State& state() const { return *state_; }  ///< private to tokenizers/

 private:
  std::shared_ptr<const State> state_;
};

/// Text while it is generated: takes one id after the other and gives what has become whole UTF-8. All it gives
/// together is decode's text; only where byte tokens ("<0xE4>") make no UTF-8 may the number of U+FFFD differ.
class CT_API TokenStream {
 public:
  explicit TokenStream(Tokenizer tokenizer, bool skip_special = true);
  /// The text that an id makes whole; often a word, and nothing while a character is incomplete. Throws IndexError.
  std::string put(std::int64_t id);
  /// The end: U+FFFD for a character that stayed incomplete. The stream may be used again for another text.
  std::string finish();

 private:
  Tokenizer tokenizer_;
  bool skip_special_;
  std::vector<std::int64_t> context_, pending_;  // ids whose text was given, and those after them
  std::size_t given_ = 0;                        // bytes of the text of both that were given
};

/// Reads tokenizer.json, or the one in a folder: byte pairs (of bytes, or of characters with bytes for the rest) and
/// unigrams. Which tokens begin and end a text is read from tokenizer_config.json, where one lies beside it. A GGUF
/// file's is read too, as make_tokenizer says, and a model of SentencePiece, whose name ends with ".model", as
/// parse_sentencepiece says; of a folder tokenizer.model, spiece.model or ice_text.model, where there is no
/// tokenizer.json. Throws FileError, with the place, for a file that is damaged, and for a step or an option that is
/// not known here.
CT_API Tokenizer load_tokenizer(const std::string& path);

/// Reads the text of a tokenizer.json from memory; `name` is for messages.
CT_API Tokenizer parse_tokenizer(std::string_view json, const std::string& name);

/// Reads a model of SentencePiece (unigram or bpe) from memory; `name` is for messages. A text is cut as SentencePiece
/// cuts it, with nothing before or after it; load_tokenizer puts there what tokenizer_config.json asks for
/// (add_bos_token, add_eos_token; else what transformers' classes for Llama and T5 do). chatglm-6b's ice_text.model is
/// known by its pieces: lines, tabs and spaces in a row have some of their own, and [gMASK] and <sop> end a prompt.
/// Throws FileError, with the place, for a damaged file and for what is not supported: models of words or characters,
/// spaces behind words, unused pieces of bpe.
CT_API Tokenizer parse_sentencepiece(std::string_view model, const std::string& name);

/// What a GGUF file says of its tokenizer: the keys tokenizer.ggml.*.
struct GgufTokens {
  std::string model;                     ///< model: "llama" (pairs by score) or "gpt2" (pairs of bytes by rank)
  std::string pre;                       ///< pre: llama.cpp's names; of "gpt2" only
  std::vector<std::string> tokens = {};  ///< tokens
  std::vector<float> scores = {};        ///< scores; of "llama"
  std::vector<std::int32_t> token_types =
      {};                                ///< token_type: 1 normal, 2 unknown, 3 control, 4 user's, 5 unused, 6 byte
  std::vector<std::string> merges = {};  ///< merges; of "gpt2": "a b"
  std::optional<std::int64_t> bos = {}, eos = {}, unknown = {};  ///< bos_token_id, eos_token_id, unknown_token_id
  std::optional<bool> add_bos = {}, add_eos = {}, add_space_prefix = {};  ///< llama.cpp's defaults where not said
  std::string chat_template = {};                                         ///< tokenizer.chat_template
};
/// The tokenizer of a GGUF file. Throws FileError with `name` and the key for what does not fit together or is not
/// known.
CT_API Tokenizer make_tokenizer(const GgufTokens& tokens, const std::string& name = "GGUF");

/// How a vocabulary is trained.
struct TrainOptions {
  /// Special tokens, which get the first ids. The first of them begins and ends a text, if there is one.
  std::vector<std::string> special = {"<|endoftext|>"};
  std::int64_t min_count = 2;  ///< pairs that occur less often are not merged
};
/// Trains pairs of bytes on a text: the words are GPT-2's, the pair that occurs most often becomes a token, until there
/// are `vocabulary_size` tokens or no pair is left (Sennrich et al. 2016; the same tokens as `tokenizers`' BpeTrainer).
/// Throws ValueError for a size below 256 bytes and the special tokens.
CT_API Tokenizer train_byte_pairs(std::string_view text, std::int64_t vocabulary_size,
                                  const TrainOptions& options = {});

}  // namespace catenary
