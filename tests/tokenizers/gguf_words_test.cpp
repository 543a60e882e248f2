// GGUF's pre-tokenizers by the name in tokenizer.ggml.pre, compared with `tokenizers`
// (tests/data/tokenizers/make_gguf_words.py).

#include <nlohmann/json.hpp>
#include <set>

#include "helpers.h"

namespace catenary::tokenizers {
namespace {

using namespace test;
using Words = std::vector<std::string>;

/// A text in GPT-2's byte characters.
std::string in_bytes(const std::string& text) {
  std::string made;
  for (const char c : text) {
    const int byte = static_cast<unsigned char>(c);
    int at = byte;
    if (byte < 33) at = 256 + byte;
    if (byte > 126 && byte < 161) at = 256 + 33 + byte - 127;
    if (byte == 173) at = 256 + 67;
    if (at < 0x80) {
      made += static_cast<char>(at);
    } else {
      made += static_cast<char>(0xc0 | at >> 6);
      made += static_cast<char>(0x80 | (at & 0x3f));
    }
  }
  return made;
}

/// The characters of a text, and of a word in byte characters.
Words characters(const std::string& text) {
  Words all;
  for (std::size_t at = 0; at < text.size();) {
    const auto lead = static_cast<unsigned char>(text[at]);
    const std::size_t bytes = lead < 0x80 ? 1 : lead < 0xe0 ? 2 : lead < 0xf0 ? 3 : 4;
    all.push_back(text.substr(at, bytes));
    at += bytes;
  }
  return all;
}

/// A tokenizer in which every part of a text is a token, for any order of merges.
Tokenizer of_all_parts(const std::string& pre, const std::string& text) {
  GgufTokens tokens;
  tokens.model = "gpt2";
  tokens.pre = pre;
  const Words all = characters(text);
  std::set<std::string> seen;
  for (std::size_t length = 1; length <= all.size(); ++length)
    for (std::size_t from = 0; from + length <= all.size(); ++from) {
      const auto part = [&](std::size_t begin, std::size_t end) {
        std::string joined;
        for (std::size_t i = begin; i < end; ++i) joined += all[i];
        return joined;
      };
      if (seen.insert(part(from, from + length)).second) tokens.tokens.push_back(part(from, from + length));
      for (std::size_t cut = 1; cut < length; ++cut)
        tokens.merges.push_back(part(from, from + cut) + " " + part(from + cut, from + length));
    }
  tokens.add_bos = false;
  return make_tokenizer(tokens);
}

Words words_of(const std::string& pre, const std::string& text, bool of_characters) {
  std::string written = in_bytes(text);
  if (of_characters) {
    written.clear();
    for (const char c : text) written += c == ' ' ? "▁" : std::string(1, c);
  }
  const Tokenizer tokenizer = of_all_parts(pre, written);
  Words words;
  for (const std::int64_t id : tokenizer.encode(text)) words.push_back(tokenizer.token(id));
  return words;
}

TEST(GgufWords, AreThoseOfTheExpressions) {
  const auto document = nlohmann::json::parse(read_text(data_path("gguf_words.json")));
  int count = 0;
  for (const auto& family : document["families"]) {
    for (const std::string pre : family["names"]) {
      ++count;
      const bool of_characters = pre == "gemma4" || pre == "granite-embed-multi-311m" || pre == "sarvam-moe";
      for (std::size_t i = 0; i < document["texts"].size(); ++i) {
        const std::string text = document["texts"][i];
        Words expected;
        for (const std::string word : family["words"][i]) {
          if (!of_characters) expected.push_back(in_bytes(word));
          if (!of_characters) continue;
          expected.emplace_back();
          for (const char c : word) expected.back() += c == ' ' ? "▁" : std::string(1, c);
        }
        EXPECT_EQ(words_of(pre, text, of_characters), expected) << pre << ": '" << text << "'";
      }
    }
  }
  EXPECT_EQ(count, 89);
}

/// A tokenizer of single characters with the given pre-tokenizer.
Tokenizer of_letters(const std::string& pre, std::optional<bool> add_bos = {}) {
  GgufTokens tokens{.model = "gpt2", .pre = pre, .tokens = {"<s>", "a", "b", "ab"}};
  tokens.token_types = {3, 1, 1, 1};
  tokens.bos = 0;
  tokens.add_bos = add_bos;
  return make_tokenizer(tokens);
}

TEST(GgufWords, WholeWordsAndBeginningsAreLlamaCpps) {
  using Ids = std::vector<std::int64_t>;
  for (const char* pre : {"llama-bpe", "llama3", "lfm2", "tekken"})
    EXPECT_EQ(of_letters(pre).encode("ab"), (Ids{0, 3}));
  for (const char* pre : {"minicpm5", "youtu", "granite-embed-multi-97m"})
    EXPECT_EQ(of_letters(pre).encode("ab"), Ids{3}) << pre;
  for (const char* pre : {"glm4", "dbrx", "deepseek-r1-qwen", "command-r", "", "default"})
    EXPECT_EQ(of_letters(pre).encode("ab"), (Ids{1, 2})) << pre;
  EXPECT_EQ(of_letters("chameleon").encode("ab"), (Ids{0, 1, 2}));
  EXPECT_EQ(of_letters("llama3", false).encode("ab"), Ids{3});
}

TEST(GgufWords, OfCharactersHaveBytesForTheRest) {
  GgufTokens tokens{.model = "gpt2", .pre = "gemma4", .tokens = {"a", "▁", "▁a", "\n", "\n\n", "<0x0A>", "<0xC3>"}};
  tokens.tokens.push_back("<0xA9>");
  tokens.merges = {"▁ a"};
  const Tokenizer gemma = make_tokenizer(tokens);
  using Ids = std::vector<std::int64_t>;
  EXPECT_EQ(gemma.encode(" a\n\na"), (Ids{2, 4, 0}));  // the token of line ends, made without merges
  EXPECT_EQ(gemma.encode("é"), (Ids{6, 7}));
  EXPECT_EQ(gemma.decode(Ids{2, 4, 0, 6, 7}), " a\n\naé");
  tokens.pre = "sarvam-moe";
  EXPECT_EQ(make_tokenizer(tokens).encode(" a\n\na"), (Ids{2, 3, 3, 0}));
  tokens.pre = "whitespace";
  EXPECT_EQ(make_tokenizer(tokens).encode(" a  a\n"), (Ids{0, 0}));
}

}  // namespace
}  // namespace catenary::tokenizers
