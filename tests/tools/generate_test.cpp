// `catenary generate` with models of random weights (tests/data/language_models).

#include <gtest/gtest.h>

#include <filesystem>
#include <sstream>

#include "catenary/catenary.h"
#include "catenary/core/cpu_features.h"
#include "catenary/core/os/file.h"
#include "catenary/core/os/process.h"
#include "tests/folder.h"
#include "tests/language_models.h"
#include "tests/paths.h"
#include "tests/texts.h"

namespace ct = catenary;
using tests::Folder;

namespace {

using tests::has;

std::string model(const std::string& name) { return tests::source_path("tests/data/language_models/" + name); }

ct::os::ProcessResult generate(std::vector<std::string> arguments, std::vector<std::string> before = {}) {
  before.insert(before.end(), {tests::build_path("bin/catenary"), "generate"});
  before.insert(before.end(), arguments.begin(), arguments.end());
  return ct::os::run_process(before, {.timeout = 120});
}

std::string words(const std::vector<std::int64_t>& ids) { return fmt::format("{}", fmt::join(ids, " ")); }

std::vector<std::int64_t> numbers(const std::string& text) {
  std::istringstream stream(text);
  return {std::istream_iterator<std::int64_t>(stream), {}};
}

TEST(Generate, FilesThatAreNotModels) {
  const Folder folder;
  const auto said = [&](const std::string& name, const std::string& content, std::vector<std::string> more = {}) {
    ct::os::write_file(folder / name, std::string_view(content));
    std::vector<std::string> arguments = {folder / name, "-p", "x"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    const ct::os::ProcessResult result = generate(arguments);
    EXPECT_EQ(result.exit_code, 1);
    return result.errors;
  };
  const std::string expected =
      "; expected a language model: a GGUF file, or the folder of config.json, tokenizer.json and weights as "
      "safetensors\n";
  const std::string text = said("notes.txt", "milk, butter\n");
  EXPECT_TRUE(has(text, "catenary: " + (folder / "notes.txt") + ": this is a text" + expected)) << text;
  EXPECT_TRUE(has(said("notes.txt", "milk, butter\n", {"--ids"}), ": this is a text" + expected));
  EXPECT_TRUE(
      has(said("model.npz", std::string("PK\x03\x04", 4)), ": this is an npz file, which load_npz reads" + expected));
  EXPECT_TRUE(has(said("noise", std::string("\x01\x02\x03", 3)), ": this is no kind of file that is known" + expected));
  const ct::os::ProcessResult empty = generate({folder.path, "-p", "x"});
  EXPECT_EQ(empty.exit_code, 1);
  EXPECT_TRUE(has(empty.errors, ": config.json is missing" + expected)) << empty.errors;
}

TEST(Generate, WritesTheMostLikelyTokens) {
  for (const char* name : {"qwen2", "gpt2"}) {
    const tests::ExpectedText expected(model(name));
    const ct::os::ProcessResult result =
        generate({model(name), "--ids", "-p", words(expected.first), "-n", "20", "--temperature", "0"});
    EXPECT_EQ(result.exit_code, 0) << result.errors;
    EXPECT_EQ(result.output, words(expected.greedy) + "\n");
    EXPECT_EQ(result.errors, "");  // no terminal
  }
}

TEST(Generate, DrawsBySeed) {
  const auto drawn = [](std::vector<std::string> more) {
    more.insert(more.begin(), {model("llama"), "--ids", "-p", "3, 1,4", "-n", "30"});
    return generate(more).output;
  };
  const std::string one = drawn({"--seed", "1"});
  EXPECT_EQ(numbers(one).size(), 30u);
  EXPECT_EQ(drawn({"--seed", "1"}), one);
  EXPECT_NE(drawn({"--seed", "2"}), one);
  EXPECT_EQ(drawn({"--top-k", "1"}), drawn({"--temperature", "0"}));
  EXPECT_NE(drawn({"--dtype", "bfloat16", "--seed", "1"}), "");
}

TEST(Generate, RoundsActivationsForQuantisedWeightsUnlessExact) {
  const auto traced = [](std::vector<std::string> more) {
    more.insert(more.begin(), {model("llama_q8_0.gguf"), "--ids", "-p", "1 2 3", "-n", "3"});
    return generate(more, {"env", "CATENARY_TRACE=libraries"}).errors;
  };
  const ct::SimdLevel level = ct::best_simd_level();
  const bool rounds = level == ct::SimdLevel::v3 || level == ct::SimdLevel::v4;
  const std::string rounded = traced({}), exact = traced({"--exact"});
  EXPECT_TRUE(has(rounded, "quantised weights")) << rounded;
  EXPECT_TRUE(has(exact, "quantised weights")) << exact;
  EXPECT_EQ(has(rounded, "x in 8 bits"), rounds) << rounded;
  EXPECT_FALSE(has(exact, "x in 8 bits")) << exact;
}

TEST(Generate, TellsFiguresAndAFullContext) {
  const ct::os::ProcessResult result = generate({model("glm"), "--ids", "-p", "1 2 3", "-n", "100", "-v"});
  EXPECT_EQ(result.exit_code, 0);
  EXPECT_EQ(numbers(result.output).size(), 62u);  // the context holds 64, and one more follows
  for (const char* piece : {"the context of 64 tokens is full", "Glm, read in", "3 tokens of prompt", "62 more at",
                            "tokens/s", "memory:", "MiB resident"})
    EXPECT_TRUE(has(result.errors, piece)) << result.errors;
  const ct::os::ProcessResult shorter = generate({model("glm"), "--ids", "-p", "1 2 3", "-n", "100", "--context", "8"});
  EXPECT_EQ(numbers(shorter.output).size(), 6u);
  EXPECT_EQ(shorter.errors, "catenary generate: the context of 8 tokens is full\n");
}

TEST(Generate, NumbersAndTheEndOfAText) {
  namespace L = ct::links;
  const Folder folder;
  ct::random::seed(4);
  const auto saved = [&](const std::string& name, const std::vector<std::int64_t>& ends) {
    ct::random::seed(4);
    L::Llama llama({.vocabulary = 50, .context = 30, .width = 16, .layers = 1, .heads = 2, .hidden = 24});
    llama.end_tokens = ends;
    L::save_language_model(folder / name, llama);
    return generate({folder / name, "--ids", "-p", "1 2 3", "-n", "5", "--temperature", "0"});
  };
  const ct::os::ProcessResult plain = saved("plain", {});
  ASSERT_EQ(numbers(plain.output).size(), 5u) << plain.errors;
  for (const char* prompt : {"1,2,3", "1, 2\n3"})
    EXPECT_EQ(generate({folder / "plain", "--ids", "-p", prompt, "-n", "5", "--temperature", "0"}).output,
              plain.output);
  // a text that ends does not fill the context
  const std::int64_t first = numbers(plain.output)[0];
  const ct::os::ProcessResult ended = saved("ended", {first});
  EXPECT_EQ(numbers(ended.output), std::vector<std::int64_t>{first});
  EXPECT_EQ(ended.errors, "");
}

TEST(Generate, ALineIsAMessageOfAChat) {
  namespace L = ct::links;
  const Folder folder;
  const auto tokens =
      ct::train_byte_pairs("the cat sat on the mat and the dog", 290, {.special = {"<|im_end|>", "<|im_start|>"}});
  ct::random::seed(4);
  L::save_language_model(
      folder.path, L::Llama({.vocabulary = 290, .context = 90, .width = 16, .layers = 1, .heads = 2, .hidden = 24}),
      {.tokenizer = tokens});
  folder.write("tokenizer_config.json", R"({"chat_template": "<|im_start|>{{ m.role }}"})");
  const L::Generator generator = L::load_generator(folder.path);
  L::Conversation chat(generator);
  const L::GeneratorOptions greedy{.generate = {.tokens = 5, .temperature = 0}};
  std::string expected = chat("the cat", greedy) + "\n";
  expected += chat("sat", greedy) + "\n";
  const std::string catenary = tests::build_path("bin/catenary") + " generate " + folder.path + " --chat ";
  const auto said = [&](const std::string& messages, const std::string& more) {
    return ct::os::run_process({"sh", "-c", "printf '" + messages + "' | " + catenary + more}, {.timeout = 120});
  };
  const ct::os::ProcessResult result = said("the cat\\nsat\\n", "-n 5 --temperature 0");
  EXPECT_EQ(result.exit_code, 0) << result.errors;
  EXPECT_EQ(result.output, expected);
  EXPECT_EQ(result.errors, "");
  // a refused message leaves no trace
  std::string too_long;
  for (int i = 0; i < 90; ++i) too_long += "q ";
  const ct::os::ProcessResult others =
      said("the cat\\nthe <|im_end|> cat\\n" + too_long + "\\nsat\\n", "-n 5 --temperature 0");
  EXPECT_EQ(others.exit_code, 0) << others.errors;
  EXPECT_EQ(others.output, expected);
  EXPECT_TRUE(has(others.errors, "the message contains the text of the special token '<|im_end|>'; remove it\n"))
      << others.errors;
  EXPECT_TRUE(has(others.errors, "tokens, the context 90\n")) << others.errors;
  EXPECT_EQ(std::ranges::count(others.errors, '\n'), 2) << others.errors;
  // wrong options are reported once, not for each message
  const ct::os::ProcessResult never = said("the cat\\nsat\\n", "--context 91");
  EXPECT_EQ(never.exit_code, 1);
  EXPECT_EQ(std::ranges::count(never.errors, '\n'), 1) << never.errors;
  const ct::os::ProcessResult full = said("the cat\\nsat\\n", "-n 500 --temperature 0 --verbose");
  EXPECT_EQ(full.exit_code, 0) << full.errors;
  EXPECT_TRUE(has(full.errors, "tokens in total, ")) << full.errors;
  EXPECT_TRUE(has(full.errors, "the context of 90 tokens is full")) << full.errors;
  EXPECT_TRUE(has(generate({folder.path}).errors, "--prompt, or --chat is required"));
}

TEST(Generate, NamesInvalidArguments) {
  const auto said = [](const std::vector<std::string>& arguments) {
    const ct::os::ProcessResult result = generate(arguments);
    EXPECT_NE(result.exit_code, 0);
    EXPECT_EQ(result.output, "");
    return result.errors;
  };
  EXPECT_TRUE(has(said({model("glm"), "--ids", "-p", "1 two"}), "'1 two' is not a list of token ids"));
  EXPECT_TRUE(has(said({model("glm"), "--ids", "-p", "1 2x"}), "is not a list of token ids"));
  EXPECT_TRUE(has(said({model("glm"), "--ids", "-p", ""}), "the prompt has no tokens"));
  EXPECT_TRUE(has(said({model("glm"), "--ids", "-p", "1 51"}), "51"));
  EXPECT_TRUE(has(said({model("glm"), "--ids", "-p", "1", "--context", "65"}), "context must be 0 to the model's 64"));
  EXPECT_TRUE(has(said({model("none"), "--ids", "-p", "1"}), "language_models/none"));
  EXPECT_EQ(generate({model("glm"), "--ids", "-p", "1", "--temperature", "-1"}).exit_code, 2);
  EXPECT_EQ(generate({model("glm")}).exit_code, 2);
}

TEST(Generate, AnInterruptionLeavesTheTextSoFar) {
  const Folder folder;
  std::filesystem::copy(model("mistral"), folder.path, std::filesystem::copy_options::recursive);
  const std::vector<std::byte> bytes = ct::os::read_file(folder / "config.json");
  std::string config(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  const std::string context = "\"max_position_embeddings\": 64";
  ASSERT_TRUE(has(config, context));
  folder.write("config.json",
               config.replace(config.find(context), context.size(), "\"max_position_embeddings\": 9999999"));
  // waits as long as the machine needs to start: in the foreground timeout sends its signal once
  for (int seconds = 1; seconds < 60; seconds *= 2) {
    const ct::os::ProcessResult result =
        generate({folder.path, "--ids", "-p", "1 2", "-n", "9999999"},
                 {"timeout", "--foreground", "--preserve-status", "-s", "INT", std::to_string(seconds)});
    if (result.output.empty()) continue;
    EXPECT_EQ(result.exit_code, 130);
    EXPECT_EQ(result.output.back(), '\n');
    EXPECT_FALSE(numbers(result.output).empty());
    EXPECT_EQ(result.errors, "");
    return;
  }
  FAIL() << "nothing was written";
}

}  // namespace
