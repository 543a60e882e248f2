// Tests by shares: CATENARY_TEST_SHARE and CATENARY_TEST_SEED, in the main of every room and in reference-check.

#include "tests/share.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <set>
#include <sstream>

#include "catenary/core/os/process.h"
#include "tests/paths.h"

namespace os = catenary::os;

namespace {

os::ProcessResult run(std::vector<std::string> command, const std::string& share, const std::string& seed) {
  return os::run_process(
      command, {.timeout = 60,
                .environment = {{"CATENARY_TEST_SHARE", share}, {"CATENARY_TEST_SEED", seed}, {"GTEST_OUTPUT", ""}}});
}

/// The tests of this program that are left.
std::set<std::string> chosen(const std::string& share, const std::string& seed, const std::string& filter = "*") {
  const os::ProcessResult result =
      run({os::program_path(), "--gtest_list_tests", "--gtest_filter=" + filter}, share, seed);
  EXPECT_TRUE(result.ok()) << result.output << result.errors;
  std::set<std::string> names;
  std::istringstream lines(result.output);
  std::string suite;
  for (std::string line; std::getline(lines, line);) {
    if (line.ends_with(".")) suite = line;
    if (line.starts_with("  ")) names.insert(suite + line.substr(2));
  }
  return names;
}

TEST(Share, IsTheSameForTheSameSeed) {
  const std::set<std::string> all = chosen("", "a"), some = chosen("0.3", "a"), more = chosen("0.6", "a");
  EXPECT_GT(all.size(), 60u);
  EXPECT_EQ(chosen("1", "a"), all);
  EXPECT_GT(some.size(), all.size() / 10);
  EXPECT_LT(some.size(), all.size() / 2);
  EXPECT_EQ(chosen("0.3", "a"), some);
  EXPECT_NE(chosen("0.3", "b"), some);
  EXPECT_TRUE(std::includes(more.begin(), more.end(), some.begin(), some.end()));
}

TEST(Share, IsOfWhatTheFilterLeaves) {
  const std::set<std::string> some = chosen("0.5", "a"), filtered = chosen("0.5", "a", "*-Share.*:Doctor*");
  EXPECT_LT(filtered.size(), some.size());
  for (const std::string& name : some)
    EXPECT_EQ(filtered.contains(name), !name.starts_with("Share.") && !name.starts_with("Doctor")) << name;
  for (const char* seed : {"a", "b", "c"}) EXPECT_EQ(chosen("0", seed, "Share.*").size(), 1u);
}

/// Run by the next one in a process of its own.
TEST(InsideShare, WhatATestStartsRunsWhole) {
  EXPECT_EQ(std::getenv("CATENARY_TEST_SHARE"), nullptr);
  EXPECT_EQ(std::getenv("CATENARY_TEST_SEED"), nullptr);
}

TEST(Share, TakesOneAtLeastAndAnyTestInTheEnd) {
  const tests::Share none(0, "seed");
  const std::vector<bool> chosen = none.choose({"a", "b", "c"});
  EXPECT_EQ(std::count(chosen.begin(), chosen.end(), true), 1);
  EXPECT_TRUE(none.choose({}).empty());
  std::set<std::size_t> seen;
  for (int i = 0; i < 200; ++i) {
    const std::vector<bool> by_seed = tests::Share(0, std::to_string(i)).choose({"a", "b", "c"});
    for (std::size_t j = 0; j < 3; ++j)
      if (by_seed[j]) seen.insert(j);
  }
  EXPECT_EQ(seen.size(), 3u);
  EXPECT_NEAR(tests::Share(1, "seed").place("Room.Test"), 0.477211, 1e-6);  // as in python/tests/share_test.py
}

TEST(Share, IsSaid) {
  const std::vector<std::string> command = {os::program_path(), "--gtest_filter=InsideShare.*"};
  const os::ProcessResult result = run(command, "0.25", "730f7fc");
  EXPECT_TRUE(result.ok()) << result.output;
  EXPECT_NE(result.output.find("share 0.25 of seed '730f7fc': 1 of 1 tests\n"), std::string::npos) << result.output;
  for (const char* wrong : {"1.5", "-1", "half", "nan"}) {
    const os::ProcessResult refused = run(command, wrong, "");
    EXPECT_EQ(refused.exit_code, 2) << wrong;
    EXPECT_EQ(refused.errors, std::string("CATENARY_TEST_SHARE=") + wrong + ": a share is a number from 0 to 1\n");
  }
}

TEST(Share, OfReferenceVectors) {
  const std::vector<std::string> command = {tests::build_path("bin/reference-check"),
                                            tests::source_path("tests/data/reference/chainer/optimizers")};
  const os::ProcessResult all = run(command, "", ""), some = run(command, "0.3", "a"), same = run(command, "0.3", "a");
  const auto lines = [](const os::ProcessResult& result) {
    return std::count(result.output.begin(), result.output.end(), '\n');
  };
  EXPECT_TRUE(all.ok() && some.ok()) << some.output << some.errors;
  EXPECT_GT(lines(all), 20);
  EXPECT_GT(lines(some), 1);
  EXPECT_LT(lines(some), lines(all));
  EXPECT_EQ(same.output, some.output);
  EXPECT_NE(some.errors.find("share 0.3 of seed 'a': "), std::string::npos) << some.errors;

  // in 16 bits a third of the share, which other words choose for each dtype
  std::vector<std::string> command16 = command;
  command16.insert(command16.end(), {"--dtype", "bfloat16"});
  const os::ProcessResult narrow = run(command16, "0.3", "a");
  EXPECT_TRUE(narrow.ok()) << narrow.output << narrow.errors;
  EXPECT_NE(narrow.errors.find("share 0.1 of seed 'abfloat16': "), std::string::npos) << narrow.errors;
  EXPECT_EQ(lines(run(command16, "", "")), lines(all));
}

}  // namespace
