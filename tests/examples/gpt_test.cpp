// Runs examples/gpt as a user would.

#include <fmt/format.h>

#include <filesystem>
#include <fstream>

#include "catenary/catenary.h"
#include "catenary/core/os/file.h"
#include "catenary/io/gguf.h"
#include "catenary/io/safetensors.h"
#include "tests/examples/helpers.h"
#include "tests/folder.h"

namespace ct = catenary;

namespace {

using namespace examples;
using tests::Folder;

std::string text() { return tests::source_path("docs/guide/tutorial.md"); }

/// A small training, as in docs/guide/tutorial.md.
std::vector<std::string> small(std::vector<std::string> more) {
  std::vector<std::string> all = {text(), "-l", "32", "-w", "32", "-n", "1", "--heads", "2", "-b", "4", "-t", "16"};
  all.insert(all.end(), more.begin(), more.end());
  return all;
}

/// The number of samples, one per report.
int samples_in(const std::string& output) {
  int samples = 0;
  for (std::size_t at = 0; (at = output.find(" it writes ---", at)) != std::string::npos; ++at) ++samples;
  return samples;
}

TEST(Gpt, LearnsATextAndWrites) {
  const Folder folder;
  const std::string out = folder / "gpt";
  const std::vector<std::string> settings = {text(), "-l", "64", "-w",  "64",     "-n",   "2",  "--heads", "4",
                                             "-b",   "8",  "-s", "120", "--rate", "3e-3", "-t", "40"};
  const auto with = [&](std::vector<std::string> more) {
    more.insert(more.begin(), settings.begin(), settings.end());
    return more;
  };
  const std::string whole = output_of("gpt", with({"-o", out, "--sample", "20"}));
  EXPECT_TRUE(has(whole, "tokens of 257\n")) << whole;
  EXPECT_TRUE(has(whole, "# batch: 8 x 64 tokens")) << whole;
  const auto log = log_of(out);
  EXPECT_LT(log[9]["validation/main/loss"].get<double>(), 3.5) << whole;
  EXPECT_LT(log[9]["main/loss"].get<double>(), log[0]["main/loss"].get<double>() - 1);
  EXPECT_EQ(samples_in(whole), 10) << whole;
  const auto write = [&](const char* temperature) {
    return output_of("gpt", {"-o", out, "--prompt", "The ", "-t", "20", "--temperature", temperature});
  };
  const std::string likely = write("0");
  EXPECT_EQ(likely.size(), 4 + 20 + 1u) << likely;
  EXPECT_TRUE(likely.starts_with("The ")) << likely;
  EXPECT_EQ(likely, write("0"));
  EXPECT_EQ(write("1"), write("1"));
  // the command generates equal text from both files
  for (const std::string& file : {out, out + "/model.gguf"})
    EXPECT_EQ("The " + output_of("catenary", {"generate", file, "--prompt", "The ", "-n", "20", "--temperature", "0"}),
              likely);
  EXPECT_TRUE(has(error_of("gpt", {"-o", folder / "none", "--prompt", "x"}), "config.json is missing"));
  EXPECT_TRUE(has(error_of("gpt", {text(), "-l", "100000", "-o", out}), "has no window of 100001"));
}

TEST(Gpt, MakesItsVocabulary) {
  const Folder folder;
  const std::string out = folder / "gpt";
  const std::string said = output_of("gpt", small({"-v", "400", "-s", "60", "--sample", "0", "-o", out}));
  EXPECT_TRUE(has(said, "tokens of 400\n")) << said;
  EXPECT_FALSE(has(said, "it writes ---")) << said;
  const auto log = log_of(out);
  EXPECT_LT(log[9]["main/loss"].get<double>(), log[0]["main/loss"].get<double>() - 0.2);
  EXPECT_EQ(ct::io::SafetensorsReader(out + "/model.safetensors").tensor("transformer.wte.weight").shape,
            (ct::Shape{400, 32}));
  EXPECT_EQ(ct::io::GgufReader(out + "/model.gguf").texts("tokenizer.ggml.tokens").size(), 400u);
  const std::vector<std::string> rest = {"--prompt", "The ", "-n", "9", "--temperature", "0"};
  std::vector<std::string> all = {"generate", out};
  all.insert(all.end(), rest.begin(), rest.end());
  const std::string of_folder = output_of("catenary", all);
  all[1] += "/model.gguf";
  EXPECT_EQ(of_folder, output_of("catenary", all));
  EXPECT_EQ("The " + of_folder, output_of("gpt", {"-o", out, "--prompt", "The ", "-t", "9", "--temperature", "0"}));
  // single bytes need no UTF-8, pairs of bytes do
  ct::os::write_file(folder / "bytes", std::string(300, '\xe9'));
  const std::vector<std::string> few = {
      folder / "bytes", "-l", "4", "-w", "8", "-n", "1", "--heads", "1", "-b", "2", "-s", "2", "-o", folder / "b"};
  EXPECT_TRUE(has(output_of("gpt", few), "300 bytes, 300 tokens of 257"));
  std::vector<std::string> words = few;
  words.insert(words.end(), {"-v", "300"});
  EXPECT_TRUE(has(error_of("gpt", words), "is not UTF-8"));
  EXPECT_TRUE(has(error_of("gpt", small({"-v", "256"}), 2),
                  "--vocabulary: expected 0 or a whole number from 257 to 1000000, got '256'"));
}

TEST(Gpt, SixteenBits) {
  const Folder folder;
  for (const std::string dtype : {"mixed16", "bfloat16"}) {
    const std::string out = folder / dtype;
    output_of("gpt", small({"--dtype", dtype, "-s", "40", "-o", out, "--sample", "0"}));
    const auto log = log_of(out);
    EXPECT_LT(log[9]["main/loss"].get<double>(), log[0]["main/loss"].get<double>() - 0.2) << dtype;
    const ct::io::SafetensorsReader weights(out + "/model.safetensors");
    EXPECT_EQ(weights.tensor("transformer.wte.weight").dtype_name, dtype == "mixed16" ? "F16" : "BF16");
    EXPECT_EQ(ct::io::GgufReader(out + "/model.gguf").tensor("blk.0.attn_norm.weight").dtype, ct::Dtype::float32);
    EXPECT_FALSE(output_of("gpt", {"-o", out, "--prompt", "The ", "-t", "9"}).empty());
  }
}

/// Starts the command in the background, kills it some time after the first matching snapshot, and waits.
void kill_after_a_snapshot(const std::string& command, const std::string& snapshot, const std::string& seconds) {
  const std::string script = fmt::format(
      "{} >/dev/null 2>&1 & pid=$!; for i in $(seq 3000); do ls {} >/dev/null 2>&1 && break; sleep 0.02; done; sleep "
      "{}; "
      "kill -KILL $pid && wait $pid; [ $? = 137 ]",
      command, snapshot, seconds);
  const ct::os::ProcessResult result = ct::os::run_process({"bash", "-c", script}, {.timeout = 300});
  EXPECT_TRUE(result.ok()) << command << result.errors;
}

TEST(Gpt, AKilledTrainingGoesOnBitForBit) {
  const Folder folder;
  const std::string gpt = tests::build_path("bin/gpt"),
                    launch = tests::build_path("bin/catenary") + " launch -n 2 " + gpt;
  for (const bool several : {false, true}) {
    const std::string whole = folder / (several ? "whole2" : "whole"), parts = folder / (several ? "parts2" : "parts");
    const auto training = [&](const std::string& out, const char* more) {
      return fmt::format("{} {} -l 32 -w 32 -n 1 --heads 2 -b 4 -t 16 -s 300 --report 20 --dropout 0.1 -v 300 -o {} {}",
                         several ? launch : gpt, text(), out, more);
    };
    const auto run_whole = [&](const std::string& command) {
      const ct::os::ProcessResult result = ct::os::run_process({"bash", "-c", command}, {.timeout = 300});
      EXPECT_TRUE(result.ok()) << result.errors;
      return result.output;
    };
    run_whole(training(whole, ""));
    // at an arbitrary time
    kill_after_a_snapshot(training(parts, ""), parts + (several ? "/gpt.1.*" : "/snapshot_iter_*"), "0.07");
    EXPECT_FALSE(ct::os::exists(parts + "/model.safetensors"));
    const int left = samples_in(run_whole(training(parts, "--newest")));  // not from the beginning
    EXPECT_GT(left, 0);
    EXPECT_LT(left, 15);
    EXPECT_EQ(ct::os::read_file(parts + "/model.safetensors"), ct::os::read_file(whole + "/model.safetensors"));
    EXPECT_EQ(ct::os::read_file(parts + "/model.gguf"), ct::os::read_file(whole + "/model.gguf"));
    auto log = log_of(parts), expected = log_of(whole);
    ASSERT_EQ(log.size(), expected.size());
    for (std::size_t i = 0; i < log.size(); ++i) {
      log[i].erase("elapsed_time");
      expected[i].erase("elapsed_time");
      EXPECT_EQ(log[i], expected[i]) << i;
    }
    // also by name
    if (!several) {
      const std::string again = folder / "again";
      const std::string last = parts + "/snapshot_iter_300";
      run_whole(training(again, ("-r " + last).c_str()));
      EXPECT_EQ(ct::os::read_file(again + "/model.safetensors"), ct::os::read_file(whole + "/model.safetensors"));
    } else {
      EXPECT_TRUE(has(
          error_of("catenary", {"launch", "-n", "2", gpt, text(), "-s", "2", "-o", folder / "x", "-r", folder / "y"}),
          "contains no complete set of checkpoints"));
    }
  }
}

TEST(Gpt, BadOptionsAreRefusedBeforeTraining) {
  const Folder folder;
  const auto said = [&](const std::vector<std::string>& more, int code) {
    std::vector<std::string> all = small({"-s", "2", "-o", folder / "x"});
    all.insert(all.end(), more.begin(), more.end());
    const ct::os::ProcessResult result = run("gpt", all);
    EXPECT_EQ(result.exit_code, code) << result.output;
    EXPECT_EQ(result.output, "");
    EXPECT_FALSE(ct::os::exists(folder / "x"));
    return result.errors;
  };
  EXPECT_TRUE(has(said({"--dtype", "float64"}, 2),
                  "--dtype: expected float32, float16, bfloat16, mixed16 or mixed_bf16, got 'float64'"));
  EXPECT_TRUE(has(said({"--top-p", "0"}, 2), "--top-p: expected a number from 1e-06 to 1, got '0'"));
  const ct::os::ProcessResult one =
      run("gpt", {text(), "-l", "1", "-w", "8", "-n", "1", "--heads", "1", "-s", "2", "-o", folder / "x"});
  EXPECT_EQ(one.exit_code, 2);
  EXPECT_TRUE(has(one.errors, "--context: expected a whole number from 2 to 1000000000, got '1'")) << one.errors;
  // if the environment asks for it
  std::vector<std::string> all = small({"-s", "2", "-o", folder / "x"});
  all.insert(all.begin(), tests::build_path("bin/gpt"));
  const ct::os::ProcessResult asked =
      ct::os::run_process(all, {.timeout = 300, .environment = {{"CATENARY_DTYPE", "float64"}}});
  EXPECT_EQ(asked.exit_code, 1);
  EXPECT_TRUE(has(asked.errors, "float64 weights cannot be saved")) << asked.errors;
  EXPECT_FALSE(ct::os::exists(folder / "x"));
  // the smallest model that works
  output_of("gpt", {text(), "-l", "2", "-w", "8", "-n", "1", "--heads", "1", "-s", "2", "-t", "1", "--top-p", "0.001",
                    "-o", folder / "two"});
}

TEST(Gpt, AnotherNumberOfProcessesDoesNotGoOn) {
  const Folder folder;
  const auto train = [&](int processes, const std::string& out, const char* steps, bool newest) {
    std::vector<std::string> all = small({"-s", steps, "--sample", "0", "-o", out});
    if (newest) all.emplace_back("--newest");
    if (processes == 1) return run("gpt", all);
    all.insert(all.begin(), {"launch", "-n", std::to_string(processes), tests::build_path("bin/gpt")});
    return run("catenary", all);
  };
  for (const int before : {1, 2}) {
    const std::string out = folder / std::to_string(before);
    ASSERT_TRUE(train(before, out, "4", false).ok());
    const auto model = ct::os::read_file(out + "/model.safetensors");
    for (const int now : {1, 2, 3}) {
      if (now == before) continue;
      const ct::os::ProcessResult result = train(now, out, "6", true);
      EXPECT_EQ(result.exit_code, 1) << before << " " << now;
      const std::string words =
          fmt::format("were made by {}, and there are {} now", before == 1 ? "1 process" : "2 ranks", now);
      EXPECT_TRUE(has(result.errors, words)) << result.errors;
      EXPECT_EQ(ct::os::read_file(out + "/model.safetensors"), model);
    }
    EXPECT_TRUE(train(before, out, "6", true).ok());
    EXPECT_NE(ct::os::read_file(out + "/model.safetensors"), model);
    // a new training in this folder has the newest snapshot
    ASSERT_TRUE(train(3 - before, out, "4", false).ok());
    EXPECT_TRUE(train(3 - before, out, "6", true).ok());
  }
}

/// The commands in a document's chapter, one per line.
std::string commands_of(const std::string& document, const std::string& chapter) {
  std::ifstream lines(tests::source_path(document));
  std::string commands;
  bool in_chapter = false, in_block = false;
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with("## ")) in_chapter = line == "## " + chapter;
    if (!in_chapter) continue;
    if (line.starts_with("```")) {
      in_block = line == "```sh";
    } else if (in_block) {
      commands += line + "\n";
    }
  }
  return commands;
}

// Runs docs/guide/language-models.md, with fewer steps and a small random model instead of the downloaded one.
TEST(Gpt, FromATextFileToAChat) {
  namespace L = ct::links;
  const Folder folder;
  std::filesystem::copy(text(), folder / "book.txt");
  const auto tokens = ct::train_byte_pairs("why is the sky blue", 290, {.special = {"<|im_end|>", "<|im_start|>"}});
  L::save_language_model(
      folder / "Qwen2.5-0.5B-Instruct",
      L::Llama({.vocabulary = 290, .context = 90, .width = 32, .layers = 1, .heads = 2, .hidden = 32, .tied = true}),
      {.tokenizer = tokens});
  folder.write("Qwen2.5-0.5B-Instruct/tokenizer_config.json", R"({"chat_template": "<|im_start|>{{ m.role }}"})");
  std::string commands = commands_of("docs/guide/language-models.md", "From a text file to a chat");
  const std::string steps = "-s 1500";
  ASSERT_TRUE(has(commands, steps)) << commands;
  commands.replace(commands.find(steps), steps.size(), "-s 2 --windows 2");
  EXPECT_EQ(std::ranges::count(commands, '\n'), 8) << commands;
  folder.write("commands", commands);
  folder.write("messages", "Why is the sky blue?\n");
  const ct::os::ProcessResult result = ct::os::run_process(
      {"sh", "-c", "cd " + folder.path + " && PATH=" + tests::build_path("bin") + ":$PATH sh -eu commands <messages"},
      {.timeout = 300});
  EXPECT_TRUE(result.ok()) << result.output << result.errors;
  EXPECT_TRUE(has(error_of("catenary", {"generate", folder / "book", "--chat"}), "no known chat form"));
}

TEST(Gpt, TheWeightsThatItBeginsWith) {
  const Folder folder;
  output_of("gpt", small({"-s", "0", "-o", folder / "a", "--seed", "3"}));
  output_of("gpt", small({"-s", "0", "-o", folder / "b", "--seed", "3"}));
  output_of("gpt", small({"-s", "0", "-o", folder / "c", "--seed", "4"}));
  const auto weights = [&](const char* name) {
    return ct::os::read_file(folder / (std::string(name) + "/model.safetensors"));
  };
  EXPECT_EQ(weights("a"), weights("b"));
  EXPECT_NE(weights("a"), weights("c"));
}

}  // namespace
