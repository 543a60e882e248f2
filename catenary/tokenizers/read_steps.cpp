// Reads the steps of a tokenizer.json before and after its model.

#include "catenary/tokenizers/json.h"
#include "catenary/tokenizers/pipeline.h"

namespace catenary::tokenizers {

namespace {

constexpr int kDeepest = 16;

void check_depth(const Json& json, int depth) {
  if (depth > kDeepest) json.refuse("more than {} nested steps", kDeepest);
}

[[noreturn]] void unknown_type(const Json& json, const char* what, const std::string& type) {
  json.at("type").refuse("the {} '{}' is not supported", what, type.substr(0, 80));
}

/// {"String": "…"} or {"Regex": "…"}
Pattern read_pattern(const Json& json) {
  json.only({"String", "Regex"});
  const auto text = json.get("String"), regex = json.get("Regex");
  if (!text == !regex) json.refuse("expected either 'String' or 'Regex'");
  if (regex) return regex->check([&] { return Pattern(Regex::oniguruma(regex->text())); });
  if (text->text().empty()) text->refuse("the pattern is empty");
  return Pattern(text->text());
}

Behavior read_behavior(const Json& json) {
  const std::string& name = json.text();
  if (name == "Removed") return Behavior::removed;
  if (name == "Isolated") return Behavior::isolated;
  if (name == "MergedWithPrevious") return Behavior::merged_with_previous;
  if (name == "MergedWithNext") return Behavior::merged_with_next;
  if (name == "Contiguous") return Behavior::contiguous;
  json.refuse("unknown behavior '{}'", name.substr(0, 80));
}

std::string read_character(const Json& json) {
  const std::string& text = json.text();
  if (text.empty() || text.size() != bytes_of_char(text[0]))
    json.refuse("expected one character, not '{}'", text.substr(0, 80));
  return text;
}

Prepend read_prepend(const Json& json) {
  Prepend prepend = Prepend::always;
  if (const auto scheme = json.get("prepend_scheme")) {
    const std::string& name = scheme->text();
    if (name == "first") {
      prepend = Prepend::first;
    } else if (name == "never") {
      prepend = Prepend::never;
    } else if (name != "always") {
      scheme->refuse("unknown value '{}'; expected first, never or always", name.substr(0, 80));
    }
  }
  const auto space = json.get("add_prefix_space");  // an older form of prepend_scheme
  if (!space || space->flag()) return prepend;
  if (json.get("prepend_scheme") && prepend != Prepend::never) space->refuse("it contradicts prepend_scheme");
  return Prepend::never;
}

void only_metaspace(const Json& json) {
  json.only({"type", "replacement", "add_prefix_space", "prepend_scheme", "split", "str_rep"});
}

void only_byte_level(const Json& json) { json.only({"type", "add_prefix_space", "trim_offsets", "use_regex"}); }

}  // namespace

std::unique_ptr<Normalizer> read_normalizer(const Json& json, int depth) {
  check_depth(json, depth);
  const std::string& type = json.at("type").text();
  constexpr std::pair<const char*, Form> kForms[] = {
      {"NFC", Form::nfc}, {"NFD", Form::nfd}, {"NFKC", Form::nfkc}, {"NFKD", Form::nfkd}};
  for (const auto& [name, form] : kForms) {
    if (type != name) continue;
    json.only({"type"});
    return make_form(form);
  }
  if (type == "Lowercase") {
    json.only({"type"});
    return make_lowercase();
  }
  if (type == "Prepend") {
    json.only({"type", "prepend"});
    return make_prepend(json.at("prepend").text());
  }
  if (type == "Replace") {
    json.only({"type", "pattern", "content"});
    return make_replace(read_pattern(json.at("pattern")), json.at("content").text());
  }
  if (type == "Strip") {
    json.only({"type", "strip_left", "strip_right"});
    return make_strip(json.at("strip_left").flag(), json.at("strip_right").flag());
  }
  if (type == "Precompiled") {
    json.only({"type", "precompiled_charsmap"});
    const Json table = json.at("precompiled_charsmap");
    return table.check([&] { return make_charsmap(table.text()); });
  }
  if (type != "Sequence") unknown_type(json, "normalizer", type);
  json.only({"type", "normalizers"});
  const Json list = json.at("normalizers");
  std::vector<std::unique_ptr<Normalizer>> steps;
  for (std::size_t i = 0; i < list.size(); ++i) steps.push_back(read_normalizer(list[i], depth + 1));
  return make_sequence(std::move(steps));
}

std::unique_ptr<PreTokenizer> read_pre_tokenizer(const Json& json, int depth) {
  check_depth(json, depth);
  const std::string& type = json.at("type").text();
  if (type == "ByteLevel") {
    only_byte_level(json);
    return make_byte_level(json.at("add_prefix_space").flag(), json.flag("use_regex", true));
  }
  if (type == "Split") {
    json.only({"type", "pattern", "behavior", "invert"});
    return make_split(read_pattern(json.at("pattern")), read_behavior(json.at("behavior")), json.at("invert").flag());
  }
  if (type == "Metaspace") {
    only_metaspace(json);
    return make_metaspace(read_character(json.at("replacement")), read_prepend(json), json.flag("split", true));
  }
  if (type == "Whitespace") {
    json.only({"type"});
    const std::string word = word_characters();
    return make_split(Pattern(Regex("[" + word + "]+|[^" + word + space_characters() + "]+")), Behavior::removed, true);
  }
  if (type == "WhitespaceSplit") {
    json.only({"type"});
    return make_split(Pattern(Regex::oniguruma("\\s")), Behavior::removed, false);
  }
  if (type == "Digits") {
    json.only({"type", "individual_digits"});
    const bool individual = json.at("individual_digits").flag();
    return make_split(Pattern(Regex(digit_class())), individual ? Behavior::isolated : Behavior::contiguous, false);
  }
  if (type == "Punctuation") {
    json.only({"type", "behavior"});
    const auto behavior = json.get("behavior");
    return make_split(Pattern(Regex(punctuation_class())), behavior ? read_behavior(*behavior) : Behavior::isolated,
                      false);
  }
  if (type != "Sequence") unknown_type(json, "pre-tokenizer", type);
  json.only({"type", "pretokenizers"});
  const Json list = json.at("pretokenizers");
  std::vector<std::unique_ptr<PreTokenizer>> steps;
  for (std::size_t i = 0; i < list.size(); ++i) steps.push_back(read_pre_tokenizer(list[i], depth + 1));
  return make_sequence(std::move(steps));
}

void read_decoder(const Json& json, std::vector<std::unique_ptr<Decoder>>& decoders, int depth) {
  check_depth(json, depth);
  const std::string& type = json.at("type").text();
  if (type == "ByteLevel") {
    only_byte_level(json);
    decoders.push_back(make_byte_decoder());
  } else if (type == "Metaspace") {
    only_metaspace(json);
    decoders.push_back(make_metaspace_decoder(read_character(json.at("replacement")), read_prepend(json)));
  } else if (type == "ByteFallback") {
    json.only({"type"});
    decoders.push_back(make_fallback_decoder());
  } else if (type == "Fuse") {
    json.only({"type"});
    decoders.push_back(make_fuse_decoder());
  } else if (type == "Replace") {
    json.only({"type", "pattern", "content"});
    decoders.push_back(make_replace_decoder(read_pattern(json.at("pattern")), json.at("content").text()));
  } else if (type == "Strip") {
    json.only({"type", "content", "start", "stop"});
    decoders.push_back(make_strip_decoder(read_character(json.at("content")), json.at("start").index(UINT32_MAX),
                                          json.at("stop").index(UINT32_MAX)));
  } else if (type == "Sequence") {
    json.only({"type", "decoders"});
    const Json list = json.at("decoders");
    for (std::size_t i = 0; i < list.size(); ++i) read_decoder(list[i], decoders, depth + 1);
  } else {
    unknown_type(json, "decoder", type);
  }
}

void read_post_processor(const Json& json, std::vector<std::vector<TemplatePart>>& templates, int depth) {
  check_depth(json, depth);
  const std::string& type = json.at("type").text();
  if (type == "ByteLevel") {
    only_byte_level(json);  // only sets the offsets of tokens, which Catenary does not return
    return;
  }
  if (type == "Sequence") {
    json.only({"type", "processors"});
    const Json list = json.at("processors");
    for (std::size_t i = 0; i < list.size(); ++i) read_post_processor(list[i], templates, depth + 1);
    return;
  }
  if (type != "TemplateProcessing") unknown_type(json, "post-processor", type);
  json.only({"type", "single", "pair", "special_tokens"});
  const Json single = json.at("single");
  std::vector<TemplatePart> parts;
  for (std::size_t i = 0; i < single.size(); ++i) {
    const Json piece = single[i];
    piece.only({"Sequence", "SpecialToken"});
    const auto sequence = piece.get("Sequence"), special = piece.get("SpecialToken");
    if (!sequence == !special) piece.refuse("expected either 'Sequence' or 'SpecialToken'");
    if (sequence) {
      if (sequence->at("id").text() != "A") sequence->at("id").refuse("the sequence of a single text must be 'A'");
      parts.push_back({true});
      continue;
    }
    const Json name = special->at("id");
    const auto token = json.at("special_tokens").get(name.text().c_str());
    if (!token) name.refuse("'{}' is not among special_tokens", name.text().substr(0, 80));
    const Json ids = token->at("ids");
    parts.push_back({});
    for (std::size_t k = 0; k < ids.size(); ++k) parts.back().ids.push_back(ids[k].index(INT32_MAX));
  }
  templates.push_back(std::move(parts));
}

}  // namespace catenary::tokenizers
