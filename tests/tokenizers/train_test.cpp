// Training of byte pairs, and concurrent use of tokenizers.

#include <atomic>
#include <nlohmann/json.hpp>
#include <thread>

#include "helpers.h"
#include "tests/folder.h"

namespace catenary::tokenizers {
namespace {

using namespace test;

TEST(TrainBytePairs, MakesTheTokensThatThePackageMakes) {
  const auto expected = nlohmann::json::parse(read_text(data_path("trained.json")));
  for (const auto& row : expected) {
    const std::string text = row["text"];
    const Tokenizer tokenizer = train_byte_pairs(
        text, row["size"], {.special = row["special"].get<std::vector<std::string>>(), .min_count = row["min_count"]});
    std::vector<std::string> tokens;
    for (std::int64_t id = 0; id < tokenizer.vocabulary_size(); ++id) tokens.push_back(tokenizer.token(id));
    EXPECT_EQ(tokens, row["tokens"].get<std::vector<std::string>>());
    EXPECT_EQ(tokenizer.decode(tokenizer.encode(text)), text);
    const Ids ids = tokenizer.encode(text);
    EXPECT_EQ(static_cast<std::int64_t>(ids.size()), row["count"].get<std::int64_t>());
  }
}

TEST(TrainBytePairs, SavesWhatItReadsAgain) {
  const ::tests::Folder folder;
  const std::string text = read_text(tests::source_path("README.md"));
  const Tokenizer trained = train_byte_pairs(text, 400, {.special = {"<|endoftext|>", "<|\"\\|>"}});
  EXPECT_EQ(trained.vocabulary_size(), 400);
  EXPECT_EQ(trained.bos_id(), 0);
  EXPECT_EQ(trained.eos_id(), 0);
  trained.save(folder / "new/model");
  const Tokenizer read = load_tokenizer(folder / "new/model");
  EXPECT_EQ(read.eos_id(), 0);
  EXPECT_EQ(read.encode(text), trained.encode(text));
  EXPECT_EQ(read.encode("a<|\"\\|>", {.parse_special = true}).back(), 1);
}

TEST(TrainBytePairs, Edges) {
  EXPECT_EQ(train_byte_pairs("", 257).vocabulary_size(), 257);
  EXPECT_EQ(train_byte_pairs("", 10000).vocabulary_size(), 257);  // no pair is left
  EXPECT_EQ(train_byte_pairs("ab ab", 10000, {.special = {}}).vocabulary_size(), 257);
  EXPECT_FALSE(train_byte_pairs("", 256, {.special = {}}).eos_id());
  EXPECT_EQ(train_byte_pairs("aaaa aaaa", 300).decode(train_byte_pairs("aaaa aaaa", 300).encode("aaaaa\xff")),
            "aaaaa\ufffd");
  EXPECT_NE(message<ValueError>([] { train_byte_pairs("", 256); }).find("256 bytes and 1 special tokens need 257"),
            std::string::npos);
  EXPECT_THROW(train_byte_pairs("", -1), ValueError);
  EXPECT_THROW(train_byte_pairs("", 300, {.special = {""}}), ValueError);
  EXPECT_THROW(train_byte_pairs("", 300, {.special = {"\xff"}}), ValueError);
  EXPECT_THROW(train_byte_pairs("", 300, {.special = {"x!", "x!"}}), ValueError);
  EXPECT_THROW(train_byte_pairs("", 300, {.special = {"a"}}), ValueError);
}

TEST(Tokenizer, ManyThreadsUseOne) {
  const Tokenizer tokenizer = load_tokenizer(data_path("llama3.json"));
  const std::string text = read_text(tests::source_path("CONTRIBUTING.md"));
  const Ids expected = load_tokenizer(data_path("llama3.json")).encode(text);
  std::atomic<int> wrong = 0;
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&] {
      const Tokenizer copy = tokenizer;
      for (int i = 0; i < 5; ++i) wrong += copy.encode(text) != expected || copy.decode(expected) != text;
    });
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(wrong, 0);
}

}  // namespace
}  // namespace catenary::tokenizers
