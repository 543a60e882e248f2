// SentencePiece models compared with SentencePiece (sentencepiece_models.json), and damaged files.

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <nlohmann/json.hpp>
#include <random>

#include "tests/folder.h"
#include "tests/tokenizers/helpers.h"

namespace catenary::tokenizers::test {
namespace {

nlohmann::json models() { return nlohmann::json::parse(read_text(data_path("sentencepiece_models.json"))); }

std::string bytes_of(const nlohmann::json& of) {
  constexpr std::string_view kDigits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string bytes;
  std::uint32_t bits = 0;
  int count = 0;
  for (const char c : of["model"].get<std::string>()) {
    if (c == '=') break;
    bits = bits << 6 | static_cast<std::uint32_t>(kDigits.find(c));
    if ((count += 6) >= 8) bytes += static_cast<char>(bits >> (count -= 8) & 0xff);
  }
  return bytes;
}

TEST(SentencePiece, CutsTextsAsSentencePieceDoes) {
  const auto all = models();
  for (const auto& [name, of] : all.items()) {
    SCOPED_TRACE(name);
    const Tokenizer tokenizer = parse_sentencepiece(bytes_of(of), name);
    for (std::size_t i = 0; i < of["texts"].size(); ++i) {
      const std::string text = of["texts"][i];
      Ids ids = of["ids"][i];
      EXPECT_EQ(tokenizer.encode(text, {.add_special = false}), ids) << "'" << text << "'";
      for (const std::int64_t id : of["end"]) ids.push_back(id);
      EXPECT_EQ(tokenizer.encode(text), ids) << "'" << text << "'";
    }
  }
}

// Unknown tokens are left out, where SentencePiece writes a special sign.
TEST(SentencePiece, GivesTheTextBack) {
  const auto all = models();
  for (const auto& [name, of] : all.items()) {
    SCOPED_TRACE(name);
    const Tokenizer tokenizer = parse_sentencepiece(bytes_of(of), name);
    int compared = 0;
    for (std::size_t i = 0; i < of["texts"].size(); ++i) {
      const Ids ids = of["ids"][i];
      EXPECT_EQ(streamed(tokenizer, ids, true), tokenizer.decode(ids)) << i;
      if (std::find(ids.begin(), ids.end(), 0) != ids.end()) continue;
      EXPECT_EQ(tokenizer.decode(ids), of["decoded"][i].get<std::string>()) << i;
      ++compared;
    }
    EXPECT_GT(compared, 20);
    for (std::size_t i = 0; i < of["lists"].size(); ++i)
      EXPECT_EQ(tokenizer.decode(of["lists"][i].get<Ids>()), of["decoded_lists"][i].get<std::string>()) << i;
  }
}

TEST(SentencePiece, SaysWhatBeginsAndEndsATextAndWhatIsSpecial) {
  const auto all = models();
  const Tokenizer pairs = parse_sentencepiece(bytes_of(all["pairs"]), "pairs");
  EXPECT_EQ(pairs.bos_id(), 1);
  EXPECT_EQ(pairs.eos_id(), 2);
  EXPECT_TRUE(pairs.is_special(1));
  EXPECT_FALSE(pairs.is_special(pairs.id("<tool>").value()));
  EXPECT_EQ(pairs.encode("a</s>", {.parse_special = true}).back(), 2);
  EXPECT_NE(pairs.encode("a</s>").back(), 2);
  EXPECT_EQ(parse_sentencepiece(bytes_of(all["pairs_without_bytes"]), "pairs").eos_id(), std::nullopt);
  const Tokenizer chatglm = parse_sentencepiece(bytes_of(all["chatglm"]), "chatglm");
  EXPECT_EQ(chatglm.token(chatglm.bos_id().value()), "<sop>");
  EXPECT_EQ(chatglm.token(chatglm.eos_id().value()), "<eop>");
  EXPECT_NE(message<ValueError>([&] { pairs.save("x.json"); }).find("was not read from a tokenizer.json"),
            std::string::npos);
}

TEST(SentencePiece, LiesInAFolder) {
  const auto all = models();
  const ::tests::Folder folder;
  const Ids ids = all["pairs"]["ids"][3];
  const std::string text = all["pairs"]["texts"][3];
  const auto with = [&](const Ids& before, const Ids& after) {
    Ids made = before;
    made.insert(made.end(), ids.begin(), ids.end());
    made.insert(made.end(), after.begin(), after.end());
    return made;
  };
  const auto encoded = [&] { return load_tokenizer(folder.path).encode(text); };
  folder.write("tokenizer.model", bytes_of(all["pairs"]));
  EXPECT_EQ(encoded(), ids);
  EXPECT_EQ(load_tokenizer(folder / "tokenizer.model").encode(text), ids);
  folder.write("tokenizer_config.json", R"({"tokenizer_class": "LlamaTokenizer"})");
  EXPECT_EQ(encoded(), with({1}, {}));
  folder.write("tokenizer_config.json", R"({"tokenizer_class": "T5Tokenizer"})");
  EXPECT_EQ(encoded(), with({}, {2}));
  folder.write("tokenizer_config.json",
               R"({"tokenizer_class": "LlamaTokenizer", "add_bos_token": false, "add_eos_token": true})");
  EXPECT_EQ(encoded(), with({}, {2}));
  folder.write("tokenizer_config.json", R"({"bos_token": {"content": "<tool>"}, "add_bos_token": true})");
  EXPECT_EQ(encoded(), with({load_tokenizer(folder.path).id("<tool>").value()}, {}));
  EXPECT_EQ(load_tokenizer(folder.path).eos_id(), 2);  // the model's own
  folder.write("tokenizer_config.json", R"({"bos_token": "<none>"})");
  EXPECT_NE(message<FileError>([&] { load_tokenizer(folder.path); }).find("'<none>' is not a token of tokenizer.model"),
            std::string::npos);
  folder.write("tokenizer.json", document(kSmallModel));  // takes precedence
  folder.write("tokenizer_config.json", "{}");
  EXPECT_EQ(load_tokenizer(folder.path).id("abc"), 4);
}

// A field of a file: its key and value.
std::string part(int field, const std::string& content) {
  std::string made(1, static_cast<char>(field << 3 | 2));
  made += static_cast<char>(content.size());
  return made + content;
}
std::string number(int field, int value) { return {static_cast<char>(field << 3), static_cast<char>(value)}; }
std::string piece(const std::string& text, int type = 1, const std::string& score = std::string(4, '\0')) {
  return part(1, part(1, text) + std::string(1, 2 << 3 | 5) + score + number(3, type));
}

TEST(SentencePiece, DamagedAndUnsupportedFilesAreRefused) {
  const auto refusal = [](const std::string& model) {
    return message<FileError>([&] { parse_sentencepiece(model, "m"); });
  };
  EXPECT_EQ(refusal(piece("a")), "");
  EXPECT_EQ(refusal(""), "m: at byte 0: there are no pieces, so this is probably not a SentencePiece model");
  EXPECT_EQ(refusal("\x0a\x7f"), "m: at byte 2: expected 127 more bytes, but 0 are left");
  EXPECT_EQ(refusal("\x0a"), "m: at byte 1: the file ends within a number");
  EXPECT_EQ(refusal(std::string(11, '\xff')), "m: at byte 10: a number of more than ten bytes");
  EXPECT_EQ(refusal("\x0b"), "m: at byte 1: a field of the unknown kind 3");
  EXPECT_EQ(refusal(piece("")), "m: at byte 11: the piece 0 is empty or not UTF-8");
  EXPECT_EQ(refusal(piece("\xff")), "m: at byte 12: the piece 0 is empty or not UTF-8");
  EXPECT_EQ(refusal(piece("a", 7)), "m: at byte 12: a piece of the unknown type 7");
  EXPECT_EQ(refusal(piece("a", 1, "\xff\xff\xff\x7f")), "m: at byte 12: the score of the piece 0 is not finite");
  EXPECT_EQ(refusal(part(1, number(1, 3))), "m: at byte 4: field 1 is a number, expected a string");
  EXPECT_EQ(refusal(part(1, part(3, "a"))), "m: at byte 5: field 3 is no whole number");
  EXPECT_EQ(refusal(piece("a") + piece("a")), "m: the piece 1: 'a' has the ids 0 and 1");
  EXPECT_EQ(refusal(piece("a") + part(2, number(3, 3))),
            "m: word and character models are not supported; expected unigram or bpe");
  EXPECT_EQ(refusal(piece("a") + part(2, std::string("\xc0\x01\x01"))), "m: spaces after words are not supported");
  EXPECT_EQ(refusal(piece("a", 5) + part(2, number(3, 2))), "m: unused pieces in a bpe model are not supported");
  EXPECT_EQ(refusal(piece("a") + part(3, part(2, "abc"))),
            "m: precompiled_charsmap: a table of 3 bytes says that its trie has 0");
  // An unknown character without an unknown piece.
  EXPECT_THROW(parse_sentencepiece(piece("a"), "m").encode("b"), ValueError);
}

// A table that replaces part of a character, and pieces and replacements that are too long.
TEST(SentencePiece, HostileFilesCostNoMoreThanTheyAreLong) {
  const auto table = [](const std::vector<std::uint32_t>& units, const std::string& texts) {
    std::string bytes;
    const auto put = [&](std::uint32_t n) {
      for (int i = 0; i < 4; ++i) bytes += static_cast<char>(n >> 8 * i);
    };
    put(static_cast<std::uint32_t>(4 * units.size()));
    for (const std::uint32_t unit : units) put(unit);
    return bytes + texts;
  };
  const auto long_part = [](int field, const std::string& content) {
    std::string made(1, static_cast<char>(field << 3 | 2));
    for (std::size_t n = content.size(), i = 0; i < 3; ++i, n >>= 7)
      made += static_cast<char>((n & 127) + (i < 2 ? 128 : 0));
    return made + content;
  };
  // The trie contains only the byte 0xC3, the first half of a character.
  constexpr std::uint32_t kFirst = 0x200, kNode = kFirst ^ 0xc3, kLeaf = 0x300;
  std::vector<std::uint32_t> units(1024, 0);
  units[0] = kFirst << 10;
  units[kNode] = (kNode ^ kLeaf) << 10 | 0x100 | 0xc3;
  units[kLeaf] = 0x80000000u;
  const std::string model = piece("a") + piece("\xe2\x96\x81") + piece("?", 2) +
                            long_part(3, long_part(2, table(units, std::string("x\0", 2))));
  EXPECT_EQ(parse_sentencepiece(model, "m").encode("aa\xc3\xa9"), (Ids{1, 0, 0, 2}));

  const std::string huge(5000, 'a');
  EXPECT_NE(message<FileError>([&] {
              parse_sentencepiece(long_part(1, long_part(1, huge)), "m");
            }).find("the piece 0 has 5000 bytes, which is more than 4096"),
            std::string::npos);
  EXPECT_NE(message<FileError>([&] {
              parse_sentencepiece(piece("a") + long_part(3, long_part(2, table({0}, huge))), "m");
            }).find("a text of 5000 bytes in a table"),
            std::string::npos);
}

// 200 damaged files: a message, or a working tokenizer.
TEST(SentencePiece, DamageIsAnErrorOrAnotherTokenizer) {
  std::mt19937 random(3);
  const auto all = models();
  const std::vector<std::string> files = {bytes_of(all["pairs"]), bytes_of(all["unigram"])};
  int refused = 0;
  for (int i = 0; i < 200; ++i) {
    std::string bytes = files[static_cast<std::size_t>(i % 2)];
    const std::size_t at = random() % bytes.size();
    if (i % 5 == 0) bytes.resize(at);
    for (int n = i % 7; n >= 0 && at < bytes.size(); --n)
      bytes[(at + random() % 9) % bytes.size()] = static_cast<char>(random());
    try {
      const Tokenizer tokenizer = parse_sentencepiece(bytes, "damaged");
      const Ids ids = tokenizer.encode("the <tool> is 中文");
      tokenizer.decode(ids);
    } catch (const FileError&) {
      ++refused;
    } catch (const ValueError&) {
    }
  }
  EXPECT_GT(refused, 20);
}

}  // namespace
}  // namespace catenary::tokenizers::test
