#include "catenary/links/models/conversation.h"

#include <algorithm>
#include <utility>

namespace catenary::links {

Conversation::Conversation(const Generator& generator, std::optional<std::string> system)
    : generator_(&generator),
      system_(std::move(system)),
      caches_(static_cast<std::size_t>(generator.model().layers())) {
  generator.encode_message("", true, system_);
}

std::int64_t Conversation::computed() const { return caches_.empty() ? 0 : caches_.front().size(); }

std::string Conversation::operator()(std::string_view message, const GeneratorOptions& options) {
  std::vector<std::int64_t> prompt = tokens_;
  const std::vector<std::int64_t> turn = generator_->encode_message(message, tokens_.empty(), system_);
  prompt.insert(prompt.end(), turn.begin(), turn.end());
  // an exception during the last answer may have left surplus keys in the caches
  for (KeyValueCache& cache : caches_)
    if (cache.size() > std::ssize(tokens_)) cache.resize(std::ssize(tokens_));
  GeneratorOptions each = options;
  bool is_read = true;
  if (options.generate.on_prompt)
    each.generate.on_prompt = [&](std::int64_t read) { return is_read = options.generate.on_prompt(read); };
  std::vector<std::int64_t> answer;
  const std::string text = generator_->continued(prompt, each, &caches_, answer);
  if (!is_read) return text;
  // the form ends answers by itself, so drop the model's end token
  if (!answer.empty() && std::ranges::count(generator_->model().end_tokens, answer.back()) > 0) answer.pop_back();
  prompt.insert(prompt.end(), answer.begin(), answer.end());
  tokens_ = std::move(prompt);
  return text;
}

}  // namespace catenary::links
