// tokenizer.json: accepted and refused files, and damage.

#include <random>

#include "helpers.h"
#include "tests/folder.h"

namespace catenary::tokenizers {
namespace {

using namespace test;

/// The message for a refused file, or "" for an accepted one.
std::string refusal(const std::string& json) {
  return message<FileError>([&] { parse_tokenizer(json, "file"); });
}

// nlohmann's parser would treat a zero byte as the end of the text.
TEST(TokenizerFile, AZeroByteDoesNotEndIt) {
  const std::string whole = document(kSmallModel);
  ASSERT_EQ(refusal(whole), "");
  EXPECT_EQ(refusal(whole + '\0' + "anything"),
            "file: at byte " + std::to_string(whole.size() + 1) + ": this is not JSON: a zero byte");
  for (std::size_t at = 0; at < whole.size(); at += 7)
    EXPECT_NE(refusal(std::string(whole).insert(at, 1, '\0')).find("not JSON"), std::string::npos) << at;
}

TEST(TokenizerFile, RefusesByNameAndPlace) {
  const auto with = [](const std::string& others) { return document(kSmallModel, "," + others); };
  const std::string types = R"({"type":"Sequence","pretokenizers":[{"type":"ByteLevel","add_prefix_space":true},)";
  ASSERT_EQ(refusal(document(kSmallModel)), "");
  const std::pair<std::string, std::string> cases[] = {
      {with(R"("normalizer":{"type":"BertNormalizer"})"),
       "file: normalizer.type: the normalizer 'BertNormalizer' is not supported"},
      {with(R"("normalizer":{"type":"Sequence","normalizers":[{"type":"NFC"},{"type":"Nmt"}]})"),
       "file: normalizer.normalizers[1].type: the normalizer 'Nmt' is not supported"},
      {with(R"("normalizer":{"type":"NFC","form":1})"), "file: normalizer: unknown member 'form'"},
      {with(R"("normalizer":{"type":"Replace","pattern":{"String":""},"content":"x"})"),
       "file: normalizer.pattern.String: the pattern is empty"},
      {with(R"("normalizer":{"type":"Replace","pattern":{},"content":"x"})"),
       "file: normalizer.pattern: expected either 'String' or 'Regex'"},
      {with(R"("normalizer":{"type":"Strip","strip_left":1,"strip_right":true})"),
       "file: normalizer.strip_left: expected true or false, not number"},
      {with("\"pre_tokenizer\":" + types + R"({"type":"BertPreTokenizer"}]})"),
       "file: pre_tokenizer.pretokenizers[1].type: the pre-tokenizer 'BertPreTokenizer' is not supported"},
      {with(R"("pre_tokenizer":{"type":"Split","pattern":{"Regex":"a"},"behavior":"Joined","invert":false})"),
       "file: pre_tokenizer.behavior: unknown behavior 'Joined'"},
      {with(R"("pre_tokenizer":{"type":"Split","pattern":{"Regex":"(a"},"behavior":"Removed","invert":false})"),
       "file: pre_tokenizer.pattern.Regex: the regular expression '(a', at byte 2: a group that is not closed"},
      {with(R"("pre_tokenizer":{"type":"Metaspace","replacement":"__"})"),
       "file: pre_tokenizer.replacement: expected one character, not '__'"},
      {with(R"("pre_tokenizer":{"type":"Metaspace","replacement":"_","prepend_scheme":"last"})"),
       "file: pre_tokenizer.prepend_scheme: unknown value 'last'; expected first, never or always"},
      {with(
           R"("pre_tokenizer":{"type":"Metaspace","replacement":"_","prepend_scheme":"first","add_prefix_space":false})"),
       "file: pre_tokenizer.add_prefix_space: it contradicts prepend_scheme"},
      {with(R"("decoder":{"type":"WordPiece","prefix":"","cleanup":true})"),
       "file: decoder.type: the decoder 'WordPiece' is not supported"},
      {with(R"("post_processor":{"type":"RobertaProcessing"})"),
       "file: post_processor.type: the post-processor 'RobertaProcessing' is not supported"},
      {with(
           R"("post_processor":{"type":"TemplateProcessing","single":[{"SpecialToken":{"id":"s","type_id":0}}],"pair":[],"special_tokens":{}})"),
       "file: post_processor.single[0].SpecialToken.id: 's' is not among special_tokens"},
      {with(
           R"("post_processor":{"type":"TemplateProcessing","single":[{"Sequence":{"id":"B","type_id":0}}],"pair":[],"special_tokens":{}})"),
       "file: post_processor.single[0].Sequence.id: the sequence of a single text must be 'A'"},
      {with(
           R"("post_processor":{"type":"TemplateProcessing","single":[{"SpecialToken":{"id":"s","type_id":0}}],"pair":[],"special_tokens":{"s":{"id":"s","ids":[99],"tokens":["s"]}}})"),
       "file: post_processor: no token has the id 99"},
      {with(R"("truncation":{"max_length":1})"),
       "file: truncation: not supported; truncate or pad the ids in your program"},
      {with(R"("version":"2.0")"), "file: version: unknown version '2.0'"},
      {with(R"("extra":1)"), "file: the whole: unknown member 'extra'"},
      {"[]", "file: the whole: expected an object, not array"},
      {"{}", "file: the whole: 'model' is missing"},
      {"{\"model\":", "file: at byte 10: this is not JSON"},
      {document(R"({"type":"WordPiece"})"), "file: model.type: the model 'WordPiece' is not supported"},
      {document(R"({"type":"BPE","dropout":0.1,"vocab":{},"merges":[]})"),
       "file: model.dropout: BPE dropout is not supported"},
      {document(R"({"type":"BPE","vocab":{"a":0,"b":0},"merges":[]})"),
       "file: model.vocab: 'a' and 'b' have both id 0"},
      {document(R"({"type":"BPE","vocab":{"a":-1},"merges":[]})"),
       "file: model.vocab: the id of 'a' is not a non-negative integer"},
      {document(R"({"type":"BPE","vocab":{"a":4000000000},"merges":[]})"),
       "file: model.vocab: the id of 'a' is 4000000000 (at most 65540 is allowed for 1 tokens)"},
      {document(R"({"type":"BPE","vocab":{"a":0},"merges":["a"]})"),
       "file: model.merges[0]: expected two tokens separated by a space, not 'a'"},
      {document(R"({"type":"BPE","vocab":{"a":0},"merges":[["a","a","a"]]})"),
       "file: model.merges[0]: expected two tokens, not 3"},
      {document(R"({"type":"BPE","vocab":{"a":0},"merges":["a b"]})"),
       "file: model.merges[0]: 'b' is not in the vocabulary"},
      {document(R"({"type":"BPE","vocab":{"a":0,"b":1,"ab":2},"merges":["a b","b a"]})"),
       "file: model.merges[1]: 'ba' is not in the vocabulary"},
      {document(R"({"type":"BPE","unk_token":"?","vocab":{},"merges":[]})"),
       "file: model.unk_token: '?' is not in the vocabulary"},
      {document(R"({"type":"Unigram","vocab":[["a",1],["b"]]})"),
       "file: model.vocab[1]: expected a token and its score"},
      {document(R"({"type":"Unigram","vocab":[["a","b"]]})"), "file: model.vocab[0][1]: expected a number, not string"},
      {document(R"({"type":"Unigram","unk_id":1,"vocab":[["a",1]]})"),
       "file: model.unk_id: 1 is too large (at most 0)"},
  };
  for (const auto& [json, expected] : cases) EXPECT_EQ(refusal(json), expected);
}

TEST(TokenizerFile, RefusesAddedTokensThatDoNotFit) {
  const auto refused = [](const std::string& tokens) {
    return refusal(document(kSmallModel, ",\"added_tokens\":[" + tokens + "]"));
  };
  const auto token = [](int id, const std::string& content) {
    return "{\"id\":" + std::to_string(id) + ",\"content\":\"" + content +
           R"(","single_word":false,"lstrip":false,"rstrip":false,"normalized":false,"special":true})";
  };
  EXPECT_EQ(refused(token(5, "?") + "," + token(8, "<s>")), "");
  EXPECT_EQ(refused(token(4, "a")), "file: added_tokens[0].id: 'a' has id 0 in the model's vocabulary");
  EXPECT_EQ(refused(token(4, "<s>")), "file: added_tokens[0].id: 4 is the id of 'abc' in the model's vocabulary");
  EXPECT_EQ(refused(token(8, "<s>") + "," + token(8, "<t>")),
            "file: added_tokens[1]: the added tokens '<s>' and '<t>' have both id 8");
  EXPECT_EQ(refused(token(8, "<s>") + "," + token(9, "<s>")),
            "file: added_tokens[1]: the added token '<s>' is there twice");
  EXPECT_EQ(refused(token(8, "")), "file: added_tokens[0]: an added token without content");
  EXPECT_EQ(refused("{\"id\":1}"), "file: added_tokens[0]: 'content' is missing");
}

TEST(TokenizerFile, AFolderHasItsConfiguration) {
  const ::tests::Folder folder;
  folder.write("tokenizer.json", document(kSmallModel));
  EXPECT_FALSE(load_tokenizer(folder.path).eos_id());
  folder.write("tokenizer_config.json",
               R"({"bos_token":{"content":"abc","lstrip":false},"eos_token":"?","chat_template":"…"})");
  for (const std::string& path : {folder.path, folder / "tokenizer.json"}) {
    const Tokenizer tokenizer = load_tokenizer(path);
    EXPECT_EQ(tokenizer.bos_id(), 4);
    EXPECT_EQ(tokenizer.eos_id(), 5);
    EXPECT_EQ(tokenizer.encode("abcab?"), (Ids{4, 3, 5}));
  }
  folder.write("tokenizer_config.json", R"({"bos_token":null,"eos_token":"end"})");
  EXPECT_NE(message<FileError>([&] {
              load_tokenizer(folder.path);
            }).find("tokenizer_config.json: eos_token: 'end' is not a token"),
            std::string::npos);
  EXPECT_NE(message<FileError>([&] { load_tokenizer(folder / "none"); }).find("none"), std::string::npos);
  // save writes the original text
  const Tokenizer tokenizer = load_tokenizer(data_path("unigram.json"));
  tokenizer.save(folder / "copy.json");
  EXPECT_EQ(read_text(folder / "copy.json"), read_text(data_path("unigram.json")));
}

TEST(TokenizerFile, CharactersWithoutTokens) {
  const std::string no_unknown = R"({"type":"BPE","vocab":{"a":0},"merges":[]})";
  const Tokenizer bytes = parse_tokenizer(document(no_unknown), "file");
  EXPECT_EQ(message<ValueError>([&] { bytes.encode("aé"); }),
            "the character C3 A9 (in UTF-8) is not in the vocabulary, which has no unknown token");
  const Tokenizer unigram = parse_tokenizer(document(R"({"type":"Unigram","vocab":[["a",-1]]})"), "file");
  EXPECT_EQ(unigram.encode("aa"), (Ids{0, 0}));
  EXPECT_EQ(message<ValueError>([&] { unigram.encode("aé"); }),
            "a character of 'aé' is unknown, and unk_id is not given");
}

// If a token is merged before it is made, or made in two ways, words are not merged in parts.
TEST(TokenizerFile, TokensThatComeAboutInUnusualWays) {
  const auto cut = [](const std::string& vocabulary, const std::string& merges, const std::string& text) {
    const Tokenizer tokenizer =
        parse_tokenizer(document(R"({"type":"BPE","vocab":)" + vocabulary + R"(,"merges":)" + merges + "}"), "file");
    return tokenizer.encode(text);
  };
  EXPECT_EQ(cut(R"({"a":0,"b":1,"c":2,"bc":3,"abc":4})", R"(["a bc","b c"])", "abcabc"), (Ids{4, 4}));
  EXPECT_EQ(cut(R"({"a":0,"b":1,"c":2,"ab":3,"bc":4,"abc":5,"abcabc":6})", R"(["a b","b c","a bc","ab c","abc abc"])",
                "abcabc"),
            (Ids{6}));
  EXPECT_EQ(cut(R"({"":0,"a":1,"b":2,"ab":3})", R"(["a b",["","a"]])", "abab"), (Ids{3, 3}));
}

// Changes, removes or repeats a few bytes of a file: the result is an error, or a tokenizer that works or reports why
// not.
TEST(TokenizerFile, DamageIsSaidInWords) {
  const char* const names[] = {"llama3.json", "mistral.json", "unigram_bytes.json", "pieces_3.json"};
  const std::string text = "It's naïve — 12345 \U0001f600 <s>\n\n  世界!";
  int refused = 0;
  for (std::uint32_t seed = 0; seed < 200; ++seed) {
    std::mt19937 random(seed);
    std::string json = read_text(data_path(names[seed % std::size(names)]));
    const auto any = [&](std::size_t below) { return static_cast<std::size_t>(random() % below); };
    for (std::size_t n = 1 + any(3); n > 0; --n) {
      const std::size_t at = any(json.size());
      switch (any(4)) {
        case 0:
          json[at] = static_cast<char>(random());
          break;
        case 1:
          json.erase(at, 1 + any(40));
          break;
        case 2:
          json.insert(at, json.substr(any(json.size()), 1 + any(40)));
          break;
        default:
          json[at] ^= 1;
      }
    }
    const std::string why = message<FileError>([&] {
      const Tokenizer tokenizer = parse_tokenizer(json, "damaged");
      message<ValueError>([&] { tokenizer.decode(tokenizer.encode(text, {.parse_special = true})); });
    });
    EXPECT_TRUE(why.empty() || why.starts_with("damaged: ")) << why;
    refused += !why.empty();
  }
  EXPECT_GT(refused, 100);
}

TEST(TokenizerFile, EveryBeginningIsRefused) {
  const std::string json = read_text(data_path("han.json"));
  for (std::size_t n = 0; n + 1 < json.size(); n += 31) EXPECT_NE(refusal(json.substr(0, n)), "") << n;
  std::string deep = R"({"type":"NFC"})";
  for (int i = 0; i < 30; ++i) deep = R"({"type":"Sequence","normalizers":[)" + deep + "]}";
  EXPECT_NE(refusal(document(kSmallModel, ",\"normalizer\":" + deep)).find("more than 16 nested steps"),
            std::string::npos);
  EXPECT_NE(refusal(std::string(1000000, '[')), "");
}

}  // namespace
}  // namespace catenary::tokenizers
