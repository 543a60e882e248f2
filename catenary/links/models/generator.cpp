#include "catenary/links/models/generator.h"

#include <algorithm>
#include <string>
#include <utility>

#include "catenary/core/format.h"
#include "catenary/links/models/language_file.h"

namespace catenary::links {

Generator::Generator(std::unique_ptr<LanguageModel> model, Tokenizer tokenizer, std::optional<ChatForm> form)
    : model_(std::move(model)), tokenizer_(std::move(tokenizer)), form_(std::move(form)) {
  if (!model_) throw ValueError("Generator: there is no model");
  if (tokenizer_.vocabulary_size() > model_->vocabulary())
    fail<ValueError>("Generator: the tokenizer has {} tokens, more than the model's {}", tokenizer_.vocabulary_size(),
                     model_->vocabulary());
  for (const std::int64_t id : end_of_turn_tokens(tokenizer_, form_))
    if (!ends(id)) model_->end_tokens.push_back(id);
}

bool Generator::ends(std::int64_t token) const { return std::ranges::count(model_->end_tokens, token) > 0; }

StopStrings::StopStrings(std::vector<std::string> stops) : stops_(std::move(stops)) {
  for (const std::string& stop : stops_)
    if (stop.empty()) throw ValueError("stop: strings must not be empty");
}

std::string StopStrings::put(std::string_view piece) {
  if (has_come_) return "";
  waiting_ += piece;
  std::size_t end = std::string::npos, kept = 0;
  for (const std::string& stop : stops_) {
    end = std::min(end, waiting_.find(stop));
    for (std::size_t size = std::min(stop.size() - 1, waiting_.size()); size > kept; --size)
      if (waiting_.ends_with(std::string_view(stop).substr(0, size))) kept = size;
  }
  has_come_ = end != std::string::npos;
  std::string text = waiting_.substr(0, has_come_ ? end : waiting_.size() - kept);
  waiting_.erase(0, has_come_ ? waiting_.size() : text.size());
  return text;
}

std::string StopStrings::finish() { return std::exchange(waiting_, ""); }

std::vector<std::int64_t> Generator::encode(std::string_view prompt, bool chat,
                                            const std::optional<std::string>& system) const {
  return chat ? encode_message(prompt, true, system) : tokenizer_.encode(prompt);
}

std::vector<std::int64_t> Generator::encode_message(std::string_view message, bool first,
                                                    const std::optional<std::string>& system) const {
  if (!form_)
    fail<ValueError>("Generator: the model has no known chat form; known forms are {}", fmt::join(chat_forms(), ", "));
  // only the form's own tokens are special: the text of a special token in a message would end the message early
  const EncodeOptions special{.add_special = false, .parse_special = true};
  for (const std::string_view text : {message, system ? std::string_view(*system) : std::string_view()})
    for (const std::int64_t id : tokenizer_.encode(text, special))
      if (tokenizer_.is_special(id))
        fail<ValueError>("Generator: the message contains the text of the special token '{}'; remove it",
                         tokenizer_.token(id));
  return tokenizer_.encode(form_->turn(message, first, system), special);
}

std::string Generator::piece(TokenStream& stream, std::int64_t token) const {
  if (token >= tokenizer_.vocabulary_size() || (ends(token) && tokenizer_.is_added(token))) return "";
  return stream.put(token);
}

std::string Generator::operator()(std::string_view prompt, const GeneratorOptions& options) const {
  std::vector<std::int64_t> tokens;
  return continued(encode(prompt, options.chat, options.system), options, options.generate.caches, tokens);
}

std::string Generator::continued(const std::vector<std::int64_t>& prompt, const GeneratorOptions& options,
                                 std::vector<KeyValueCache>* caches, std::vector<std::int64_t>& tokens) const {
  std::string text;
  TokenStream stream(tokenizer_);
  StopStrings stops(options.stop);
  bool goes_on = true;
  const auto give = [&](const std::string& piece) {
    text += piece;
    if (!piece.empty() && options.on_text && !options.on_text(piece)) goes_on = false;
  };
  GenerateOptions each = options.generate;
  each.on_token = [&](std::int64_t token) {
    give(stops.put(piece(stream, token)));
    return goes_on && !stops.has_come();
  };
  each.caches = caches;
  tokens = generate(*model_, prompt, each);
  give(stops.put(stream.finish()));
  give(stops.finish());
  return text;
}

Generator load_generator(const std::string& path, const LoadLanguageModelOptions& options) {
  // read small files first, so that their errors do not wait for the weights
  detail::open_language_file(path);  // reports files that are not models
  Tokenizer tokenizer = load_tokenizer(path);
  std::optional<ChatForm> form = chat_form(tokenizer.chat_template());
  return {load_language_model(path, options), std::move(tokenizer), std::move(form)};
}

}  // namespace catenary::links
