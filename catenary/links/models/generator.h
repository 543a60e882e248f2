#pragma once
// Text from a language model: the model and its tokenizer together.

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "catenary/links/models/load_language_model.h"
#include "catenary/tokenizers/tokenizer.h"

namespace catenary::links {

/// What stands around a chat's messages, of a family of models that has learnt it.
struct ChatForm {
  std::string name;
  std::string begin;          ///< before all
  std::string before_user;    ///< before a user's message
  std::string before_answer;  ///< behind it, before the answer
  std::string after_answer;   ///< behind an answer, before the next message
};
/// The form that a chat template (tokenizer_config.json's or GGUF's, in Jinja) is written in, which is told by its
/// marks: llama-3, chatml (Qwen2), glm-4, zephyr (TinyLlama) or inst (Llama 2, Mistral). The template is not run: what
/// else it does is left out. Nothing for another one.
CT_API std::optional<ChatForm> chat_form(std::string_view chat_template);
/// The forms that chat_form knows.
CT_API std::vector<std::string> chat_forms();

/// Options of a Generator's call.
struct GeneratorOptions {
  GenerateOptions generate = {};  ///< whose on_token is not called
  /// The prompt is a message of a user, to which the model answers. Throws ValueError where the form is not known.
  bool chat = false;
  /// Told of each piece of the text as it comes, whole characters; false ends it.
  std::function<bool(std::string_view piece)> on_text = {};
};

/// A model and its tokenizer.
class CT_API Generator {
 public:
  Generator(std::unique_ptr<LanguageModel> model, Tokenizer tokenizer, std::optional<ChatForm> form = {});
  /// The text that follows a prompt, without it. Throws what generate and the tokenizer throw.
  std::string operator()(std::string_view prompt, const GeneratorOptions& options = {}) const;
  /// The prompt's tokens; of a chat with what stands around it.
  std::vector<std::int64_t> encode(std::string_view prompt, bool chat = false) const;
  /// The text that a token makes whole; none for a number that no token has, as rows of embeddings may be more.
  std::string piece(TokenStream& stream, std::int64_t token) const;
  const LanguageModel& model() const { return *model_; }
  const Tokenizer& tokenizer() const { return tokenizer_; }

 private:
  std::unique_ptr<LanguageModel> model_;
  Tokenizer tokenizer_;
  std::optional<ChatForm> form_;
};
/// load_language_model with the tokenizer and the form of chats that lie beside the weights: tokenizer.json and
/// tokenizer_config.json, or GGUF's metadata. Throws FileError where there is no tokenizer, or one that does not go
/// with the model.
CT_API Generator load_generator(const std::string& path, const LoadLanguageModelOptions& options = {});

}  // namespace catenary::links
