#pragma once
// Generates text with a language model and its tokenizer.

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
  GenerateOptions generate = {};  ///< on_token is ignored
  /// Treats the prompt as a user's message to answer. Throws ValueError if the model has no known chat form. Use
  /// Conversation for chats of several messages.
  bool chat = false;
  std::optional<std::string> system = {};  ///< system message: tells the model how to answer
  /// Stop strings: the text ends before the first occurrence of any of them.
  std::vector<std::string> stop = {};
  /// Called with each new piece of text, always whole characters. Return false to stop.
  std::function<bool(std::string_view piece)> on_text = {};
};

/// Cuts a stream of text before the first stop string. Holds text back while it may be the beginning of a stop string.
class CT_API StopStrings {
 public:
  /// Throws ValueError for an empty string.
  explicit StopStrings(std::vector<std::string> stops);
  /// Appends a piece and returns the text that is known to precede any stop string.
  std::string put(std::string_view piece);
  /// Ends the stream and returns the text held back.
  std::string finish();
  /// Whether a stop string has occurred. put() returns nothing after that.
  bool has_come() const { return has_come_; }

 private:
  std::vector<std::string> stops_;
  std::string waiting_;
  bool has_come_ = false;
};

/// A language model with its tokenizer.
class CT_API Generator {
 public:
  /// Adds end_of_turn_tokens to the model's end_tokens.
  Generator(std::unique_ptr<LanguageModel> model, Tokenizer tokenizer, std::optional<ChatForm> form = {});
  /// Returns the text that follows a prompt, without the prompt. Throws the errors of generate and of the tokenizer.
  std::string operator()(std::string_view prompt, const GeneratorOptions& options = {}) const;
  /// Returns the prompt's tokens, with `chat` including those of the chat form.
  std::vector<std::int64_t> encode(std::string_view prompt, bool chat = false,
                                   const std::optional<std::string>& system = {}) const;
  /// Returns the tokens of a chat message, including those of the form. Pass first = true for the chat's first message,
  /// which the system message precedes. Throws ValueError if the model has no known chat form, or if a message contains
  /// the text of a special token.
  std::vector<std::int64_t> encode_message(std::string_view message, bool first,
                                           const std::optional<std::string>& system = {}) const;
  /// Returns the text that a token completes. It is empty for added tokens that end a text, and for ids without a
  /// token: models may have more rows of embeddings than their tokenizer has tokens.
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
/// Loads a language model with the tokenizer and chat form stored beside the weights: tokenizer.json and
/// tokenizer_config.json, or GGUF metadata. Throws FileError if there is no tokenizer, or if it does not match the
/// model.
CT_API Generator load_generator(const std::string& path, const LoadLanguageModelOptions& options = {});

}  // namespace catenary::links
