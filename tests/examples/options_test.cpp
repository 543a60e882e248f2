// What the programs say to a command line that makes no sense: once, and with what was expected.

#include <gtest/gtest.h>

#include <algorithm>
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
      {{"-e", "abc"}, "--epoch: Value abc not in range 1 to 1000000\n"},
      {{"-f", "abc"}, "--frequency: Value abc not in range -1 to 1000000\n"},
      {{"--seed", "abc"}, "--seed: Value abc not in range 0 to 18446744073709551615\n"},
      {{"inference", "-n", "abc"}, "--images: Value abc not in range 0 to 1000000\n"}};
  for (const auto& [arguments, words] : cases) {
    std::vector<std::string> command = {"train_mnist"};
    command.insert(command.end(), arguments.begin(), arguments.end());
    const ct::os::ProcessResult result = run(command);
    EXPECT_EQ(result.exit_code, 2);
    EXPECT_EQ(result.errors, words + "Run with --help for more information.\n");
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
