#pragma once
// Text from a language model: the model and its tokenizer together.

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "catenary/links/models/chat_form.h"
#include "catenary/links/models/load_language_model.h"
#include "catenary/tokenizers/tokenizer.h"

namespace catenary::links {

/// Options of a Generator's call.
struct GeneratorOptions {
  GenerateOptions generate = {};  ///< whose on_token is not called
  /// The prompt is a message of a user, to which the model answers. Throws ValueError where the form is not known. A
  /// Conversation has several.
  bool chat = false;
  std::optional<std::string> system = {};  ///< what stands before a chat's message: how the model is to answer
  /// The text ends before the first of these that it has.
  std::vector<std::string> stop = {};
  /// Told of each piece of the text as it comes, whole characters; false ends it.
  std::function<bool(std::string_view piece)> on_text = {};
};

/// Text as it comes, up to the first of some strings. What may be the beginning of one waits until more is known.
class CT_API StopStrings {
 public:
  /// Throws ValueError for an empty string.
  explicit StopStrings(std::vector<std::string> stops);
  /// The text that is known to stand before any of them.
  std::string put(std::string_view piece);
  /// The end: what waited.
  std::string finish();
  /// Whether one has come, after which put gives nothing.
  bool has_come() const { return has_come_; }

 private:
  std::vector<std::string> stops_;
  std::string waiting_;
  bool has_come_ = false;
};

/// A model and its tokenizer.
class CT_API Generator {
 public:
  /// Adds end_of_turn_tokens to the model's end_tokens.
  Generator(std::unique_ptr<LanguageModel> model, Tokenizer tokenizer, std::optional<ChatForm> form = {});
  /// The text that follows a prompt, without it. Throws what generate and the tokenizer throw.
  std::string operator()(std::string_view prompt, const GeneratorOptions& options = {}) const;
  /// The prompt's tokens; of a chat with what stands around it.
  std::vector<std::int64_t> encode(std::string_view prompt, bool chat = false,
                                   const std::optional<std::string>& system = {}) const;
  /// The tokens of a chat's message with what stands around it, of the first or of one that follows an answer; the
  /// system's message stands before the first. Throws ValueError where the form is not known, and for messages that
  /// have the letters of a special token.
  std::vector<std::int64_t> encode_message(std::string_view message, bool first,
                                           const std::optional<std::string>& system = {}) const;
  /// The text that a token makes whole; none for a number that no token has, as rows of embeddings may be more, and for
  /// an added token that ends a text.
  std::string piece(TokenStream& stream, std::int64_t token) const;
  const LanguageModel& model() const { return *model_; }
  const Tokenizer& tokenizer() const { return tokenizer_; }

 private:
  friend class Conversation;
  bool ends(std::int64_t token) const;
  std::string continued(const std::vector<std::int64_t>& prompt, const GeneratorOptions& options,
                        std::vector<KeyValueCache>* caches, std::vector<std::int64_t>& tokens) const;
  std::unique_ptr<LanguageModel> model_;
  Tokenizer tokenizer_;
  std::optional<ChatForm> form_;
};
/// load_language_model with the tokenizer and the form of chats that lie beside the weights: tokenizer.json and
/// tokenizer_config.json, or GGUF's metadata. Throws FileError where there is no tokenizer, or one that does not go
/// with the model.
CT_API Generator load_generator(const std::string& path, const LoadLanguageModelOptions& options = {});

}  // namespace catenary::links
