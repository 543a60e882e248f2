#include "catenary/tokenizers/gguf_file.h"

#include "catenary/tokenizers/json.h"
#include "catenary/tokenizers/pipeline.h"

namespace catenary {

namespace {

constexpr char kPrefix[] = "tokenizer.ggml.";

std::vector<std::string> copies(const std::vector<std::string_view>& texts) { return {texts.begin(), texts.end()}; }

}  // namespace

GgufTokens gguf_tokens(const io::GgufReader& file) {
  const auto key = [](const char* name) { return std::string(kPrefix) + name; };
  const auto has = [&](const char* name) { return file.find(key(name)) != nullptr; };
  const auto integer = [&](const char* name) {
    return has(name) ? std::optional(file.integer(key(name))) : std::nullopt;
  };
  const auto flag = [&](const char* name) { return has(name) ? std::optional(file.flag(key(name))) : std::nullopt; };
  GgufTokens tokens;
  tokens.model = file.text(key("model"));
  // Files from before this key are cut as llama.cpp cuts them: by the expressions that it calls default.
  tokens.pre = has("pre") ? std::string(file.text(key("pre"))) : "default";
  tokens.tokens = copies(file.texts(key("tokens")));
  if (has("scores"))
    for (const double score : file.reals(key("scores"))) tokens.scores.push_back(static_cast<float>(score));
  if (has("token_type"))
    for (const std::int64_t type : file.integers(key("token_type")))  // what is out of range is no type either
      tokens.token_types.push_back(type < 0 || type > INT32_MAX ? 0 : static_cast<std::int32_t>(type));
  if (has("merges")) tokens.merges = copies(file.texts(key("merges")));
  tokens.bos = integer("bos_token_id");
  tokens.eos = integer("eos_token_id");
  tokens.unknown = integer("unknown_token_id");
  tokens.add_bos = flag("add_bos_token");
  tokens.add_eos = flag("add_eos_token");
  tokens.add_space_prefix = flag("add_space_prefix");
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
  if (!tokens.merges.empty() || tokens.model == "gpt2") put("merges", tokens.merges);  // llama.cpp wants the key
  put_id("bos_token_id", tokens.bos);
  put_id("eos_token_id", tokens.eos);
  put_id("unknown_token_id", tokens.unknown);
  put_flag("add_bos_token", tokens.add_bos);
  put_flag("add_eos_token", tokens.add_eos);
  put_flag("add_space_prefix", tokens.add_space_prefix);
  return metadata;
}

GgufTokens gguf_tokens(const Tokenizer& tokenizer) {
  using tokenizers::Json;
  const Tokenizer::State& state = tokenizer.state();
  const auto refuse = [&](const char* why) {
    fail<ValueError>("gguf_tokens: the tokenizer {} {}, which GGUF cannot say here", state.name, why);
  };
  if (state.json.empty()) refuse("came from a GGUF file");
  const nlohmann::json document = tokenizers::parse_json(state.json, state.name);
  const Json json(document, state.name, "");
  const Json model = json.at("model");
  if (json.get("normalizer")) refuse("has a normalizer");
  const auto pre = json.get("pre_tokenizer");
  if (!pre || pre->at("type").text() != "ByteLevel" || pre->at("add_prefix_space").flag() ||
      !pre->flag("use_regex", true))
    refuse("has other words than GPT-2's");
  if (!model.get("merges") || model.get("unk_token") || model.get("continuing_subword_prefix") ||
      model.get("end_of_word_suffix") || model.flag("byte_fallback", false) || model.flag("ignore_merges", false))
    refuse("has other tokens than pairs of bytes");
  if (!state.templates.empty()) refuse("puts tokens around a text");
  GgufTokens tokens;
  tokens.model = "gpt2";
  tokens.pre = "gpt-2";
  for (std::int64_t id = 0; id < tokenizer.vocabulary_size(); ++id) {
    const auto* added = state.added.find(id);
    if (!added && !state.model->vocabulary.token(id)) refuse("has an id without a token");
    if (added && (added->single_word || added->lstrip || added->rstrip)) refuse("has an added token with options");
    tokens.tokens.push_back(tokenizer.token(id));
    constexpr std::int32_t kNormal = 1, kControl = 3, kUsers = 4;
    tokens.token_types.push_back(!added ? kNormal : added->special ? kControl : kUsers);
  }
  const Json merges = model.at("merges");
  for (std::size_t i = 0; i < merges.size(); ++i) {
    const Json merge = merges[i];
    tokens.merges.push_back(merge.is_array() ? merge[0].text() + " " + merge[1].text() : merge.text());
  }
  tokens.bos = state.bos;
  tokens.eos = state.eos;
  tokens.add_bos = tokens.add_eos = false;
  return tokens;
}

}  // namespace catenary
