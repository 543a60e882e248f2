#include "catenary/links/models/generator.h"

#include <string>
#include <utility>

#include "catenary/core/format.h"
#include "catenary/links/models/language_file.h"

namespace catenary::links {

Generator::Generator(std::unique_ptr<LanguageModel> model, Tokenizer tokenizer, std::optional<ChatForm> form)
    : model_(std::move(model)), tokenizer_(std::move(tokenizer)), form_(std::move(form)) {
  if (!model_) throw ValueError("Generator: there is no model");
  if (tokenizer_.vocabulary_size() > model_->vocabulary())
    fail<ValueError>("Generator: the tokenizer has {} tokens, the model {}", tokenizer_.vocabulary_size(),
                     model_->vocabulary());
}

std::vector<std::int64_t> Generator::encode(std::string_view prompt, bool chat) const {
  return chat ? encode_message(prompt, true) : tokenizer_.encode(prompt);
}

std::vector<std::int64_t> Generator::encode_message(std::string_view message, bool first) const {
  if (!form_)
    fail<ValueError>("Generator: the model has no form of chats that is known here; {} are",
                     fmt::join(chat_forms(), ", "));
  // the form's tokens are special, and the letters of such in a message would end it early
  const EncodeOptions special{.add_special = false, .parse_special = true};
  for (const std::int64_t id : tokenizer_.encode(message, special))
    if (tokenizer_.is_special(id))
      fail<ValueError>("Generator: the message has the letters of the special token '{}'", tokenizer_.token(id));
  return tokenizer_.encode(form_->turn(message, first), special);
}

std::string Generator::piece(TokenStream& stream, std::int64_t token) const {
  return token < tokenizer_.vocabulary_size() ? stream.put(token) : "";
}

std::string Generator::operator()(std::string_view prompt, const GeneratorOptions& options) const {
  std::vector<std::int64_t> tokens;
  return continued(encode(prompt, options.chat), options, options.generate.caches, tokens);
}

std::string Generator::continued(const std::vector<std::int64_t>& prompt, const GeneratorOptions& options,
                                 std::vector<KeyValueCache>* caches, std::vector<std::int64_t>& tokens) const {
  std::string text;
  TokenStream stream(tokenizer_);
  bool goes_on = true;
  const auto give = [&](const std::string& piece) {
    text += piece;
    if (!piece.empty() && options.on_text && !options.on_text(piece)) goes_on = false;
  };
  GenerateOptions each = options.generate;
  each.on_token = [&](std::int64_t token) {
    give(piece(stream, token));
    return goes_on;
  };
  each.caches = caches;
  tokens = generate(*model_, prompt, each);
  give(stream.finish());
  return text;
}

Generator load_generator(const std::string& path, const LoadLanguageModelOptions& options) {
  // what is small is read first: an error there need not wait for the weights
  Tokenizer tokenizer = load_tokenizer(path);
  std::optional<ChatForm> form = chat_form(detail::open_language_file(path)->chat_template());
  return {load_language_model(path, options), std::move(tokenizer), std::move(form)};
}

}  // namespace catenary::links
