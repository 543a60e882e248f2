// Writes tokenizer.json as it was read or from the tokens of a GGUF file, and tokenizer_config.json.

#include <algorithm>
#include <unordered_map>

#include "catenary/core/os/file.h"
#include "catenary/tokenizers/gguf_words.h"
#include "catenary/tokenizers/json.h"
#include "catenary/tokenizers/pipeline.h"
#include "catenary/tokenizers/utf8.h"

namespace catenary {

namespace tokenizers {

namespace {

using Document = nlohmann::ordered_json;

/// Writes the tokens of a GGUF file as tokenizer.json.
class GgufDocument {
 public:
  GgufDocument(const GgufTokens& tokens, const std::string& name) : tokens_(tokens), name_(name) {
    for (std::size_t i = 0; i < tokens.tokens.size(); ++i)
      if (!ids_.emplace(tokens.tokens[i], i).second)
        refuse(fmt::format("the token '{}' has two ids", tokens.tokens[i].substr(0, 80)));
  }

  std::string text() const {
    const bool scored = tokens_.model == "llama";
    Document document = {{"version", "1.0"}, {"truncation", nullptr}, {"padding", nullptr}, {"added_tokens", added()}};
    document["normalizer"] = scored ? normalizer() : Document();
    document["pre_tokenizer"] = scored ? Document() : words();
    document["post_processor"] = around(scored || gguf_words(tokens_.pre)->add_bos);
    document["decoder"] = scored ? decoder() : byte_level(true);
    document["model"] = model(scored ? merges_by_score() : merges(), scored);
    return document.dump(1) + "\n";
  }

 private:
  [[noreturn]] void refuse(const std::string& why) const {
    fail<ValueError>("Tokenizer::save: {}: {}, which tokenizer.json cannot store", name_, why);
  }

  static Document byte_level(bool use_regex) {
    return {{"type", "ByteLevel"}, {"add_prefix_space", false}, {"trim_offsets", true}, {"use_regex", use_regex}};
  }

  Document added() const {
    constexpr std::int32_t kUnknown = 2, kControl = 3, kUsers = 4;
    Document list = Document::array();
    for (std::size_t id = 0; id < tokens_.token_types.size(); ++id) {
      const std::int32_t type = tokens_.token_types[id];
      if ((type != kUnknown && type != kControl && type != kUsers) || tokens_.tokens[id].empty()) continue;
      list.push_back({{"id", id},
                      {"content", tokens_.tokens[id]},
                      {"single_word", false},
                      {"lstrip", false},
                      {"rstrip", false},
                      {"normalized", false},
                      {"special", type != kUsers}});
    }
    return list;
  }

  bool has_prefix() const { return tokens_.add_space_prefix.value_or(true); }

  Document normalizer() const {
    Document steps = Document::array();
    if (has_prefix()) steps.push_back({{"type", "Prepend"}, {"prepend", kSpaceMark}});
    steps.push_back({{"type", "Replace"}, {"pattern", {{"String", " "}}}, {"content", kSpaceMark}});
    return {{"type", "Sequence"}, {"normalizers", std::move(steps)}};
  }

  Document decoder() const {
    Document steps = {{{"type", "Replace"}, {"pattern", {{"String", kSpaceMark}}}, {"content", " "}},
                      {{"type", "ByteFallback"}},
                      {{"type", "Fuse"}}};
    if (has_prefix()) steps.push_back({{"type", "Strip"}, {"content", " "}, {"start", 1}, {"stop", 0}});
    return {{"type", "Sequence"}, {"decoders", std::move(steps)}};
  }

  Document words() const {
    const auto expressions = gguf_expressions(tokens_.pre);
    if (!expressions) refuse(fmt::format("its words are those of tokenizer.ggml.pre = '{}'", tokens_.pre));
    if (*expressions == std::vector<std::string>{kWordsOfGpt2}) return byte_level(true);
    Document steps = Document::array();
    for (const std::string& expression : *expressions)
      steps.push_back(
          {{"type", "Split"}, {"pattern", {{"Regex", expression}}}, {"behavior", "Isolated"}, {"invert", false}});
    steps.push_back(byte_level(false));
    return {{"type", "Sequence"}, {"pretokenizers", std::move(steps)}};
  }

  Document around(bool add_bos) const {
    Document single = Document::array(), pair = Document::array(), special = Document::object();
    const auto put = [&](const std::optional<std::int64_t>& id, bool adds) {
      if (!adds) return;
      const std::string& token = tokens_.tokens[static_cast<std::size_t>(id.value())];
      single.push_back({{"SpecialToken", {{"id", token}, {"type_id", 0}}}});
      special[token] = {{"id", token}, {"ids", {*id}}, {"tokens", {token}}};
    };
    put(tokens_.bos, tokens_.add_bos.value_or(add_bos));
    single.push_back({{"Sequence", {{"id", "A"}, {"type_id", 0}}}});
    put(tokens_.eos, tokens_.add_eos.value_or(false));
    if (single.size() == 1) return nullptr;
    pair = single;
    for (Document part : single) {
      part.front()["type_id"] = 1;
      if (part.contains("Sequence")) part["Sequence"]["id"] = "B";
      pair.push_back(std::move(part));
    }
    return {{"type", "TemplateProcessing"}, {"single", single}, {"pair", pair}, {"special_tokens", special}};
  }

  Document merges() const {
    Document list = Document::array();
    for (const std::string& both : tokens_.merges) {
      const std::size_t space = both.find(' ', 1);
      list.push_back({both.substr(0, space), both.substr(space + 1)});
    }
    return list;
  }

  /// Lists every pair of tokens that joins to a token, the highest score first, as transformers' converter does.
  Document merges_by_score() const {
    std::vector<std::size_t> order(tokens_.tokens.size());
    for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
    std::ranges::stable_sort(order,
                             [&](std::size_t a, std::size_t b) { return tokens_.scores[a] > tokens_.scores[b]; });
    Document list = Document::array();
    for (const std::size_t id : order) {
      const std::string& whole = tokens_.tokens[id];
      for (std::size_t at = 1; at < whole.size(); ++at) {
        if ((static_cast<unsigned char>(whole[at]) & 0xC0U) == 0x80U) continue;  // inside a character
        const std::string left = whole.substr(0, at), right = whole.substr(at);
        if (ids_.contains(left) && ids_.contains(right)) list.push_back({left, right});
      }
    }
    return list;
  }

  Document model(Document merges, bool scored) const {
    Document vocabulary = Document::object();
    for (std::size_t i = 0; i < tokens_.tokens.size(); ++i) vocabulary[tokens_.tokens[i]] = i;
    Document unknown;
    if (tokens_.unknown) unknown = tokens_.tokens[static_cast<std::size_t>(*tokens_.unknown)];
    return {{"type", "BPE"},
            {"dropout", nullptr},
            {"unk_token", unknown},
            {"continuing_subword_prefix", nullptr},
            {"end_of_word_suffix", nullptr},
            {"fuse_unk", false},
            {"byte_fallback", scored},
            {"ignore_merges", !scored && gguf_words(tokens_.pre)->ignore_merges},
            {"vocab", std::move(vocabulary)},
            {"merges", std::move(merges)}};
  }

  const GgufTokens& tokens_;
  const std::string& name_;
  std::unordered_map<std::string, std::size_t> ids_;
};

}  // namespace

}  // namespace tokenizers

void Tokenizer::save(const std::string& path) const {
  if (state_->json.empty() && !state_->gguf)
    fail<ValueError>("Tokenizer::save: {}: {} was not read from a tokenizer.json, so there is no such file to write",
                     path, state_->name);
  const std::string text = state_->gguf ? tokenizers::GgufDocument(*state_->gguf, state_->name).text() : state_->json;
  const bool folder = !path.ends_with(".json");
  if (folder) os::make_directories(path);
  os::AtomicFile file(folder ? path + "/tokenizer.json" : path);
  file.write(text);
  file.commit();
  if (!folder) return;
  nlohmann::ordered_json config = nlohmann::ordered_json::object();
  if (state_->gguf) config["tokenizer_class"] = "PreTrainedTokenizerFast";  // transformers uses the file as it is
  if (state_->bos) config["bos_token"] = token(*state_->bos);
  if (state_->eos) config["eos_token"] = token(*state_->eos);
  if (!state_->chat_template.empty()) config["chat_template"] = state_->chat_template;
  os::AtomicFile beside(path + "/tokenizer_config.json");
  beside.write(config.dump(1) + "\n");
  beside.commit();
}

}  // namespace catenary
