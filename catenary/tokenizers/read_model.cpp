// Reads the model of a tokenizer.json.

#include "catenary/tokenizers/json.h"
#include "catenary/tokenizers/model.h"

namespace catenary::tokenizers {

namespace {

/// Ids may have gaps, but limited ones, so that small files cannot allocate much memory.
std::uint64_t most_id(std::size_t tokens) { return 4 * std::uint64_t{tokens} + 65536; }

Vocabulary read_vocabulary(const Json& json) {
  Vocabulary vocabulary;
  const std::uint64_t most = most_id(json.members());
  json.each([&](const std::string& token, const nlohmann::json& value) {
    if (!value.is_number_unsigned()) json.refuse("the id of '{}' is not a non-negative integer", token.substr(0, 80));
    const auto id = value.get<std::uint64_t>();
    if (id > most)
      json.refuse("the id of '{}' is {} (at most {} is allowed for {} tokens)", token.substr(0, 80), id, most,
                  json.members());
    json.check([&] { vocabulary.add(token, static_cast<std::uint32_t>(id)); });
  });
  return vocabulary;
}

std::uint32_t read_token(const Json& json, std::string_view token, const Vocabulary& vocabulary) {
  const auto id = vocabulary.id(token);
  if (!id) json.refuse("'{}' is not in the vocabulary", token.substr(0, 80));
  return *id;
}

std::unique_ptr<Model> read_byte_pairs(const Json& json) {
  json.only({"type", "dropout", "unk_token", "continuing_subword_prefix", "end_of_word_suffix", "fuse_unk",
             "byte_fallback", "ignore_merges", "vocab", "merges"});
  if (const auto dropout = json.get("dropout"); dropout && dropout->number() != 0)
    dropout->refuse("BPE dropout is not supported");
  Vocabulary vocabulary = read_vocabulary(json.at("vocab"));
  BytePairs options;
  options.fuse_unknown = json.flag("fuse_unk", false);
  options.byte_fallback = json.flag("byte_fallback", false);
  options.ignore_merges = json.flag("ignore_merges", false);
  if (const auto unknown = json.get("unk_token")) options.unknown = read_token(*unknown, unknown->text(), vocabulary);
  if (const auto prefix = json.get("continuing_subword_prefix")) options.continuing_prefix = prefix->text();
  if (const auto suffix = json.get("end_of_word_suffix")) options.word_suffix = suffix->text();
  const Json merges = json.at("merges");
  const std::size_t count = merges.size();
  options.merges.reserve(count);
  for (std::size_t i = 0; i < count; ++i) {
    const Json merge = merges[i];
    std::string_view left, right;
    if (merge.is_array()) {
      if (merge.size() != 2) merge.refuse("expected two tokens, not {}", merge.size());
      left = merge[0].text();
      right = merge[1].text();
    } else {
      const std::string_view both = merge.text();
      if (i == 0 && both.starts_with("#version")) continue;
      const std::size_t space = both.find(' ');
      if (space == std::string_view::npos || both.find(' ', space + 1) != std::string_view::npos)
        merge.refuse("expected two tokens separated by a space, not '{}'", both.substr(0, 80));
      left = both.substr(0, space);
      right = both.substr(space + 1);
    }
    options.merges.emplace_back(read_token(merge, left, vocabulary), read_token(merge, right, vocabulary));
  }
  std::size_t at = 0;
  try {
    return make_byte_pairs(std::move(vocabulary), options, at);
  } catch (const ValueError& e) {
    merges[at].refuse("{}", e.what());
  }
}

std::unique_ptr<Model> read_unigram(const Json& json) {
  json.only({"type", "unk_id", "vocab", "byte_fallback"});
  const Json list = json.at("vocab");
  const std::size_t count = list.size();
  Vocabulary vocabulary;
  std::vector<double> scores;
  for (std::size_t i = 0; i < count; ++i) {
    const Json entry = list[i];
    if (entry.size() != 2) entry.refuse("expected a token and its score");
    vocabulary.add_again(entry[0].text(), static_cast<std::uint32_t>(i));
    scores.push_back(entry[1].number());
  }
  std::optional<std::uint32_t> unknown;
  if (const auto id = json.get("unk_id")) {
    if (count == 0) id->refuse("the vocabulary is empty");
    unknown = id->index(count - 1);
  }
  return make_unigram(std::move(vocabulary), std::move(scores), unknown, json.flag("byte_fallback", false));
}

}  // namespace

std::unique_ptr<Model> read_model(const Json& json) {
  // missing in old files
  const auto named = json.get("type");
  const std::string type = named ? named->text() : json.get("merges") ? "BPE" : "Unigram";
  if (type == "BPE") return read_byte_pairs(json);
  if (type == "Unigram") return read_unigram(json);
  named->refuse("the model '{}' is not supported", type.substr(0, 80));
}

}  // namespace catenary::tokenizers
