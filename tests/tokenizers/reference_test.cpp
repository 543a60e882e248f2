// Tokenizers of each kind compared with the Python package `tokenizers` (tests/data/tokenizers/make_tokenizers.py).

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
  const std::vector<tests::CutText> texts = tests::cut_texts(cases, name);
  ASSERT_EQ(texts.size(), 100u);
  int not_as_they_were = 0;
  for (const tests::CutText& text : texts) {
    EXPECT_EQ(tests::differences(tokenizer, text), "") << text.text;
    not_as_they_were += (text.text_of_full != text.text) + (text.text_of_plain != text.text);
  }
  if (name == "unigram") {
    EXPECT_GT(not_as_they_were, 20);
  }
}

INSTANTIATE_TEST_SUITE_P(Kinds, Reference, testing::ValuesIn(kNames),
                         [](const auto& info) { return std::string(info.param); });

/// gpt2.json with a normalizer. Its 256 bytes preserve every text, so decode returns the normalized text.
Tokenizer normalizing(const std::string& normalizer) {
  std::string json = read_text(data_path("gpt2.json"));
  const std::string none = "\"normalizer\":null";
  json.replace(json.find(none), none.size(), "\"normalizer\":" + normalizer);
  return parse_tokenizer(json, "file");
}

TEST(Normalizers, ATableOfSentencePiece) {
  const auto cases = nlohmann::json::parse(read_text(data_path("charsmap.json")));
  const std::string table = cases["precompiled_charsmap"];
  const auto with = [](const std::string& t) {
    return normalizing(R"({"type":"Precompiled","precompiled_charsmap":")" + t + "\"}");
  };
  const Tokenizer tokenizer = with(table);
  int changed = 0;
  for (std::size_t i = 0; i < cases["texts"].size(); ++i) {
    const std::string text = cases["texts"][i], expected = cases["normalized"][i];
    EXPECT_EQ(tokenizer.decode(tokenizer.encode(text)), expected) << text;
    changed += text != expected;
  }
  EXPECT_GT(changed, 100);
  EXPECT_NE(message<FileError>([&] { with("A*"); }).find("precompiled_charsmap: this is not base64"),
            std::string::npos);
  EXPECT_NE(message<FileError>([&] { with(""); }).find("a table of 0 bytes says that its trie has 0"),
            std::string::npos);
  EXPECT_NE(message<FileError>([&] { with("AQAAAAAA"); }).find("a table of 6 bytes says that its trie has 1"),
            std::string::npos);
  // any damage gives valid text or an error
  for (std::size_t i = 0; i + 1 < table.size(); i += 3) {
    std::string damaged = table;
    damaged[i] = damaged[i] == 'x' ? 'y' : 'x';
    message<FileError>([&] {
      const Tokenizer t = with(damaged);
      for (std::size_t k = 0; k < 20; ++k) t.encode(cases["texts"][k].get<std::string>());
    });
  }
}

TEST(Normalizers, AreThoseOfThePackagesUnicode) {
  const auto made = [](const std::string& form, const std::string& text) {
    const Tokenizer tokenizer = normalizing("{\"type\":\"" + form + "\"}");
    return tokenizer.decode(tokenizer.encode(text));
  };
  EXPECT_EQ(made("NFC", "e\u0301\u0323"), "\u1eb9\u0301");
  EXPECT_EQ(made("NFD", "\u1eb9\u0301가"), "e\u0323\u0301\u1100\u1161");
  EXPECT_EQ(made("NFKC", "\ufb01\u2460\u3000"), "fi1 ");
  EXPECT_EQ(made("NFKD", "\ufb01\u00e9"), "fie\u0301");
  // characters newer than its tables are copied: not decomposed (U+32FF), composed (U+11935 U+11930) or reordered
  // (U+1ACE)
  EXPECT_EQ(made("NFKC", "\u32ff"), "\u32ff");
  EXPECT_EQ(made("NFC", "\U00011935\U00011930"), "\U00011935\U00011930");
  EXPECT_EQ(made("NFC", "a\u1ace\u0323"), "a\u1ace\u0323");
  EXPECT_EQ(made("Lowercase", "ÀİΣ\U00010d50ẞ"), "ài\u0307σ\U00010d70ß");
}

TEST(Unigram, TiesAndUnknownCharacters) {
  const auto cut = [](const std::string& vocabulary, const std::string& text) {
    return parse_tokenizer(document(R"({"type":"Unigram","unk_id":0,"vocab":)" + vocabulary + "}"), "file")
        .encode(text);
  };
  // of equal sums, the split whose last token begins first
  EXPECT_EQ(cut(R"([["?",0],["a",-1],["b",-1],["ab",-2]])", "ab"), (Ids{3}));
  EXPECT_EQ(cut(R"([["?",0],["xy",-1],["yz",-0.5]])", "xyz"), (Ids{0, 2}));
  EXPECT_EQ(cut(R"([["?",0],["xy",-0.5],["yz",-1]])", "xyz"), (Ids{1, 0}));
  EXPECT_EQ(cut(R"([["?",0],["a",-1]])", "éüa世"), (Ids{0, 1, 0}));
}

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
      {"\xf0\x9f\x98\xf0\x9f\x98\x80", "\ufffd\U0001f600"},  // one incomplete, one complete
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
  // GPT-2's characters for the bytes F0 9F 98 80, complete and without the last
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
  EXPECT_EQ(put("Ģ"), "\ufffd");  // cannot begin a character
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

TEST(TokenStream, ATokenOfNothingDoesNotMakeTheNextTheFirst) {
  const Tokenizer tokenizer = parse_tokenizer(
      document(
          kSmallModel,
          R"(,"decoder":{"type":"Sequence","decoders":[{"type":"Replace","pattern":{"String":"x"},"content":""},{"type":"Fuse"},{"type":"Strip","content":" ","start":1,"stop":0}]})"),
      "file");
  const Ids ids = {6, 0, 7, 6, 0};  // a space, a, x, a space, a
  EXPECT_EQ(tokenizer.decode(ids), "a a");
  EXPECT_EQ(streamed(tokenizer, ids, true), "a a");
  // without a decoder, tokens are separated by spaces
  EXPECT_EQ(streamed(parse_tokenizer(document(kSmallModel), "file"), {0, 3, 7}, true), "a ab x");
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
