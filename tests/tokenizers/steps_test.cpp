// The steps from a text to its words: beginnings, limits, added tokens, and scores to the last bit.

#include <nlohmann/json.hpp>

#include "helpers.h"
#include "tests/io/counted_memory.h"

namespace catenary::tokenizers {
namespace {

using namespace test;

constexpr const char* kReplace = R"({"type":"Replace","pattern":{"String":"a"},"content":"aa"})";

std::string repeated(const std::string& step, int times) {
  std::string all = step;
  for (int i = 1; i < times; ++i) all += "," + step;
  return all;
}

// tests/data/tokenizers/make_ties.py
TEST(Steps, EqualSumsAreToldApartAsThePackageDoes) {
  const auto document = nlohmann::json::parse(read_text(data_path("ties.json")));
  for (const auto& one : document["unigrams"]) {
    const Tokenizer tokenizer = parse_tokenizer(one["tokenizer"].get<std::string>(), "ties");
    for (std::size_t i = 0; i < one["texts"].size(); ++i)
      EXPECT_EQ(tokenizer.encode(one["texts"][i].get<std::string>()), one["ids"][i].get<Ids>())
          << one["tokenizer"] << " " << one["texts"][i];
  }
}

TEST(Steps, ABeginningThatIsRemovedIsNoBeginning) {
  const auto document = nlohmann::json::parse(read_text(data_path("ties.json")));
  for (const auto& one : document["beginnings"]) {
    const Tokenizer tokenizer = parse_tokenizer(one["tokenizer"].get<std::string>(), "beginnings");
    for (std::size_t i = 0; i < one["texts"].size(); ++i)
      EXPECT_EQ(tokenizer.encode(one["texts"][i].get<std::string>(), {.parse_special = true}), one["ids"][i].get<Ids>())
          << one["tokenizer"] << " " << one["texts"][i];
  }
}

// Forty steps could turn one letter into a terabyte.
TEST(Steps, ATextGrowsToALimitAlone) {
  const auto with = [](const std::string& others) {
    return parse_tokenizer(document(kSmallModel, "," + others), "file");
  };
  const auto in_sequence = [&](const std::string& kind, const std::string& list, const std::string& steps) {
    return with("\"" + kind + R"(":{"type":"Sequence",")" + list + "\":[" + steps + "]}");
  };
  const io::test::CountedMemory memory;
  const Tokenizer grows = in_sequence("normalizer", "normalizers", repeated(kReplace, 40));
  const std::string why = message<ValueError>([&] { grows.encode("a"); });
  EXPECT_EQ(why, "Replace by 'aa' makes more than 65600 bytes of a text");
  EXPECT_EQ(in_sequence("normalizer", "normalizers", repeated(kReplace, 10)).encode("a").size(), 1024u);
  const Tokenizer prepends = in_sequence(
      "normalizer", "normalizers", repeated(R"({"type":"Prepend","prepend":")" + std::string(9000, 'x') + "\"}", 16));
  EXPECT_NE(message<ValueError>([&] { prepends.encode("a"); }).find("the normalizer Prepend of 'xxx"),
            std::string::npos);
  // added tokens are normalized while the file is read
  EXPECT_NE(message<FileError>([&] {
              with(R"("normalizer":{"type":"Sequence","normalizers":[)" + repeated(kReplace, 40) +
                   R"(]},"added_tokens":[{"id":8,"content":"a!","single_word":false,"lstrip":false,"rstrip":false,)"
                   R"("normalized":true,"special":false}])");
            }).find("Replace by 'aa' makes more than"),
            std::string::npos);

  const Tokenizer says = in_sequence("decoder", "decoders", repeated(kReplace, 40));
  const Ids one = {0};
  EXPECT_NE(message<ValueError>([&] { says.decode(one); }).find("makes more than"), std::string::npos);
  EXPECT_EQ(in_sequence("decoder", "decoders", repeated(kReplace, 10)).decode(one).size(), 1024u);

  const std::string twice = R"({"type":"TemplateProcessing","single":[{"Sequence":{"id":"A","type_id":0}},)"
                            R"({"Sequence":{"id":"A","type_id":0}}],"pair":[],"special_tokens":{}})";
  const Tokenizer doubles = in_sequence("post_processor", "processors", repeated(twice, 40));
  EXPECT_NE(message<ValueError>([&] { doubles.encode("a"); }).find("the post-processor makes more than"),
            std::string::npos);
  EXPECT_LT(memory.peak(), 64 << 20);
}

/// A tokenizer in which every part of the text that a step leaves whole is a token.
std::vector<std::string> pieces_by(const std::string& step, const std::string& text) {
  nlohmann::json vocabulary;
  int id = 0;
  for (std::size_t from = 0; from < text.size(); ++from)
    for (std::size_t size = 1; from + size <= text.size(); ++size) {
      const auto starts = [&](std::size_t at) { return at == text.size() || (text[at] & 0xc0) != 0x80; };
      const std::string part = text.substr(from, size);
      if (starts(from) && starts(from + size) && !vocabulary.contains(part)) vocabulary[part] = id++;
    }
  const nlohmann::json model = {
      {"type", "BPE"}, {"ignore_merges", true}, {"vocab", vocabulary}, {"merges", nlohmann::json::array()}};
  const Tokenizer tokenizer = parse_tokenizer(document(model.dump(), ",\"pre_tokenizer\":" + step), "file");
  std::vector<std::string> pieces;
  for (const std::int64_t token : tokenizer.encode(text)) pieces.push_back(tokenizer.token(token));
  return pieces;
}

TEST(Steps, WordsAreThoseOfThePackagesUnicode) {
  using Pieces = std::vector<std::string>;
  const std::string words = R"({"type":"Whitespace"})";
  EXPECT_EQ(pieces_by(words, "a\u200db ²½\u180e"), (Pieces{"a\u200db", "²½\u180e"}));
  EXPECT_EQ(pieces_by(words, "½²a"), (Pieces{"½²", "a"}));
  EXPECT_EQ(pieces_by(words, "x²"), (Pieces{"x", "²"}));
  EXPECT_EQ(pieces_by(words, "a_b-c"), (Pieces{"a_b", "-", "c"}));
  EXPECT_EQ(pieces_by(words, "Ⅷa·b"), (Pieces{"Ⅷa", "·", "b"}));
  EXPECT_EQ(pieces_by(words, "é\u0301x!?"), (Pieces{"é\u0301x", "!?"}));
  EXPECT_EQ(pieces_by(words, "  a\u00a0b"), (Pieces{"a", "b"}));
}

TEST(Steps, ASpaceIsNotPrependedToOne) {
  const Tokenizer always = parse_tokenizer(
      document(R"({"type":"BPE","vocab":{"_":0,"a":1},"merges":[]})",
               R"(,"pre_tokenizer":{"type":"Metaspace","replacement":"_","prepend_scheme":"always","split":false})"),
      "file");
  EXPECT_EQ(always.encode("a"), (Ids{0, 1}));
  EXPECT_EQ(always.encode(" a"), (Ids{0, 1}));
  EXPECT_EQ(always.encode("_a"), (Ids{0, 1}));
  EXPECT_EQ(always.encode("  a"), (Ids{0, 0, 1}));
  EXPECT_EQ(always.encode("a a"), (Ids{0, 1, 0, 1}));
}

TEST(Steps, AWordByItselfHasNoLetterBesideIt) {
  const Tokenizer tokenizer = parse_tokenizer(
      document(R"({"type":"BPE","unk_token":"?","vocab":{"?":0},"merges":[]})",
               R"(,"added_tokens":[{"id":1,"content":"the","single_word":true,"lstrip":false,"rstrip":false,)"
               R"("normalized":false,"special":false}])"),
      "file");
  const auto found = [&](const std::string& text) {
    const Ids ids = tokenizer.encode(text);
    return std::count(ids.begin(), ids.end(), 1);
  };
  for (const char* text : {"the", " the ", "(the)", "—the—", "² the", "the\u00a0", "·the"})
    EXPECT_EQ(found(text), 1) << text;
  for (const char* text : {"bathe", "éthe", "你the", "_the", "1the", "then", "theé", "the你", "the_"})
    EXPECT_EQ(found(text), 0) << text;
  EXPECT_EQ(found("the the-the"), 3);
}

TEST(Steps, WordsAreKeptInBoundedMemory) {
  const Tokenizer tokenizer = train_byte_pairs("a", 257);
  const auto encode = [&](int first, int last) {
    for (int i = first; i < last; ++i) tokenizer.encode("word" + std::to_string(i) + std::string(40, 'x'));
  };
  encode(0, 70000);  // more than the cache holds
  const io::test::CountedMemory memory;
  encode(70000, 270000);
  EXPECT_LT(memory.peak(), 70000 * 600);
}

}  // namespace
}  // namespace catenary::tokenizers
