// llama.cpp's pre-tokenizers by name: the regular expressions that split a text into words before pairs are merged.
// Most equal those of the models' tokenizer.json. Where they differ, llama.cpp's version is used.

#include "catenary/tokenizers/gguf_words.h"

#include <algorithm>
#include <initializer_list>
#include <vector>

namespace catenary::tokenizers {

namespace {

using Expressions = std::vector<std::string>;

/// A pre-tokenizer and its names.
struct Family {
  std::string_view names;  ///< separated by spaces
  Expressions (*expressions)();
  bool ignore_merges = false, add_bos = false, of_characters = false, whole_lines = false;
  enum class Digits {
    as_they_are,
    grouped,
    grouped_within
  } digits = Digits::as_they_are;  ///< applied before or after all expressions
  Behavior behavior = Behavior::isolated;
  bool invert = false;
};

bool has_name(const Family& family, std::string_view name) {
  for (std::string_view names = family.names; !names.empty();) {
    const std::size_t end = std::min(names.find(' '), names.size());
    if (names.substr(0, end) == name) return true;
    names.remove_prefix(std::min(end + 1, names.size()));
  }
  return false;
}

/// The concatenated texts.
std::string joined(std::initializer_list<std::string_view> parts) {
  std::string all;
  for (const std::string_view part : parts) all += part;
  return all;
}

constexpr const char* kContractions = "(?:'[sS]|'[tT]|'[rR][eE]|'[vV][eE]|'[mM]|'[lL][lL]|'[dD])";
constexpr const char* kSpaces = "|\\s*[\\r\\n]+|\\s+(?!\\S)|\\s+";

/// Llama 3's words, with the given expressions for numbers and spaces.
std::string modern(const std::string& numbers, const std::string& spaces = kSpaces) {
  return joined({kContractions, "|[^\\r\\n\\p{L}\\p{N}]?\\p{L}+|", numbers, "| ?[^\\s\\p{L}\\p{N}]+[\\r\\n]*", spaces});
}

/// Words that start with upper-case letters and continue with lower-case ones. `behind` may follow a word.
std::string cased(const std::string& large, const std::string& small, const std::string& behind,
                  const std::string& numbers) {
  return joined({"[^\\r\\n\\p{L}\\p{N}]?", large, "*", small, "+", behind, "|[^\\r\\n\\p{L}\\p{N}]?", large, "+", small,
                 "*", behind, "|", numbers, "| ?[^\\s\\p{L}\\p{N}]+[\\r\\n/]*", kSpaces});
}
constexpr const char* kLarge = "[\\p{Lu}\\p{Lt}\\p{Lm}\\p{Lo}\\p{M}]";
constexpr const char* kSmall = "[\\p{Ll}\\p{Lm}\\p{Lo}\\p{M}]";
// from llama.cpp: letters outside ASCII match both
constexpr const char* kNotSmall = "[\\p{L}&&[^a-z]]";
constexpr const char* kNotLarge = "[\\p{L}&&[^A-Z]]";

const std::string& maybe_contraction() {
  static const std::string text = joined({kContractions, "?"});
  return text;
}

/// Words adjacent to signs (DeepSeek 3). `after` is the expression that may follow signs.
std::string beside_signs(const std::string& after) {
  return joined(
      {"[!\"#$%&'()*+,\\-./:;<=>?@\\[\\\\\\]^_`{|}~][A-Za-z]+|[^\\r\\n\\p{L}\\p{P}\\p{S}]?[\\p{L}\\p{M}]+"
       "| ?[\\p{P}\\p{S}]+",
       after});
}

constexpr const char* kChinese = "[\u4e00-\u9fa5\u3040-\u309f\u30a0-\u30ff]+";
constexpr const char* kDeepSeekChinese = "[\u4e00-\u9fa5\u0800-\u4e00\uac00-\ud7ff]+";
constexpr const char* kBloom = " ?[^(\\s|.,!?\u2026\u3002\uff0c\u3001\u0964\u06d4\u060c)]+";
constexpr const char* kAsian =
    "[\u4e00-\u9fff\u3400-\u4dbf\uf900-\ufaff\u3040-\u309f\u30a0-\u30ff\uff65-\uff9f\u2f00-\u2fdf\u0e40-\u0e7f"
    "\u0e80-\u0eff\u1780-\u17ff\u1000-\u109f\uaa60-\uaa7f\ua9e0-\ua9ff\uac00-\ud7af\u1100-\u11ff]+";
/// Letters with a lower-case and an upper-case form, as DeepSeek's tokenizer lists them.
constexpr const char* kCasedLetters =
    "A-Za-z\u00b5\u00c0-\u00d6\u00d8-\u00f6\u00f8-\u01ba\u01bc-\u01bf\u01c4-\u0293\u0295-\u02af\u0370-"
    "\u0373\u0376\u0377\u037b-\u037d\u037f\u0386\u0388-\u038a\u038c\u038e-\u03a1\u03a3-\u03f5\u03f7-"
    "\u0481\u048a-\u052f\u0531-\u0556\u10a0-\u10c5\u13a0-\u13f5\u13f8-\u13fd\u1c90-\u1cba\u1cbd-\u1cbf"
    "\u1d00-\u1d2b\u1d6b-\u1d77\u1d79-\u1d9a\u1e00-\u1f15\u1f18-\u1f1d\u1f20-\u1f45\u1f48-\u1f4d\u1f50-"
    "\u1f57\u1f59\u1f5b\u1f5d\u1f5f-\u1f7d\u1f80-\u1fb4\u1fb6-\u1fbc\u1fbe\u1fc2-\u1fc4\u1fc6-\u1fcc"
    "\u1fd0-\u1fd3\u1fd6-\u1fdb\u1fe0-\u1fec\u1ff2-\u1ff4\u1ff6-\u1ffc\u2102\u2107\u210a-\u2113\u2115"
    "\u2119-\u211d\u2124\u2126\u2128\u212a-\u212d\u212f-\u2134\u2139\u213c-\u213f\u2145-\u2149\u214e"
    "\u2183\u2184\u2c00-\u2c7b\u2c7e-\u2ce4\u2ceb-\u2cee\u2cf2\u2cf3\ua640-\ua66d\ua680-\ua69b\ua722-"
    "\ua76f\ua771-\ua787\ua78b-\ua78e\uab70-\uabbf\ufb00-\ufb06\ufb13-\ufb17\uff21-\uff3a\uff41-\uff5a"
    "\U00010400-\U0001044f\U000104b0-\U000104d3\U000104d8-\U000104fb\U00010c80-\U00010cb2\U00010cc0-"
    "\U00010cf2\U000118a0-\U000118df\U0001e900-\U0001e943";

Expressions with_digits_apart() { return {"\\p{N}", kWordsOfGpt2}; }

Expressions deepseek() {
  return {"[\\r\\n]",
          joined({"\\s?[", kCasedLetters, "]+"}),
          "\\s?[!-/:-~\uff01-\uff0f\uff1a-\uff5e\u2018-\u201f\u3000-\u3002]+",
          "\\s+(?![\\s\\S])",
          kDeepSeekChinese,
          "\\p{N}+"};
}

/// Kimi K2's words, where runs of Han characters are separate words.
Expressions kimi() {
  constexpr const char* large = "[\\p{Lu}\\p{Lt}\\p{Lm}\\p{Lo}\\p{M}&&[^\\p{Han}]]";
  constexpr const char* small = "[\\p{Ll}\\p{Lm}\\p{Lo}\\p{M}&&[^\\p{Han}]]";
  const std::string& behind = maybe_contraction();
  return {joined({"[\\p{Han}]+|[^\\r\\n\\p{L}\\p{N}]?", large, "*", small, "+", behind, "|[^\\r\\n\\p{L}\\p{N}]?",
                  large, "+", small, "*", behind, "|\\p{N}{1,3}| ?[^\\s\\p{L}\\p{N}]+[\\r\\n]*", kSpaces})};
}

Expressions youtu() {
  return {joined({"[\uac00-\ud7a3\u3131-\u318e]+|[\uff01\u2026\u201c\u201d\u2018\u2019\u2014\uff1a\uff1b\uff0c"
                  "\u3001-\u303f\ufe30-\ufe4f]+|[\u3105-\u312f]+|",
                  kChinese}),
          cased(kLarge, kSmall, maybe_contraction(), "\\p{N}")};
}

Expressions chameleon() {
  return {"<sentinel:[0-9]+>",      "IMGIMG[A-I]{1,4}Z", "[\\t\\n]|    |  ", "\\p{N}",
          "[\\p{P}!-/:-@\\[-`{-~]", kWordsOfGpt2};
}

using Digits = Family::Digits;
constexpr Family kFamilies[] = {
    {.names = "default",
     .expressions =
         [] {
           return Expressions{"[\\p{P}\\$\\+<=>\\^~\\|]+", kWordsOfGpt2, "\\p{N}+", "[0-9][0-9][0-9]"};
         }},
    {.names = "llama-bpe llama3 llama-v3 falcon3 falcon-h1 pixtral midm-2.0 lfm2 jina-v5-nano",
     .expressions = [] { return Expressions{modern("\\p{N}{1,3}")}; },
     .ignore_merges = true,
     .add_bos = true},
    {.names = "chatglm-bpe glm4 dbrx smaug-bpe", .expressions = [] { return Expressions{modern("\\p{N}{1,3}")}; }},
    {.names = "gpt-2 phi-2 jina-es jina-de jina-v2-es jina-v2-de jina-v1-en jina-v2-code roberta-bpe gigachat a.x-4.0 "
              "mellum modern-bert mpt olmo jais trillion granite-docling exaone4",
     .expressions = [] { return Expressions{kWordsOfGpt2}; }},
    {.names = "qwen2 deepseek-r1-qwen kormo f2llmv2 megrez stablelm2 hunyuan solar-open grok-2",
     .expressions = [] { return Expressions{modern("\\p{N}")}; }},
    {.names = "starcoder refact command-r smollm codeshell exaone minerva-7b mellum2",
     .expressions = with_digits_apart},
    {.names = "falcon",
     .expressions =
         [] {
           return Expressions{"[\\p{P}\\$\\+<=>\\^~\\|`]+", kWordsOfGpt2, "[0-9][0-9][0-9]"};
         }},
    {.names = "deepseek-llm", .expressions = deepseek},
    {.names = "deepseek-coder",
     .expressions =
         [] {
           return Expressions{"[\\r\\n]", "\\s?\\p{L}+", "\\s?\\p{P}+", kDeepSeekChinese, "\\p{N}"};
         }},
    {.names = "deepseek-v3 hunyuan-dense joyai-llm hy_v4",
     .expressions =
         [] {
           return Expressions{"\\p{N}{1,3}", kChinese, beside_signs(joined({"[\\r\\n]*", kSpaces}))};
         }},
    {.names = "spark2_5",
     .expressions =
         [] {
           return Expressions{"\\p{N}{1,3}", kChinese, beside_signs("|[\\r\\n]|\\s+(?!\\S)|\\s+"), "\\p{N}"};
         }},
    {.names = "bloom poro-chat gpt3-finnish", .expressions = [] { return Expressions{kBloom}; }},
    {.names = "viking",
     .expressions =
         [] {
           return Expressions{kBloom, "\\p{N}"};
         }},
    {.names = "tekken",
     .expressions = [] { return Expressions{cased(kNotSmall, kNotLarge, "", "\\p{N}")}; },
     .ignore_merges = true,
     .add_bos = true},
    {.names = "gpt-4o llama4 kanana2 talkie minimax-m2",
     .expressions = [] { return Expressions{cased(kNotSmall, kNotLarge, maybe_contraction(), "\\p{N}{1,3}")}; }},
    {.names = "granite-embed-multi-97m",
     .expressions =
         [] {
           return Expressions{
               cased("[\\p{L}\\p{M}&&[^a-z]]", "[\\p{L}\\p{M}&&[^A-Z]]", maybe_contraction(), "\\p{N}{1,3}")};
         },
     .ignore_merges = true},
    {.names = "tiny_aya cohere2moe",
     .expressions = [] { return Expressions{cased(kLarge, kSmall, maybe_contraction(), "\\p{N}{1,3}")}; },
     .digits = Digits::grouped},
    {.names = "youtu", .expressions = youtu, .ignore_merges = true},
    {.names = "kimi-k2", .expressions = kimi},
    {.names = "chameleon", .expressions = chameleon, .add_bos = true},
    {.names = "qwen35",
     .expressions =
         [] {
           return Expressions{
               joined({kContractions,
                       "|[^\\r\\n\\p{L}\\p{N}]?[\\p{L}\\p{M}]+|\\p{N}| ?[^\\s\\p{L}\\p{M}\\p{N}]+[\\r\\n]*", kSpaces})};
         }},
    {.names = "jais-2",
     .expressions =
         [] {
           std::string spaces = "|\\s*[\\r\\n]+";
           for (const char* count : {"512", "256", "128", "64", "32", "16", "8", "4", "1,2"})
             spaces += joined({"|\\s{", count, "}(?!\\S)"});
           return Expressions{modern("\\p{N}{1,3}", joined({spaces, "|\\s"}))};
         }},
    {.names = "superbpe", .expressions = [] { return Expressions{"\\p{N}+"}; }, .digits = Digits::grouped_within},
    {.names = "afmoe",
     .expressions =
         [] {
           return Expressions{kAsian, beside_signs(joined({"[\\r\\n]*", kSpaces}))};
         },
     .digits = Digits::grouped},
    {.names = "bailingmoe bailingmoe2 llada-moe",
     .expressions =
         [] {
           return Expressions{
               "'(?:[sSdDmMtT]|[lL][lL]|[vV][eE]|[rR][eE])|[^\\r\\n\\p{L}\\p{N}]?\\p{L}+|\\p{N}"
               "| ?[^\\s\\p{L}\\p{N}]+[\\r\\n]*|\\s*[\\r\\n]|\\s+(?!\\S)|\\s+"};
         }},
    {.names = "seed-coder",
     .expressions =
         [] {
           return Expressions{
               joined({kContractions, "|[^\\r\\n\\p{L}\\p{N}]?\\p{L}+|\\p{N}| ?[^\\s\\p{L}\\p{N}\\r\\n]+", kSpaces})};
         }},
    {.names = "ufakzeka",
     .expressions =
         [] {
           return Expressions{joined({"[^\\r\\n\\p{L}\\p{N}]?\\p{L}+|\\p{N}| ?[^\\s\\p{L}\\p{N}]+[\\r\\n]*", kSpaces})};
         }},
    {.names = "laguna",
     .expressions =
         [] {
           return Expressions{"[^\\n]+|[\\n]+", modern("\\p{N}")};
         }},
    {.names = "exaone-moe",
     .expressions =
         [] {
           return Expressions{joined({kContractions,
                                      "|[^\\r\\n\\p{L}\\p{N}]?(?:\\p{L}\\p{M}*(?: \\p{L}\\p{M}*)*)+|\\p{N}"
                                      "| ?[^\\s\\p{L}\\p{N}]+[\\r\\n/]?|\\s*[\\r\\n]|\\s+(?!\\S)|\\s+"})};
         }},
    {.names = "minicpm5",
     .expressions =
         [] {
           return Expressions{"\\p{N}{1,3}", modern("\\p{N}+")};
         },
     .ignore_merges = true},
    {.names = "gemma4 granite-embed-multi-311m",
     .expressions = [] { return Expressions{"[^\\n]+|[\\n]+"}; },
     .of_characters = true,
     .whole_lines = true},
    {.names = "sarvam-moe", .expressions = [] { return Expressions{"[^\\n]+|[\\n]+"}; }, .of_characters = true},
    {.names = "whitespace",
     .expressions = [] { return Expressions{"\\S+"}; },
     .of_characters = true,
     .behavior = Behavior::removed,
     .invert = true},
};

/// Returns null for unknown names.
const Family* family_of(std::string_view name) {
  if (name.empty()) name = "default";
  const auto* const family = std::ranges::find_if(kFamilies, [&](const Family& f) { return has_name(f, name); });
  return family == std::end(kFamilies) ? nullptr : family;
}

}  // namespace

std::optional<std::vector<std::string>> gguf_expressions(std::string_view name) {
  const Family* const family = family_of(name);
  if (!family || family->digits != Family::Digits::as_they_are || family->of_characters) return std::nullopt;
  return family->expressions();
}

std::unique_ptr<GgufWords> gguf_words(std::string_view name) {
  const Family* const family = family_of(name);
  if (!family) return nullptr;
  std::vector<std::unique_ptr<PreTokenizer>> steps;
  if (family->digits == Family::Digits::grouped) steps.push_back(make_digit_groups(false));
  for (const std::string& expression : family->expressions())
    steps.push_back(make_split(Pattern(Regex::oniguruma(expression)), family->behavior, family->invert));
  if (family->digits == Family::Digits::grouped_within) steps.push_back(make_digit_groups(true));
  if (!family->of_characters) steps.push_back(make_byte_level(false, false));
  return std::make_unique<GgufWords>(GgufWords{.words = make_sequence(std::move(steps)),
                                               .ignore_merges = family->ignore_merges,
                                               .add_bos = family->add_bos,
                                               .of_characters = family->of_characters,
                                               .marks_spaces = family->of_characters && !family->invert,
                                               .whole_lines = family->whole_lines});
}

std::string gguf_words_names() {
  std::string names;
  for (const Family& family : kFamilies) names += joined({names.empty() ? "" : " ", family.names});
  for (std::size_t at = 0; (at = names.find(' ', at)) != std::string::npos; at += 2) names.replace(at, 1, ", ");
  return names;
}

}  // namespace catenary::tokenizers
