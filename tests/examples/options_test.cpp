// Messages for invalid command lines: printed once, with the expected values.

#include <gtest/gtest.h>

#include <algorithm>
#include <sstream>
#include <string>
#include <vector>

#include "catenary/core/os/process.h"
#include "tests/paths.h"

namespace ct = catenary;

namespace {

ct::os::ProcessResult run(std::vector<std::string> command,
                          const std::vector<std::pair<std::string, std::string>>& environment = {}) {
  command.front() = tests::build_path("bin/") + command.front();
  return ct::os::run_process(command, {.timeout = 300, .environment = environment});
}

TEST(Options, DeviceOfEveryProgram) {
  const std::vector<std::vector<std::string>> programs = {{"train_mnist"},
                                                          {"train_mnist_deep"},
                                                          {"custom_loop"},
                                                          {"linear_regression"},
                                                          {"nms"},
                                                          {"gemm"},
                                                          {"tensor_core"},
                                                          {"train_csv", "none.csv", "label"},
                                                          {"train_images", "none"},
                                                          {"catenary", "bench", "copy"},
                                                          {"reference-check", "none"}};
  for (const std::vector<std::string>& program : programs) {
    for (const char* option : {"-d", "--device"}) {
      std::vector<std::string> command = program;
      command.insert(command.end(), {option, "abacus:3"});
      const ct::os::ProcessResult result = run(command);
      EXPECT_EQ(result.exit_code, program[0] == "reference-check" ? 2 : 1) << program[0];
      EXPECT_NE(result.errors.find("device 'abacus:3' is not a device name; expected cpu, cuda:N"), std::string::npos)
          << program[0] << ": " << result.errors;
      EXPECT_EQ(std::count(result.errors.begin(), result.errors.end(), '\n'), 1) << result.errors;
    }
  }
}

TEST(Options, NumbersThatAreNone) {
  const std::vector<std::pair<std::vector<std::string>, std::string>> cases = {
      {{"-e", "abc"}, "train_mnist: --epoch: expected a whole number from 1 to 1000000, got 'abc'"},
      {{"-e", "1.5"}, "train_mnist: --epoch: expected a whole number from 1 to 1000000, got '1.5'"},
      {{"-e", "0"}, "train_mnist: --epoch: expected a whole number from 1 to 1000000, got '0'"},
      {{"-f", "-2"}, "train_mnist: --frequency: expected a whole number from -1 to 1000000, got '-2'"},
      {{"--seed", "-1"}, "train_mnist: --seed: expected a whole number of at least 0, got '-1'"},
      {{"--seed", "18446744073709551616"},
       "train_mnist: --seed: expected a whole number of at least 0, got '18446744073709551616'"},
      {{"-m", "cnm"}, "train_mnist: --model: expected mlp or cnn, got 'cnm'; did you mean 'cnn'?"},
      {{"-e"}, "train_mnist: --epoch needs a value"},
      {{"more"}, "train_mnist: unexpected argument 'more'"},
      {{"inference", "-n", "abc"},
       "train_mnist inference: --images: expected a whole number from 0 to 1000000, got 'abc'"}};
  for (const auto& [arguments, words] : cases) {
    std::vector<std::string> command = {"train_mnist"};
    command.insert(command.end(), arguments.begin(), arguments.end());
    const ct::os::ProcessResult result = run(command);
    EXPECT_EQ(result.exit_code, 2);
    const std::string program = words.substr(0, words.find(':'));
    EXPECT_EQ(result.errors, words + " (" + program + " --help lists the options)\n");
    EXPECT_EQ(result.output, "");
  }
}

/// The programs with options, and each of their subcommands.
std::vector<std::vector<std::string>> all_commands() {
  std::vector<std::vector<std::string>> commands = {{"train_mnist", "inference"}};
  for (const char* name : {"custom_loop", "gemm", "gpt", "linear_regression", "multi_gpu", "nms", "ptb", "tensor_core",
                           "train_cifar", "train_csv", "train_images", "train_mnist", "train_mnist_deep",
                           "train_mnist_mn", "train_mnist_model_parallel", "check-kernels", "reference-check"})
    commands.push_back({name});
  for (const char* name : {"info", "devices", "inspect", "convert", "generate", "run", "quantize", "doctor", "cache",
                           "bench", "data", "launch"})
    commands.push_back({"catenary", name});
  commands.push_back({"catenary", "data", "fetch"});
  return commands;
}

std::vector<std::string> with(std::vector<std::string> command, const std::vector<std::string>& more) {
  command.insert(command.end(), more.begin(), more.end());
  return command;
}

// The help shows which options take numbers or one of several words. Each must report the expected and the given value.
TEST(Options, EveryNumberSaysWhatItExpects) {
  int checked = 0;
  for (const std::vector<std::string>& command : all_commands()) {
    std::istringstream help(run(with(command, {"--help"})).output);
    for (std::string line; std::getline(help, line);) {
      const std::size_t name = line.find("--");
      if (name == std::string::npos || line.find_first_not_of(' ') > 4) continue;
      const std::size_t end = line.find_first_of(" ,=", name);
      const bool typed = line.find(" INT") != std::string::npos || line.find(" UINT") != std::string::npos ||
                         line.find(" FLOAT") != std::string::npos || line.find(":{") != std::string::npos;
      if (end == std::string::npos || !typed) continue;
      const std::string option = line.substr(name, end - name);
      const ct::os::ProcessResult result = run(with(command, {option, "abc"}));
      EXPECT_EQ(result.exit_code, 2) << command.back() << " " << option;
      EXPECT_NE(result.errors.find(option + ": expected "), std::string::npos) << result.errors;
      EXPECT_NE(result.errors.find(", got 'abc'"), std::string::npos) << result.errors;
      EXPECT_EQ(std::count(result.errors.begin(), result.errors.end(), '\n'), 1) << result.errors;
      ++checked;
    }
  }
  EXPECT_GT(checked, 80);
}

TEST(Options, EveryHelpShowsAnExample) {
  for (const std::vector<std::string>& command : all_commands()) {
    const std::string help = run(with(command, {"--help"})).output, example = "Example: ";
    const std::size_t at = help.find(example);
    ASSERT_NE(at, std::string::npos) << command.back() << "\n" << help;
    EXPECT_NE(help.find(command.front(), at + example.size()), std::string::npos) << help;
  }
}

TEST(Options, NearestNameIsSuggested) {
  const std::vector<std::pair<std::vector<std::string>, std::string>> cases = {
      {{"train_mnist", "--epochs", "3"}, "train_mnist: there is no option --epochs; did you mean --epoch?"},
      {{"train_mnist", "--epochs=3"}, "train_mnist: there is no option --epochs; did you mean --epoch?"},
      {{"train_csv", "x.csv", "y", "--eopch", "3"}, "train_csv: there is no option --eopch; did you mean --epoch?"},
      {{"train_images", "x", "--batch-size", "3"},
       "train_images: there is no option --batch-size; did you mean --batchsize?"},
      {{"train_images", "x", "--gpu", "0"}, "train_images: there is no option --gpu; did you mean --device?"},
      {{"train_mnist_deep", "--units", "3"}, "train_mnist_deep: there is no option --units; did you mean --unit?"},
      {{"ptb", "--dev", "cpu"}, "ptb: there is no option --dev; did you mean --device?"},
      {{"gpt", "--temp", "0.5"}, "gpt: there is no option --temp; did you mean --temperature?"},
      {{"catenary", "generate", "model", "-p", "x", "--temp", "0.5"},
       "catenary generate: there is no option --temp; did you mean --temperature?"},
      {{"catenary", "generate", "--temp", "0.5"},  // the model is missing, too
       "catenary generate: there is no option --temp; did you mean --temperature?"},
      {{"catenary", "launch", "--np", "4", "x"}, "catenary launch: there is no option --np; did you mean --ranks?"},
      {{"train_mnist", "--xylophone"}, "train_mnist: there is no option --xylophone"},
      {{"catenary", "doktor"}, "doctor, cache, bench, data or launch, got 'doktor'; did you mean 'doctor'?"}};
  for (const auto& [command, words] : cases) {
    const ct::os::ProcessResult result = run(command);
    EXPECT_EQ(result.exit_code, 2) << words;
    EXPECT_NE(result.errors.find(words), std::string::npos) << result.errors;
    EXPECT_EQ(std::count(result.errors.begin(), result.errors.end(), '\n'), 1) << result.errors;
  }
  for (const std::vector<std::string>& command : all_commands()) {
    if (command.back() == "launch") continue;  // its remaining arguments belong to a program
    const ct::os::ProcessResult result = run(with(command, {"--hepl"}));
    EXPECT_EQ(result.exit_code, 2) << command.back();
    EXPECT_NE(result.errors.find("--hepl; did you mean --help?"), std::string::npos) << result.errors;
  }
}

TEST(Options, VariablesThatMakeNoSense) {
  for (const auto& [name, value] : std::vector<std::pair<std::string, std::string>>{
           {"CATENARY_TRACE", "foo"}, {"CATENARY_NUM_THREADS", "abc"}, {"CATENARY_SIMD", "v9"}}) {
    for (const std::string program : {"train_mnist", "linear_regression", "custom_loop"}) {
      const ct::os::ProcessResult result = run({program}, {{name, value}});
      EXPECT_EQ(result.exit_code, 1);
      EXPECT_TRUE(result.errors.starts_with(program + ": " + name + "=" + value + ": expected ")) << result.errors;
      EXPECT_EQ(std::count(result.errors.begin(), result.errors.end(), '\n'), 1) << result.errors;
    }
  }
}

}  // namespace
