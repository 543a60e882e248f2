// Oniguruma's expressions. Expected matches are the results of Split(Regex(…), "isolated") in `tokenizers` 0.23.3.

#include "helpers.h"

namespace catenary::tokenizers {
namespace {

using namespace test;

std::string quoted(const std::string& text) {
  std::string all = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') all += '\\';
    all += c == '\n' ? "\\n" : std::string(1, c);
  }
  return all + "\"";
}

Tokenizer splitting(const std::string& expression) {
  // every word becomes a single token, because unknown characters are fused
  return parse_tokenizer(
      document(
          R"({"type":"BPE","unk_token":"?","fuse_unk":true,"vocab":{"?":0},"merges":[]})",
          ",\"pre_tokenizer\":{\"type\":\"Split\",\"behavior\":\"Isolated\",\"invert\":false,\"pattern\":{\"Regex\":" +
              quoted(expression) + "}}"),
      "file");
}

std::size_t pieces(const std::string& expression, const std::string& text) {
  return splitting(expression).encode(text).size();
}

TEST(Expressions, MeanWhatOnigurumaMeans) {
  const std::tuple<const char*, const char*, std::size_t> cases[] = {
      {"a{1,2}+", "aaaaab", 2},  // a repetition of a repetition: PCRE2 would match two at a time
      {"a?+a", "aa", 1},
      {"$", "a\nb", 2},
      {"^", "a\nb", 2},
      {".", "ab\n", 3},
      {"(?m:a.)", "a\nb", 2},
      {"[a[bc]]", "abc]", 4},
      {"[a-z&&[^b]]+", "abc", 3},
      {"[^a-z&&[^b]]+", "ab1", 2},
      {"(?i:k)", "\u212a", 1},
      {"(?i:'s)", "'\u017f", 1},
      {"(?i)a|b", "A-B", 3},
      {"\\h+", "xBeeF", 2},
      {"\\u00e9", "é", 1},
      {"\\x{e9}", "éé", 2},
      {"(?<!a)b", "ab b", 2},
      {"[\\s\\S]", "ab", 2},
      {"\\s", "a\u180e b", 3},
      {"\\w+", "a²b c", 3},
      {"\\b", "ab cd", 3},
      {"\\d", "1٣", 2},
      {"\\p{Han}", "a〇b", 3},
      {"\\p{^L}+", "a12b", 3},
      {"\\P{L}+", "a12b", 3},
      {"a{,2}b", "aaab", 2},
      {"a{,b", "xa{,b", 2},
      {"[\\]\\-\\[a]+", "x]-[a", 2},
      {"\\R", "a\r\nb", 3},
      {"x*", "axxb", 3},
      // characters of Unicode 15 and 16
      {"\\p{L}+", "\U00031350b", 1},
      {"\\p{N}+", "1\U00011f50", 1},
      {"\\p{M}+", "\u0301\u0897", 1},
  };
  for (const auto& [expression, text, expected] : cases) EXPECT_EQ(pieces(expression, text), expected) << expression;
}

TEST(Expressions, UnsupportedExpressionsAreRefused) {
  const std::pair<const char*, const char*> cases[] = {
      {"(a", "a group that is not closed"},
      {"a)", "a ')' without a '('"},
      {"[a", "a class that is not closed"},
      {"[]", "a class of nothing"},
      {"[b-a]", "a range that ends before it begins"},
      {"[\\s-a]", "a range that begins with a set"},
      {"[a-\\s]", "a range that ends with a set"},
      {"[[:alpha:]]", "a class of POSIX is not supported"},
      {"*a", "a repetition of nothing"},
      {"a**", "a repetition of a repetition"},
      {"a{2}?", "which Oniguruma reads as optional"},
      {"a{2000}", "a repetition of more than 1000 times"},
      {"a{3,2}", "a range that ends before it begins"},
      {"(?<n>a)", "a group '(?<n>' that is not supported"},
      {"a(?i)b|c", "(?i) that is not at the beginning of its group"},
      {"(?i:ss)", "'ss' in any case, which may be one character, is not supported"},
      {"(?i:ß)", "a letter beyond ASCII in any case is not supported"},
      {"(?i:\\p{Lu})", "the property 'Lu' in any case"},
      {"\\p{Cn}", "the property 'Cn' is not supported"},
      {"\\pL", "a property without braces"},
      {"\\1", "'\\1' is not supported"},
      {"\\K", "'\\K' is not supported"},
      {"\\xe9", "'\\x' of a byte that is no character"},
      {"\\x{d800}", "a number that is no character's"},
      {"\\", "a '\\' at the end"},
      {"(?<=a+)b", "lookbehind assertion is not fixed length"},
  };
  for (const auto& [expression, expected] : cases) {
    const std::string why = message<FileError>([&, e = expression] { splitting(e); });
    EXPECT_NE(why.find(expected), std::string::npos) << expression << ": " << why;
  }
  std::string deep;
  for (int i = 0; i < 200; ++i) deep += "(?:";
  EXPECT_NE(message<FileError>([&] { splitting(deep); }).find("more than 100 nested groups"), std::string::npos);
}

TEST(PreTokenizers, SplitInEachWay) {
  // every word that any behaviour makes from "the-final--countdown" is a token
  const std::string words =
      R"({"the":0,"the-":1,"-":2,"--":3,"final":4,"final-":5,"-final":6,"countdown":7,"-countdown":8})";
  const auto cut = [&](const std::string& behavior, bool invert) {
    const Tokenizer tokenizer =
        parse_tokenizer(document(R"({"type":"BPE","ignore_merges":true,"vocab":)" + words + R"(,"merges":[]})",
                                 R"(,"pre_tokenizer":{"type":"Split","pattern":{"String":"-"},"behavior":")" +
                                     behavior + "\",\"invert\":" + (invert ? "true}" : "false}")),
                        "file");
    return tokenizer.encode("the-final--countdown");
  };
  EXPECT_EQ(cut("Removed", false), (Ids{0, 4, 7}));
  EXPECT_EQ(cut("Isolated", false), (Ids{0, 2, 4, 2, 2, 7}));
  EXPECT_EQ(cut("MergedWithPrevious", false), (Ids{1, 5, 2, 7}));
  EXPECT_EQ(cut("MergedWithNext", false), (Ids{0, 6, 2, 8}));
  EXPECT_EQ(cut("Contiguous", false), (Ids{0, 2, 4, 3, 7}));
  EXPECT_EQ(cut("Removed", true), (Ids{2, 2, 2}));
  EXPECT_EQ(cut("Isolated", true), (Ids{0, 2, 4, 2, 2, 7}));
}

TEST(PreTokenizers, DigitsAndPunctuationOfThePackagesUnicode) {
  const auto pieces_by = [](const std::string& step, const std::string& text) {
    return parse_tokenizer(document(R"({"type":"BPE","unk_token":"?","fuse_unk":true,"vocab":{"?":0},"merges":[]})",
                                    ",\"pre_tokenizer\":" + step),
                           "file")
        .encode(text)
        .size();
  };
  const std::string digits = R"({"type":"Digits","individual_digits":false})",
                    punctuation = R"({"type":"Punctuation"})";
  EXPECT_EQ(pieces_by(digits, "a1\U00011de0b"), 3u);  // of Unicode 17
  EXPECT_EQ(pieces_by(digits, "a½٣b"), 3u);
  EXPECT_EQ(pieces_by(punctuation, "a\u166d!b"), 4u);  // a symbol since Unicode 12
  EXPECT_EQ(pieces_by(punctuation, "a\u2e43b"), 1u);   // of Unicode 9
  EXPECT_EQ(pieces_by(punctuation, "a$¿b€"), 4u);
}

TEST(PreTokenizers, OnlyWhatBeginsTheTextGetsItsSpace) {
  const auto cut = [](const std::string& scheme, const std::string& text) {
    const Tokenizer tokenizer = parse_tokenizer(
        document(
            R"({"type":"BPE","vocab":{"_":0,"a":1,"_a":2},"merges":[["_","a"]]})",
            R"(,"pre_tokenizer":{"type":"Sequence","pretokenizers":[{"type":"WhitespaceSplit"},{"type":"Metaspace","replacement":"_","prepend_scheme":")" +
                scheme +
                R"("}]},"added_tokens":[{"id":3,"content":"<s>","single_word":false,"lstrip":false,"rstrip":false,"normalized":false,"special":false}])"),
        "file");
    return tokenizer.encode(text);
  };
  EXPECT_EQ(cut("first", "a a"), (Ids{2, 1}));
  EXPECT_EQ(cut("first", " a a"), (Ids{1, 1}));
  EXPECT_EQ(cut("first", "<s>a"), (Ids{3, 1}));
  EXPECT_EQ(cut("first", "a<s>a"), (Ids{2, 3, 1}));
  EXPECT_EQ(cut("always", "a a"), (Ids{2, 2}));
  EXPECT_EQ(cut("never", "a a"), (Ids{1, 1}));
}

TEST(Expressions, TooManyStepsAreSaid) {
  const Tokenizer tokenizer = splitting("(?:a|a)*b|(?:(?:c+)+)+d");
  const std::string why = message<ValueError>([&] { tokenizer.encode(std::string(60, 'c')); });
  EXPECT_NE(why.find("match limit"), std::string::npos) << why;
}

TEST(Expressions, LongRunsAreNoTrouble) {
  const Tokenizer tokenizer = load_tokenizer(data_path("llama3.json"));
  for (const char* unit : {" ", "\n", " \n", "a", "'", "1", "世", "\u0301"}) {
    std::string text;
    while (text.size() < 300000) text += unit;
    EXPECT_EQ(tokenizer.decode(tokenizer.encode(text + "b", {.add_special = false})), text + "b");
  }
}

}  // namespace
}  // namespace catenary::tokenizers
