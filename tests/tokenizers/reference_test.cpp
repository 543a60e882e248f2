// Tokenizers of each kind beside the Python package `tokenizers` (tests/data/tokenizers/make_tokenizers.py).

#include <nlohmann/json.hpp>

#include "helpers.h"

namespace catenary::tokenizers {
namespace {

using namespace test;

constexpr const char* kNames[] = {"gpt2",          "gpt2_prefix", "llama3",   "qwen2",    "glm4",
                                  "o200k",         "han",         "llama2",   "mistral",  "unigram",
                                  "unigram_bytes", "pieces_1",    "pieces_2", "pieces_3", "metaspaces"};

class Reference : public testing::TestWithParam<const char*> {};

TEST_P(Reference, CutsAndJoinsRandomTextsAsThePackageDoes) {
  const std::string name = GetParam();
  const Tokenizer tokenizer = load_tokenizer(data_path(name + ".json"));
  static const auto cases = nlohmann::json::parse(read_text(data_path("cases.json")));
  const auto& expected = cases["results"][name];
  const auto& texts = cases["texts"];
  ASSERT_EQ(texts.size(), 100u);
  int not_as_they_were = 0;
  for (std::size_t i = 0; i < texts.size(); ++i) {
    const std::string text = texts[i];
    const auto text_of = [&](const char* key) {
      const auto& made = expected[key][i];
      not_as_they_were += !made.is_null();
      return made.is_null() ? text : made.get<std::string>();
    };
    const Ids full = expected["full"][i], plain = expected["plain"][i];
    EXPECT_EQ(tokenizer.encode(text, {.add_special = true, .parse_special = true}), full) << text;
    EXPECT_EQ(tokenizer.encode(text, {.add_special = false, .parse_special = false}), plain) << text;
    const std::string text_of_full = text_of("text_of_full"), text_of_plain = text_of("text_of_plain");
    EXPECT_EQ(tokenizer.decode(full, false), text_of_full);
    EXPECT_EQ(tokenizer.decode(plain, true), text_of_plain);
    EXPECT_EQ(streamed(tokenizer, full, false), text_of_full);
    EXPECT_EQ(streamed(tokenizer, plain, true), text_of_plain);
  }
  if (name == "unigram") {
    EXPECT_GT(not_as_they_were, 20);
  }
}

INSTANTIATE_TEST_SUITE_P(Kinds, Reference, testing::ValuesIn(kNames),
                         [](const auto& info) { return std::string(info.param); });

TEST(Tokenizer, BytesThatAreNoUtf8BecomeReplacementCharacters) {
  const Tokenizer tokenizer = load_tokenizer(data_path("gpt2.json"));
  // Python: bytes.decode("utf-8", "replace")
  const std::pair<std::string, std::string> cases[] = {
      {"a\xff", "a\ufffd"},
      {"\xe4\xbd", "\ufffd"},                                // cut
      {"\xe4\xbd \xa0", "\ufffd \ufffd"},                    // apart
      {"\xed\xa0\x80", "\ufffd\ufffd\ufffd"},                // a surrogate
      {"\xc0\x80", "\ufffd\ufffd"},                          // overlong
      {"\xf0\x80\x80\x80", "\ufffd\ufffd\ufffd\ufffd"},      // overlong
      {"\xf4\x90\x80\x80", "\ufffd\ufffd\ufffd\ufffd"},      // past the last
      {"\xf0\x9f\x98\xf0\x9f\x98\x80", "\ufffd\U0001f600"},  // one cut, one whole
      {std::string("\0\x80\0", 3), std::string("\0\ufffd\0", 5)},
  };
  for (const auto& [bytes, text] : cases) {
    EXPECT_EQ(tokenizer.encode(bytes), tokenizer.encode(text)) << text;
    EXPECT_EQ(tokenizer.decode(tokenizer.encode(bytes)), text);
  }
}

TEST(Tokenizer, DecodesBytesThatAreNoUtf8) {
  const Tokenizer tokenizer = load_tokenizer(data_path("gpt2.json"));
  const auto bytes = [&](std::initializer_list<const char*> tokens) {
    Ids ids;
    for (const char* token : tokens) ids.push_back(tokenizer.id(token).value());
    return ids;
  };
  // GPT-2's characters of the bytes F0 9F 98 80, whole and without the last
  EXPECT_EQ(tokenizer.decode(bytes({"ð", "Ł", "ĺ", "Ģ"})), "\U0001f600");
  EXPECT_EQ(tokenizer.decode(bytes({"a", "ð", "Ł", "ĺ"})), "a\ufffd");
  EXPECT_EQ(tokenizer.decode(bytes({"ð", "Ł", "a", "Ģ"})), "\ufffda\ufffd");
}

TEST(TokenStream, GivesTextAsSoonAsItIsWhole) {
  const Tokenizer tokenizer = load_tokenizer(data_path("gpt2.json"));
  TokenStream stream(tokenizer);
  const auto put = [&](const char* token) { return stream.put(tokenizer.id(token).value()); };
  EXPECT_EQ(put("a"), "a");
  EXPECT_EQ(put("<|endoftext|>"), "");
  EXPECT_EQ(put("ð"), "");
  EXPECT_EQ(put("Ł"), "");
  EXPECT_EQ(put("ĺ"), "");
  EXPECT_EQ(put("Ģ"), "\U0001f600");
  EXPECT_EQ(put("Ģ"), "\ufffd");  // begins nothing
  EXPECT_EQ(put("ð"), "");
  EXPECT_EQ(put("b"),
            "\ufffd"
            "b");
  EXPECT_EQ(put("Ċ"), "\n");
  EXPECT_EQ(put("ð"), "");
  EXPECT_EQ(stream.finish(), "\ufffd");
  EXPECT_EQ(stream.finish(), "");
  EXPECT_EQ(put("a"), "a");
  EXPECT_THROW(stream.put(100000), IndexError);
  EXPECT_THROW(stream.put(-1), IndexError);
}

TEST(TokenStream, OnlyTheFirstTokenLosesItsSpace) {
  for (const char* name : {"llama2.json", "mistral.json"}) {
    const Tokenizer tokenizer = load_tokenizer(data_path(name));
    TokenStream stream(tokenizer);
    const auto put = [&](const char* token) { return stream.put(tokenizer.id(token).value()); };
    EXPECT_EQ(put("<s>"), "");
    EXPECT_EQ(put("▁"), "");
    EXPECT_EQ(put("▁"), " ");
    EXPECT_EQ(put("<0xE4>"), "");
    EXPECT_EQ(put("<0xBD>"), "");
    EXPECT_EQ(put("<0xA0>"), "你");
    EXPECT_EQ(put("</s>"), "");
    EXPECT_EQ(put("▁a"), " a");
    EXPECT_EQ(put("▁"), " ");
    EXPECT_EQ(stream.finish(), "");
    EXPECT_EQ(put("▁a"), "a");
  }
}

TEST(Tokenizer, KnowsItsTokens) {
  const Tokenizer tokenizer = load_tokenizer(data_path("llama3.json"));
  const std::int64_t begin = tokenizer.id("<|begin_of_text|>").value();
  EXPECT_EQ(tokenizer.vocabulary_size(), 404);
  EXPECT_EQ(begin, 400);
  EXPECT_EQ(tokenizer.token(begin), "<|begin_of_text|>");
  EXPECT_TRUE(tokenizer.is_special(begin));
  EXPECT_FALSE(tokenizer.is_special(0));
  EXPECT_FALSE(tokenizer.id("no such token"));
  EXPECT_FALSE(tokenizer.bos_id());
  EXPECT_FALSE(tokenizer.eos_id());
  const auto error = message<IndexError>([&] { tokenizer.token(404); });
  EXPECT_NE(error.find("no token 404: ids are below 404"), std::string::npos) << error;
  EXPECT_THROW(tokenizer.is_special(-1), IndexError);
  const Ids ids = {1, 404};
  EXPECT_THROW(tokenizer.decode(ids), IndexError);
  EXPECT_EQ(tokenizer.decode({}), "");
  EXPECT_EQ(tokenizer.encode(""), (Ids{begin}));
  EXPECT_EQ(tokenizer.encode("", {.add_special = false}), Ids{});
}

}  // namespace
}  // namespace catenary::tokenizers
