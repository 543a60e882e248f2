// Tokenizers of GGUF files: byte pairs compared with the package `tokenizers`, with which llama.cpp agrees, and pairs
// by score compared with SentencePiece.

#include <algorithm>
#include <filesystem>
#include <functional>
#include <nlohmann/json.hpp>
#include <random>

#include "catenary/tokenizers/gguf_file.h"
#include "helpers.h"
#include "tests/folder.h"

namespace catenary::tokenizers {
namespace {

using namespace test;

nlohmann::json read_json(const std::string& name) { return nlohmann::json::parse(read_text(data_path(name))); }

/// The GGUF form of a tokenizer.json with byte pairs.
GgufTokens of_file(const std::string& name, const std::string& pre) {
  const auto document = read_json(name + ".json");
  GgufTokens tokens;
  tokens.model = "gpt2";
  tokens.pre = pre;
  const auto put = [&](const std::string& token, std::size_t id, std::int32_t type) {
    tokens.tokens.resize(std::max(tokens.tokens.size(), id + 1));
    tokens.token_types.resize(tokens.tokens.size(), 1);
    tokens.tokens[id] = token;
    tokens.token_types[id] = type;
  };
  for (const auto& [token, id] : document["model"]["vocab"].items()) put(token, id, 1);
  for (const auto& token : document["added_tokens"]) put(token["content"], token["id"], token["special"] ? 3 : 4);
  for (const auto& merge : document["model"]["merges"])
    tokens.merges.push_back(merge.is_string() ? merge.get<std::string>()
                                              : merge[0].get<std::string>() + " " + merge[1].get<std::string>());
  return tokens;
}

class Bytes : public testing::TestWithParam<std::pair<const char*, const char*>> {};

TEST_P(Bytes, AreCutAsTheFileOfTheSameTokensIs) {
  const std::string name = GetParam().first;
  GgufTokens tokens = of_file(name, GetParam().second);
  tokens.add_bos = false;
  const Tokenizer tokenizer = make_tokenizer(tokens), same = load_tokenizer(data_path(name + ".json"));
  const auto cases = read_json("cases.json");
  for (const std::string text : cases["texts"])
    for (const bool parse : {false, true}) {
      const Ids ids = tokenizer.encode(text, {.add_special = true, .parse_special = parse});
      // GGUF does not apply the normalizer of tokenizer.json
      if (name == "qwen2" && same.decode(ids, false) != same.decode(same.encode(text, {.parse_special = parse}), false))
        continue;
      EXPECT_EQ(ids, same.encode(text, {.add_special = false, .parse_special = parse})) << text;
      EXPECT_EQ(tokenizer.decode(ids, false), same.decode(ids, false));
      EXPECT_EQ(streamed(tokenizer, ids, true), tokenizer.decode(ids, true));
    }
}

INSTANTIATE_TEST_SUITE_P(Kinds, Bytes,
                         testing::Values(std::pair{"gpt2", "gpt-2"}, std::pair{"llama3", "llama-bpe"},
                                         std::pair{"qwen2", "qwen2"}),
                         [](const auto& info) { return std::string(info.param.first); });

TEST(Gguf, ThreeDigitsByOneExpressionAndByMany) {
  const GgufTokens tokens = of_file("gpt2", "");
  const auto cut = [&](const char* pre, const std::string& text) {
    GgufTokens with = tokens;
    with.pre = pre;
    with.merges.push_back("1 2");
    for (const char* token : {"12", "34", "123"}) {
      with.tokens.push_back(token);
      with.token_types.push_back(1);
    }
    with.merges.push_back("12 3");
    with.merges.push_back("3 4");
    with.add_bos = false;
    const Tokenizer tokenizer = make_tokenizer(with);
    std::string all;
    for (const std::int64_t id : tokenizer.encode(text)) all += (all.empty() ? "" : "|") + tokenizer.token(id);
    return all;
  };
  EXPECT_EQ(cut("gpt-2", "1234"), "123|4");
  EXPECT_EQ(cut("gpt-2", "x1234"), "x|123|4");
  EXPECT_EQ(cut("llama-bpe", "01234"), "0|12|34");
  EXPECT_EQ(cut("chatglm-bpe", "01234"), "0|12|34");
  EXPECT_EQ(cut("qwen2", "1234"), "1|2|3|4");
  EXPECT_EQ(cut("default", "01234"), "0|12|34");
  EXPECT_EQ(cut("default", "a$12"), "a|$|12");
}

GgufTokens scored(const nlohmann::json& document) {
  GgufTokens tokens;
  tokens.model = "llama";
  tokens.tokens = document["tokens"].get<std::vector<std::string>>();
  tokens.scores = document["scores"].get<std::vector<float>>();
  tokens.token_types = document["token_types"].get<std::vector<std::int32_t>>();
  tokens.unknown = 0;
  tokens.bos = 1;
  tokens.eos = 2;
  return tokens;
}

TEST(Gguf, PairsByScoreAreCutAsSentencePieceDoes) {
  const auto document = read_json("sentencepiece.json");
  const Tokenizer tokenizer = make_tokenizer(scored(document));
  for (std::size_t i = 0; i < document["texts"].size(); ++i) {
    const std::string text = document["texts"][i];
    const Ids ids = document["ids"][i];
    EXPECT_EQ(tokenizer.encode(text, {.add_special = false}), ids) << text;
    EXPECT_EQ(tokenizer.decode(ids), text);
    EXPECT_EQ(streamed(tokenizer, ids, true), text);
    Ids with = ids;
    with.insert(with.begin(), 1);
    EXPECT_EQ(tokenizer.encode(text), with);
    EXPECT_EQ(tokenizer.decode(with), text);
  }
  EXPECT_EQ(tokenizer.bos_id(), 1);
  EXPECT_EQ(tokenizer.eos_id(), 2);
}

TEST(Gguf, SpecialTokensAndSpaces) {
  const auto document = read_json("sentencepiece.json");
  GgufTokens tokens = scored(document);
  const auto names = [&](const std::string& text, const EncodeOptions& options = {}) {
    const Tokenizer tokenizer = make_tokenizer(tokens);
    std::string all;
    for (const std::int64_t id : tokenizer.encode(text, options)) all += (all.empty() ? "" : "|") + tokenizer.token(id);
    return all;
  };
  EXPECT_EQ(names("a"), "<s>|▁a");
  EXPECT_EQ(names("a</s>a", {.parse_special = true}),
            "<s>|▁a|</s>|▁a");               // llama.cpp also puts a space after each special token
  EXPECT_EQ(names("<tool>"), "<s>|<tool>");  // user-defined tokens are not special
  EXPECT_EQ(names(""), "<s>");
  tokens.add_eos = true;
  tokens.add_bos = false;
  tokens.add_space_prefix = false;
  EXPECT_EQ(names("a"), "a|</s>");
  EXPECT_EQ(make_tokenizer(tokens).decode(Ids{make_tokenizer(tokens).id("▁a").value()}), " a");
  tokens.add_space_prefix = true;
  EXPECT_EQ(make_tokenizer(tokens).decode(Ids{make_tokenizer(tokens).id("▁a").value()}), "a");
}

// As in llama.cpp, which may also draw them.
TEST(Gguf, UnusedTokensAreNoText) {
  GgufTokens tokens;
  tokens.model = "llama";
  tokens.tokens = {"<s>", "a", "[PAD2]", "b"};
  tokens.scores = {0, 0, 0, 0};
  tokens.token_types = {3, 1, 5, 1};
  tokens.add_bos = false;
  tokens.add_space_prefix = false;
  const Tokenizer tokenizer = make_tokenizer(tokens);
  const Ids ids = {0, 2, 1, 2, 2, 3, 2};
  EXPECT_EQ(tokenizer.decode(ids), "ab");
  EXPECT_EQ(tokenizer.decode(ids, false), "<s>ab");
  EXPECT_EQ(tokenizer.token(2), "[PAD2]");
  TokenStream stream(tokenizer);
  std::string text;
  for (const std::int64_t id : ids) text += stream.put(id);
  EXPECT_EQ(text + stream.finish(), "ab");
}

// Compares with repeatedly searching for the best pair.
TEST(Gguf, TheHeapMergesAsAPlainSearchDoes) {
  std::mt19937 random(5);
  for (int round = 0; round < 50; ++round) {
    GgufTokens tokens;
    tokens.model = "llama";
    tokens.add_bos = false;
    tokens.add_space_prefix = false;
    const auto add = [&](const std::string& token) {
      if (std::find(tokens.tokens.begin(), tokens.tokens.end(), token) != tokens.tokens.end()) return;
      tokens.tokens.push_back(token);
      tokens.scores.push_back(static_cast<float>(random() % 7));  // many are equal
    };
    for (const char* letter : {"a", "b", "é"}) add(letter);
    for (int i = 0; i < 25; ++i)
      add(tokens.tokens[random() % tokens.tokens.size()] + tokens.tokens[random() % tokens.tokens.size()]);
    const Tokenizer tokenizer = make_tokenizer(tokens);
    std::vector<std::string> parts;
    std::string text;
    for (int i = 0; i < 40; ++i) text += parts.emplace_back(tokens.tokens[random() % 3]);
    for (;;) {
      std::size_t best = parts.size();
      float score = 0;
      for (std::size_t i = 0; i + 1 < parts.size(); ++i)
        if (const auto id = tokenizer.id(parts[i] + parts[i + 1])) {
          const float s = tokens.scores[static_cast<std::size_t>(*id)];
          if (best == parts.size() || s > score) {
            best = i;
            score = s;
          }
        }
      if (best == parts.size()) break;
      parts[best] += parts[best + 1];
      parts.erase(parts.begin() + static_cast<std::ptrdiff_t>(best) + 1);
    }
    Ids expected;
    for (const std::string& part : parts) expected.push_back(tokenizer.id(part).value());
    EXPECT_EQ(tokenizer.encode(text), expected) << text;
  }
}

TEST(Gguf, FilesHoldTokenizers) {
  const ::tests::Folder folder;
  const std::string text = read_text(tests::source_path("CONTRIBUTING.md"));
  const Tokenizer trained = train_byte_pairs(text, 500);
  io::write_gguf(folder / "trained.gguf", gguf_metadata(gguf_tokens(trained)), {});
  const Tokenizer read = load_tokenizer(folder / "trained.gguf");
  const Ids ids = trained.encode(text);
  EXPECT_EQ(read.encode(text), ids);
  EXPECT_EQ(read.decode(ids), text);
  EXPECT_EQ(read.bos_id(), 0);
  EXPECT_EQ(read.eos_id(), 0);
  EXPECT_EQ(read.vocabulary_size(), 500);
  const auto document = read_json("sentencepiece.json");
  GgufTokens tokens = scored(document);
  tokens.add_eos = true;
  io::write_gguf(folder / "scored.gguf", gguf_metadata(tokens), {});
  Ids expected = document["ids"][3];
  expected.insert(expected.begin(), 1);
  expected.push_back(2);
  EXPECT_EQ(load_tokenizer(folder / "scored.gguf").encode(std::string(document["texts"][3])), expected);

  io::write_gguf(folder / "none.gguf", {}, {});
  EXPECT_NE(message<FileError>([&] { load_tokenizer(folder / "none.gguf"); }).find("tokenizer.ggml.model"),
            std::string::npos);
  for (const char* name : {"unigram", "gpt2_prefix", "pieces_1"})
    EXPECT_NE(message<ValueError>([&] {
                gguf_tokens(load_tokenizer(data_path(std::string(name) + ".json")));
              }).find("which GGUF cannot store"),
              std::string::npos)
        << name;
  // a tokenizer from a GGUF file can be written to another
  io::write_gguf(folder / "again.gguf", gguf_metadata(gguf_tokens(read)), {});
  EXPECT_EQ(load_tokenizer(folder / "again.gguf").encode(text), ids);
  EXPECT_EQ(gguf_tokens(load_tokenizer(data_path("gpt2.json"))).tokens.size(), 400u);
}

TEST(Gguf, KeysThatAreNotUsedAreNamed) {
  const ::tests::Folder folder;
  const io::GgufMetadata metadata = gguf_metadata(gguf_tokens(load_tokenizer(data_path("gpt2.json"))));
  const auto said = [&](const std::string& key, const io::GgufValue& value) {
    io::GgufMetadata all = metadata;
    if (!key.empty()) all.emplace_back(key, value);
    io::write_gguf(folder / "one.gguf", all, {});
    testing::internal::CaptureStderr();
    load_tokenizer(folder / "one.gguf");
    return testing::internal::GetCapturedStderr();
  };
  EXPECT_EQ(said("", false), "");
  for (const char* key : {"tokenizer.ggml.add_sep_token", "tokenizer.ggml.normalizer.lowercase",
                          "tokenizer.ggml.remove_extra_whitespaces", "tokenizer.ggml.anything"}) {
    EXPECT_EQ(said(key, true), "catenary: " + (folder / "one.gguf") + ": not used: '" + key + "'\n");
    EXPECT_EQ(said(key, false), "");
  }
  EXPECT_NE(said("tokenizer.ggml.anything", std::uint32_t{0}).find("'tokenizer.ggml.anything'"), std::string::npos);
  for (const char* key : {"tokenizer.ggml.padding_token_id", "tokenizer.ggml.fim_pre_token_id"})
    EXPECT_EQ(said(key, std::uint32_t{3}), "");
}

TEST(Gguf, FilesHoldTheTokenizersOfModels) {
  const ::tests::Folder folder;
  const auto cases = read_json("cases.json");
  for (const char* name : {"gpt2", "llama3", "qwen2"}) {
    const Tokenizer whole = load_tokenizer(data_path(std::string(name) + ".json"));
    io::write_gguf(folder / "model.gguf", gguf_metadata(gguf_tokens(whole)), {});
    const Tokenizer read = load_tokenizer(folder / "model.gguf");
    int same = 0;
    for (const std::string text : cases["texts"]) {
      // GGUF does not apply the normalizer of tokenizer.json
      if (whole.decode(whole.encode(text, {.add_special = false}), false) != text) continue;
      ++same;
      EXPECT_EQ(read.encode(text), whole.encode(text)) << name << ": " << text;
    }
    EXPECT_GT(same, 20) << name;
  }
}

/// Compares a tokenizer with the one of its folder, on texts with and without special tokens.
void expect_saved(const GgufTokens& tokens, const std::vector<std::string>& texts) {
  const ::tests::Folder folder;
  const Tokenizer tokenizer = make_tokenizer(tokens, tokens.pre);
  tokenizer.save(folder / "saved");
  const Tokenizer saved = load_tokenizer(folder / "saved");
  EXPECT_EQ(saved.bos_id(), tokenizer.bos_id());
  EXPECT_EQ(saved.eos_id(), tokenizer.eos_id());
  EXPECT_EQ(saved.chat_template(), tokenizer.chat_template());
  EXPECT_EQ(saved.vocabulary_size(), tokenizer.vocabulary_size());
  for (const std::string& text : texts)
    for (const bool add : {false, true})
      for (const bool parse : {false, true}) {
        const Ids ids = tokenizer.encode(text, {.add_special = add, .parse_special = parse});
        EXPECT_EQ(saved.encode(text, {.add_special = add, .parse_special = parse}), ids) << tokens.pre << ": " << text;
        EXPECT_EQ(saved.decode(ids, parse), tokenizer.decode(ids, parse)) << tokens.pre << ": " << text;
      }
}

TEST(Gguf, TokenizersAreSavedIntoFolders) {
  const std::vector<std::string> texts = read_json("cases.json")["texts"];
  for (const auto& [name, pre] : {std::pair{"gpt2", "gpt-2"},
                                  {"llama3", "llama-bpe"},
                                  {"qwen2", "qwen2"},
                                  {"glm4", "glm4"},
                                  {"gpt2", "starcoder"},
                                  {"gpt2", "default"},
                                  {"gpt2", "falcon"},
                                  {"llama3", "tekken"},
                                  {"qwen2", "deepseek-v3"},
                                  {"gpt2", "bloom"},
                                  {"llama3", "gpt-4o"},
                                  {"gpt2", "kimi-k2"}}) {
    GgufTokens tokens = of_file(name, pre);
    tokens.bos = 0, tokens.eos = 1;
    tokens.add_bos = pre != std::string("gpt-2");
    tokens.add_eos = pre == std::string("qwen2");
    tokens.chat_template = "{{ messages }}";
    expect_saved(tokens, texts);
  }
  const auto document = read_json("sentencepiece.json");
  for (const bool prefix : {true, false}) {
    GgufTokens tokens = scored(document);
    tokens.add_space_prefix = prefix;
    expect_saved(tokens, document["texts"]);
    expect_saved(tokens, texts);
  }
}

// The second text of a pair has the type 1, as in the templates of `tokenizers`.
TEST(Gguf, SavedTemplatesTellTheTextsOfAPairApart) {
  const ::tests::Folder folder;
  GgufTokens tokens = of_file("gpt2", "gpt-2");
  tokens.bos = 0, tokens.eos = 1;
  tokens.add_bos = true, tokens.add_eos = true;
  make_tokenizer(tokens).save(folder / "saved");
  const auto saved = nlohmann::json::parse(read_text(folder / "saved/tokenizer.json"));
  const auto part = [](const char* kind, const std::string& id, int type) {
    return nlohmann::json{{kind, {{"id", id}, {"type_id", type}}}};
  };
  const std::string bos = tokens.tokens[0], eos = tokens.tokens[1];
  EXPECT_EQ(saved["post_processor"]["pair"],
            (nlohmann::json{part("SpecialToken", bos, 0), part("Sequence", "A", 0), part("SpecialToken", eos, 0),
                            part("SpecialToken", bos, 1), part("Sequence", "B", 1), part("SpecialToken", eos, 1)}));
}

/// A folder that was saved from a GGUF file becomes an equal GGUF file.
TEST(Gguf, SavedTokenizersBecomeGgufAgain) {
  const ::tests::Folder folder;
  for (const auto& [name, pre] :
       {std::pair{"gpt2", "gpt-2"}, {"llama3", "llama-bpe"}, {"qwen2", "qwen2"}, {"glm4", "glm4"}}) {
    GgufTokens tokens = of_file(name, pre);
    tokens.bos = 0, tokens.eos = 1, tokens.unknown = 2;
    tokens.add_bos = true, tokens.add_eos = false;
    make_tokenizer(tokens).save(folder / name);
    const GgufTokens again = gguf_tokens(load_tokenizer(folder / name));
    EXPECT_EQ(again.pre, pre);
    EXPECT_EQ(again.tokens, tokens.tokens);
    EXPECT_EQ(again.token_types, tokens.token_types);
    EXPECT_EQ(again.merges, tokens.merges);
    EXPECT_EQ(again.bos, 0);
    EXPECT_EQ(again.eos, 1);
    EXPECT_EQ(again.unknown, 2);
    EXPECT_EQ(again.add_bos, true);
    EXPECT_EQ(again.add_eos, false);
  }
}

TEST(Gguf, FoldersCannotHoldAllTokenizers) {
  const ::tests::Folder folder;
  const auto refusal = [&](const GgufTokens& tokens) {
    return message<ValueError>([&] { make_tokenizer(tokens, "file").save(folder / "x"); });
  };
  GgufTokens tokens = of_file("gpt2", "tiny_aya");
  tokens.add_bos = false;
  EXPECT_EQ(refusal(tokens),
            "Tokenizer::save: file: its words are those of tokenizer.ggml.pre = 'tiny_aya', which "
            "tokenizer.json cannot store");
  tokens.pre = "gpt-2";
  tokens.tokens.push_back(tokens.tokens[3]);
  tokens.token_types.push_back(1);
  EXPECT_NE(refusal(tokens).find("has two ids"), std::string::npos) << refusal(tokens);
  EXPECT_FALSE(std::filesystem::exists(folder / "x"));
}

TEST(Gguf, InconsistentFilesAreRefused) {
  const auto refusal = [](const std::function<void(GgufTokens&)>& change) {
    GgufTokens tokens;
    tokens.model = "gpt2";
    tokens.pre = "gpt-2";
    tokens.tokens = {"a", "b", "ab", "<s>"};
    tokens.token_types = {1, 1, 1, 3};
    tokens.merges = {"a b"};
    tokens.bos = 3;
    change(tokens);
    return message<FileError>([&] { make_tokenizer(tokens, "file"); });
  };
  EXPECT_EQ(refusal([](auto&) {}), "");
  EXPECT_EQ(refusal([](auto& t) { t.model = "bert"; }),
            "file: tokenizer.ggml.model: 'bert' is not supported; expected llama or gpt2");
  EXPECT_EQ(refusal([](auto& t) { t.pre = "x"; }).substr(0, 92),
            "file: tokenizer.ggml.pre: 'x' is not supported; expected one of default, llama-bpe, llama3, ");
  EXPECT_EQ(refusal([](auto& t) { t.tokens.clear(); }), "file: tokenizer.ggml.tokens: there are none");
  EXPECT_EQ(refusal([](auto& t) { t.tokens[0] = "\xff"; }), "file: tokenizer.ggml.tokens: the token 0 is not UTF-8");
  EXPECT_EQ(refusal([](auto& t) { t.token_types.pop_back(); }),
            "file: tokenizer.ggml.token_type: 3 types for 4 tokens");
  EXPECT_EQ(refusal([](auto& t) { t.token_types[1] = 9; }),
            "file: tokenizer.ggml.token_type: token 1 has the unknown type 9");
  EXPECT_EQ(refusal([](auto& t) { t.bos = 4; }), "file: tokenizer.ggml.bos_token_id: 4 is no id of 4 tokens");
  EXPECT_EQ(refusal([](auto& t) { t.merges = {"ab"}; }),
            "file: tokenizer.ggml.merges: the merge 0 is not two tokens: 'ab'");
  EXPECT_EQ(refusal([](auto& t) {  // the first token is a space
              t.tokens = {" ", "a", " a", "<s>"};
              t.merges = {"  a"};
            }),
            "");
  EXPECT_EQ(refusal([](auto& t) { t.merges = {"a c"}; }),
            "file: tokenizer.ggml.merges: a token of merge 0 is not among the tokens: 'a c'");
  EXPECT_EQ(refusal([](auto& t) {
              t.merges = {"a b", "b a"};
            }),
            "file: tokenizer.ggml.merges: merge 1: 'ba' is not in the vocabulary");
  EXPECT_EQ(refusal([](auto& t) { t.add_eos = true; }), "file: tokenizer.ggml.add_eos_token: eos_token_id is missing");
  EXPECT_EQ(refusal([](auto& t) { t.model = "llama"; }), "file: tokenizer.ggml.scores: 0 scores for 4 tokens");
  const Tokenizer tokenizer =
      make_tokenizer({.model = "llama", .pre = "", .tokens = {"a"}, .scores = {0}, .add_bos = false});
  EXPECT_EQ(message<ValueError>([&] { tokenizer.encode("b"); }).substr(0, 25), "the character E2 96 81 (i");
}

}  // namespace
}  // namespace catenary::tokenizers
