#include "catenary/tokenizers/gguf_file.h"

#include <algorithm>
#include <cstdio>
#include <string_view>

#include "catenary/tokenizers/gguf_words.h"
#include "catenary/tokenizers/json.h"
#include "catenary/tokenizers/pipeline.h"

namespace catenary {

namespace {

constexpr char kPrefix[] = "tokenizer.ggml.", kChatTemplate[] = "tokenizer.chat_template";

std::vector<std::string> copies(const std::vector<std::string_view>& texts) { return {texts.begin(), texts.end()}; }

/// Lists the tokenizer's keys that no code reads on standard error, except keys that are false, ids of tokens, and
/// those that cannot change a text's tokens.
void tell_unused(const io::GgufReader& file, const std::string& name) {
  static constexpr std::string_view kKnown[] = {
      "model",         "pre",           "tokens",  "scores",     "token_type",       "merges",
      "add_bos_token", "add_eos_token", "hf.json", "rwkv.world", "add_space_prefix", "token_type_count",
      "chat_template", "chat_templates"};
  std::vector<std::string> unused;
  for (const std::string_view key : file.keys()) {
    if (!key.starts_with(kPrefix)) continue;
    const std::string_view rest = key.substr(std::string_view(kPrefix).size());
    if (rest.ends_with("_token_id") || rest.ends_with("_token_ids") || std::ranges::count(kKnown, rest) > 0) continue;
    if (file.find(key)->type == io::GgufType::boolean && !file.flag(key)) continue;
    unused.push_back(fmt::format("'{}'", key));
  }
  if (!unused.empty()) fmt::print(stderr, "catenary: {}: not used: {}\n", name, fmt::join(unused, ", "));
}

}  // namespace

GgufTokens gguf_tokens(const io::GgufReader& file, const std::string& name) {
  const auto key = [](const char* name) { return std::string(kPrefix) + name; };
  const auto has = [&](const char* name) { return file.find(key(name)) != nullptr; };
  const auto integer = [&](const char* name) {
    return has(name) ? std::optional(file.integer(key(name))) : std::nullopt;
  };
  const auto flag = [&](const char* name) { return has(name) ? std::optional(file.flag(key(name))) : std::nullopt; };
  GgufTokens tokens;
  tokens.model = file.text(key("model"));
  // llama.cpp splits files without this key by the expressions that it calls default
  tokens.pre = has("pre") ? std::string(file.text(key("pre"))) : "default";
  tokens.tokens = copies(file.texts(key("tokens")));
  if (has("scores"))
    for (const double score : file.reals(key("scores"))) tokens.scores.push_back(static_cast<float>(score));
  if (has("token_type"))
    for (const std::int64_t type : file.integers(key("token_type")))  // values out of range become an invalid type
      tokens.token_types.push_back(type < 0 || type > INT32_MAX ? 0 : static_cast<std::int32_t>(type));
  if (has("merges")) tokens.merges = copies(file.texts(key("merges")));
  tokens.bos = integer("bos_token_id");
  tokens.eos = integer("eos_token_id");
  tokens.unknown = integer("unknown_token_id");
  tokens.add_bos = flag("add_bos_token");
  tokens.add_eos = flag("add_eos_token");
  tokens.add_space_prefix = flag("add_space_prefix");
  if (file.find(kChatTemplate)) tokens.chat_template = file.text(kChatTemplate);
  tell_unused(file, name);
  return tokens;
}

io::GgufMetadata gguf_metadata(const GgufTokens& tokens) {
  io::GgufMetadata metadata;
  const auto put = [&](const char* name, io::GgufValue value) {
    metadata.emplace_back(std::string(kPrefix) + name, std::move(value));
  };
  const auto put_id = [&](const char* name, const std::optional<std::int64_t>& id) {
    if (id) put(name, static_cast<std::uint32_t>(*id));
  };
  const auto put_flag = [&](const char* name, const std::optional<bool>& flag) {
    if (flag) put(name, *flag);
  };
  put("model", tokens.model);
  if (tokens.model == "gpt2") put("pre", tokens.pre);
  put("tokens", tokens.tokens);
  if (!tokens.scores.empty()) put("scores", tokens.scores);
  if (!tokens.token_types.empty()) put("token_type", tokens.token_types);
  if (!tokens.merges.empty() || tokens.model == "gpt2") put("merges", tokens.merges);  // llama.cpp requires the key
  put_id("bos_token_id", tokens.bos);
  put_id("eos_token_id", tokens.eos);
  put_id("unknown_token_id", tokens.unknown);
  put_flag("add_bos_token", tokens.add_bos);
  put_flag("add_eos_token", tokens.add_eos);
  put_flag("add_space_prefix", tokens.add_space_prefix);
  if (!tokens.chat_template.empty()) metadata.emplace_back(kChatTemplate, tokens.chat_template);
  return metadata;
}

namespace {

using tokenizers::Json;

/// A tokenizer.json whose tokens are to be stored in a GGUF file.
class Subject {
 public:
  explicit Subject(const Tokenizer& tokenizer)
      : tokenizer_(tokenizer),
        state_(tokenizer.state()),
        document_(tokenizers::parse_json(state_.json, state_.name)),
        json_(document_, state_.name, "") {}

  GgufTokens tokens() const {
    const Json model = json_.at("model");
    if (!model.get("merges") || model.get("continuing_subword_prefix") || model.get("end_of_word_suffix") ||
        model.flag("byte_fallback", false))
      refuse("is not a byte-pair tokenizer");
    GgufTokens tokens;
    tokens.model = "gpt2";
    tokens.pre = words(model.flag("ignore_merges", false));
    // llama.cpp ignores it, too
    if (const auto normalizer = json_.get("normalizer"); normalizer && normalizer->at("type").text() != "NFC")
      refuse("has a normalizer other than NFC");
    add_tokens(tokens);
    const Json merges = model.at("merges");
    for (std::size_t i = 0; i < merges.size(); ++i) {
      const Json merge = merges[i];
      if (!merge.is_array() && i == 0 && merge.text().starts_with("#version")) continue;
      tokens.merges.push_back(merge.is_array() ? merge[0].text() + " " + merge[1].text() : merge.text());
    }
    if (const auto unknown = model.get("unk_token")) tokens.unknown = tokenizer_.id(unknown->text());
    tokens.bos = state_.bos;
    tokens.eos = state_.eos;
    surround(tokens);
    tokens.chat_template = state_.chat_template;
    return tokens;
  }

 private:
  [[noreturn]] void refuse(const char* why) const {
    fail<ValueError>("gguf_tokens: the tokenizer {} {}, which GGUF cannot store", state_.name, why);
  }

  /// The name of the pre-tokenizer: GPT-2's, or the name of expressions from the models' files.
  std::string words(bool ignores_merges) const {
    constexpr const char* kOthers = "has other words than those of GPT-2, Llama 3, Qwen2, GLM-4 or StarCoder";
    const auto pre = json_.get("pre_tokenizer");
    if (!pre) refuse(kOthers);
    const auto is_bytes = [&](const Json& step, bool cuts) {
      return step.at("type").text() == "ByteLevel" && !step.at("add_prefix_space").flag() &&
             step.flag("use_regex", true) == cuts;
    };
    if (is_bytes(*pre, true)) return ignores_merges ? (refuse(kOthers), "") : "gpt-2";
    if (pre->at("type").text() != "Sequence" || pre->at("pretokenizers").size() != 2) refuse(kOthers);
    const Json first = pre->at("pretokenizers")[0], second = pre->at("pretokenizers")[1];
    if (first.at("type").text() == "Digits" && first.at("individual_digits").flag() && is_bytes(second, true) &&
        !ignores_merges)
      return "starcoder";
    if (first.at("type").text() != "Split" || first.at("behavior").text() != "Isolated" ||
        first.flag("invert", false) || !is_bytes(second, false) || !first.at("pattern").get("Regex"))
      refuse(kOthers);
    const std::string& expression = first.at("pattern").at("Regex").text();
    const auto modern = [&](const char* numbers, const char* name) {
      return expression == std::string("(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\\r\\n\\p{L}\\p{N}]?\\p{L}+|") + numbers +
                               "| ?[^\\s\\p{L}\\p{N}]+[\\r\\n]*|\\s*[\\r\\n]+|\\s+(?!\\S)|\\s+" ||
             expression == tokenizers::gguf_expressions(name).value().front();  // as Tokenizer::save writes it
    };
    if (modern("\\p{N}{1,3}", "glm4")) return ignores_merges ? "llama-bpe" : "glm4";
    if (modern("\\p{N}", "qwen2") && !ignores_merges) return "qwen2";
    refuse(kOthers);
  }

  void add_tokens(GgufTokens& tokens) const {
    constexpr std::int32_t kNormal = 1, kControl = 3, kUsers = 4, kUnused = 5;
    for (std::int64_t id = 0; id < tokenizer_.vocabulary_size(); ++id) {
      const auto* added = state_.added.find(id);
      const bool is_there = added || state_.model->vocabulary.token(id);
      if (added && (added->single_word || added->lstrip || added->rstrip)) refuse("has an added token with options");
      tokens.tokens.push_back(is_there ? tokenizer_.token(id) : fmt::format("[PAD{}]", id));
      tokens.token_types.push_back(!is_there ? kUnused : !added ? kNormal : added->special ? kControl : kUsers);
    }
  }

  /// Stores the tokens before and after a text.
  void surround(GgufTokens& tokens) const {
    const char* const others = "puts other tokens around a text than one that begins and one that ends it";
    tokens.add_bos = tokens.add_eos = false;
    if (state_.templates.empty()) return;
    if (state_.templates.size() > 1) refuse(others);
    bool seen_text = false;
    for (const auto& part : state_.templates.front()) {
      if (part.text) {
        if (seen_text) refuse(others);
        seen_text = true;
        continue;
      }
      if (part.ids.empty()) continue;
      std::optional<bool>& adds = seen_text ? tokens.add_eos : tokens.add_bos;
      std::optional<std::int64_t>& id = seen_text ? tokens.eos : tokens.bos;
      if (part.ids.size() != 1 || *adds || (id && *id != part.ids.front())) refuse(others);
      adds = true;
      id = part.ids.front();
    }
    if (!seen_text) refuse(others);
  }

  const Tokenizer& tokenizer_;
  const Tokenizer::State& state_;
  nlohmann::json document_;
  Json json_;
};

}  // namespace

GgufTokens gguf_tokens(const Tokenizer& tokenizer) {
  const Tokenizer::State& state = tokenizer.state();
  if (state.gguf) return *state.gguf;
  if (state.json.empty())
    fail<ValueError>("gguf_tokens: the tokenizer {} is a SentencePiece model, which cannot be stored as GGUF",
                     state.name);
  return Subject(tokenizer).tokens();
}

}  // namespace catenary
