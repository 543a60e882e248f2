#include "catenary/links/models/generator.h"

#include <string>
#include <utility>

#include "catenary/core/format.h"
#include "catenary/links/models/language_file.h"

namespace catenary::links {

namespace {

struct KnownForm {
  const char* mark;  // that its templates have, and those of the forms before it do not
  const char *name, *begin, *before_user, *before_answer, *after_answer;
};
constexpr KnownForm kForms[] = {
    {"<|start_header_id|>", "llama-3", "<|begin_of_text|>", "<|start_header_id|>user<|end_header_id|>\n\n",
     "<|eot_id|><|start_header_id|>assistant<|end_header_id|>\n\n", "<|eot_id|>"},
    {"<|im_start|>", "chatml", "<|im_start|>system\nYou are a helpful assistant.<|im_end|>\n", "<|im_start|>user\n",
     "<|im_end|>\n<|im_start|>assistant\n", "<|im_end|>\n"},
    {"[gMASK]<sop>", "glm-4", "[gMASK]<sop>", "<|user|>\n", "<|assistant|>\n", ""},
    {"<|user|>", "zephyr", "", "<|user|>\n", "</s>\n<|assistant|>\n", "</s>\n"},
    {"[INST]", "inst", "<s>", "[INST] ", " [/INST]", "</s>"},
};

}  // namespace

std::optional<ChatForm> chat_form(std::string_view chat_template) {
  for (const KnownForm& form : kForms)
    if (chat_template.find(form.mark) != std::string_view::npos)
      return ChatForm{form.name, form.begin, form.before_user, form.before_answer, form.after_answer};
  return {};
}

std::vector<std::string> chat_forms() {
  std::vector<std::string> names;
  for (const KnownForm& form : kForms) names.emplace_back(form.name);
  return names;
}

Generator::Generator(std::unique_ptr<LanguageModel> model, Tokenizer tokenizer, std::optional<ChatForm> form)
    : model_(std::move(model)), tokenizer_(std::move(tokenizer)), form_(std::move(form)) {
  if (!model_) throw ValueError("Generator: there is no model");
  if (tokenizer_.vocabulary_size() > model_->vocabulary())
    fail<ValueError>("Generator: the tokenizer has {} tokens, the model {}", tokenizer_.vocabulary_size(),
                     model_->vocabulary());
}

std::vector<std::int64_t> Generator::encode(std::string_view prompt, bool chat) const {
  if (!chat) return tokenizer_.encode(prompt);
  if (!form_)
    fail<ValueError>("Generator: the model has no form of chats that is known here; {} are",
                     fmt::join(chat_forms(), ", "));
  // the form's tokens are special, and the letters of such in a message would end it early
  const EncodeOptions special{.add_special = false, .parse_special = true};
  for (const std::int64_t id : tokenizer_.encode(prompt, special))
    if (tokenizer_.is_special(id))
      fail<ValueError>("Generator: the message has the letters of the special token '{}'", tokenizer_.token(id));
  return tokenizer_.encode(form_->begin + form_->before_user + std::string(prompt) + form_->before_answer, special);
}

std::string Generator::piece(TokenStream& stream, std::int64_t token) const {
  return token < tokenizer_.vocabulary_size() ? stream.put(token) : "";
}

std::string Generator::operator()(std::string_view prompt, const GeneratorOptions& options) const {
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
  generate(*model_, encode(prompt, options.chat), each);
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
