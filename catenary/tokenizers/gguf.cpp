// Tokenizers of GGUF files, with llama.cpp's results.

#include <cmath>

#include "catenary/core/format.h"
#include "catenary/tokenizers/gguf_words.h"
#include "catenary/tokenizers/pipeline.h"

namespace catenary {

namespace tokenizers {

namespace {

enum Type : std::int32_t { kNormal = 1, kUnknown, kControl, kUsers, kUnused, kByte };

class Reader {
 public:
  Reader(const GgufTokens& tokens, const std::string& name) : tokens_(tokens), name_(name) {}

  std::shared_ptr<const Tokenizer::State> read() {
    check();
    state_->name = name_;
    if (tokens_.model == "llama") {
      scored_pairs();
    } else if (tokens_.model == "gpt2") {
      byte_pairs();
    } else {
      refuse("model", "'{}' is not supported; expected llama or gpt2", tokens_.model.substr(0, 80));
    }
    for (std::size_t i = 0; i < tokens_.token_types.size(); ++i) add(i, tokens_.token_types[i]);
    state_->added.finish(nullptr);
    state_->gguf = std::make_shared<const GgufTokens>(tokens_);
    state_->chat_template = tokens_.chat_template;
    state_->bos = tokens_.bos;
    state_->eos = tokens_.eos;
    return std::move(state_);
  }

 private:
  template <class... Args>
  [[noreturn]] void refuse(const char* key, fmt::format_string<Args...> format, Args&&... args) const {
    throw FileError(
        fmt::format("{}: tokenizer.ggml.{}: {}", name_, key, fmt::format(format, std::forward<Args>(args)...)));
  }

  void check() const {
    const std::size_t count = tokens_.tokens.size();
    if (count == 0) refuse("tokens", "there are none");
    if (count > INT32_MAX) refuse("tokens", "{} are too many", count);
    for (std::size_t i = 0; i < count; ++i)
      if (!is_valid(tokens_.tokens[i])) refuse("tokens", "the token {} is not UTF-8", i);
    if (!tokens_.token_types.empty() && tokens_.token_types.size() != count)
      refuse("token_type", "{} types for {} tokens", tokens_.token_types.size(), count);
    const auto check_id = [&](const char* key, const std::optional<std::int64_t>& id) {
      if (id && (*id < 0 || *id >= static_cast<std::int64_t>(count)))
        refuse(key, "{} is no id of {} tokens", *id, count);
    };
    check_id("bos_token_id", tokens_.bos);
    check_id("eos_token_id", tokens_.eos);
    check_id("unknown_token_id", tokens_.unknown);
  }

  Vocabulary vocabulary() const {
    Vocabulary vocabulary;
    for (std::size_t i = 0; i < tokens_.tokens.size(); ++i)
      vocabulary.add_again(tokens_.tokens[i], static_cast<std::uint32_t>(i));
    return vocabulary;
  }

  void scored_pairs() {
    if (tokens_.scores.size() != tokens_.tokens.size())
      refuse("scores", "{} scores for {} tokens", tokens_.scores.size(), tokens_.tokens.size());
    for (const float score : tokens_.scores)
      if (std::isnan(score)) refuse("scores", "a score is not a number");
    std::optional<std::uint32_t> unknown;
    if (tokens_.unknown) unknown = static_cast<std::uint32_t>(*tokens_.unknown);
    state_->model = make_scored_pairs(vocabulary(), tokens_.scores, unknown);
    const bool prefix = tokens_.add_space_prefix.value_or(true);
    std::vector<std::unique_ptr<Normalizer>> steps;
    if (prefix) steps.push_back(make_prepend(" "));
    steps.push_back(make_replace(Pattern(std::string(" ")), kSpaceMark));
    state_->normalizer = make_sequence(std::move(steps));
    decode_characters();
    if (prefix) state_->decoders.push_back(make_strip_decoder(" ", 1, 0));
    surround(true);
  }

  void byte_pairs() {
    const std::unique_ptr<GgufWords> words = gguf_words(tokens_.pre);
    if (!words)
      refuse("pre", "'{}' is not supported; expected one of {}", tokens_.pre.substr(0, 80), gguf_words_names());
    Vocabulary all = vocabulary();
    BytePairs options;
    options.ignore_merges = words->ignore_merges;
    options.whole_lines = words->whole_lines;
    options.byte_fallback = words->of_characters;
    if (tokens_.unknown) options.unknown = static_cast<std::uint32_t>(*tokens_.unknown);
    for (std::size_t i = 0; i < tokens_.merges.size(); ++i) {
      const std::string_view both = tokens_.merges[i];
      // a token may itself be a space, so the separator is not the first byte
      const std::size_t space = both.find(' ', 1);
      if (both.empty() || space == std::string_view::npos)
        refuse("merges", "the merge {} is not two tokens: '{}'", i, both.substr(0, 80));
      const auto left = all.id(both.substr(0, space)), right = all.id(both.substr(space + 1));
      if (!left || !right) refuse("merges", "a token of merge {} is not among the tokens: '{}'", i, both.substr(0, 80));
      options.merges.emplace_back(*left, *right);
    }
    std::size_t at = 0;
    try {
      state_->model = make_byte_pairs(std::move(all), options, at);
    } catch (const ValueError& e) {
      refuse("merges", "merge {}: {}", at, e.what());
    }
    state_->pre_tokenizer = std::move(words->words);
    if (words->of_characters) {
      if (words->marks_spaces) state_->normalizer = make_replace(Pattern(std::string(" ")), kSpaceMark);
      decode_characters();
    } else {
      state_->decoders.push_back(make_byte_decoder());
    }
    surround(words->add_bos);
  }

  void decode_characters() {
    state_->decoders.push_back(make_replace_decoder(Pattern(std::string(kSpaceMark)), " "));
    state_->decoders.push_back(make_fallback_decoder());
    state_->decoders.push_back(make_fuse_decoder());
  }

  /// Adds the tokens before and after a text.
  void surround(bool add_bos) {
    std::vector<TemplatePart> parts;
    if (tokens_.add_bos.value_or(add_bos)) {
      if (!tokens_.bos) refuse("add_bos_token", "bos_token_id is missing");
      parts.push_back({false, {*tokens_.bos}});
    }
    parts.push_back({true});
    if (tokens_.add_eos.value_or(false)) {
      if (!tokens_.eos) refuse("add_eos_token", "eos_token_id is missing");
      parts.push_back({false, {*tokens_.eos}});
    }
    state_->templates.push_back(std::move(parts));
  }

  void add(std::size_t id, std::int32_t type) {
    if (type < kNormal || type > kByte) refuse("token_type", "token {1} has the unknown type {0}", type, id);
    if (type == kUnused) state_->unused.insert(static_cast<std::int64_t>(id));
    if (type != kUnknown && type != kControl && type != kUsers) return;
    AddedToken token;
    token.content = tokens_.tokens[id];
    token.id = static_cast<std::int64_t>(id);
    token.special = type != kUsers;
    if (token.content.empty()) return;  // never found in a text
    try {
      state_->added.add(std::move(token));
    } catch (const ValueError& e) {
      refuse("tokens", "{}", e.what());
    }
  }

  const GgufTokens& tokens_;
  const std::string& name_;
  std::shared_ptr<Tokenizer::State> state_ = std::make_shared<Tokenizer::State>();
};

}  // namespace

}  // namespace tokenizers

Tokenizer make_tokenizer(const GgufTokens& tokens, const std::string& name) {
  return Tokenizer(tokenizers::Reader(tokens, name).read());
}

}  // namespace catenary
