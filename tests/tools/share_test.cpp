// Parts of the tests: CATENARY_TEST_SHARE and CATENARY_TEST_TURN, in all test programs and in reference-check.

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

os::ProcessResult run(std::vector<std::string> command, const std::string& share, const std::string& turn) {
  return os::run_process(
      command, {.timeout = 60,
                .environment = {{"CATENARY_TEST_SHARE", share}, {"CATENARY_TEST_TURN", turn}, {"GTEST_OUTPUT", ""}}});
}

/// The selected tests of this program.
std::set<std::string> chosen(const std::string& share, const std::string& turn, const std::string& filter = "*") {
  const os::ProcessResult result =
      run({os::program_path(), "--gtest_list_tests", "--gtest_filter=" + filter}, share, turn);
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

TEST(Share, TurnsInARowRunEveryTestOnce) {
  const std::set<std::string> all = chosen("", "");
  EXPECT_GT(all.size(), 60u);
  EXPECT_EQ(chosen("1", "5"), all);
  std::set<std::string> seen;
  std::size_t count = 0;
  for (int turn = 1234; turn < 1234 + 4; ++turn) {
    const std::set<std::string> some = chosen("0.25", std::to_string(turn));
    EXPECT_GT(some.size(), all.size() / 10);
    EXPECT_LT(some.size(), all.size() / 2);
    EXPECT_EQ(chosen("0.25", std::to_string(turn + 4)), some);
    seen.insert(some.begin(), some.end());
    count += some.size();
  }
  EXPECT_EQ(seen, all);
  EXPECT_EQ(count, all.size());
}

TEST(Share, IsAShareOfTheFilteredTests) {
  const std::set<std::string> some = chosen("0.5", "1"), filtered = chosen("0.5", "1", "*-Share.*:Doctor*");
  EXPECT_LT(filtered.size(), some.size());
  for (const std::string& name : some)
    EXPECT_EQ(filtered.contains(name), !name.starts_with("Share.") && !name.starts_with("Doctor")) << name;
  for (const char* turn : {"0", "1", "2"}) EXPECT_EQ(chosen("0", turn, "Share.*").size(), 1u);
}

/// Run by the next test in a separate process.
TEST(InsideShare, ProgramsThatATestStartsRunWhole) {
  EXPECT_EQ(std::getenv("CATENARY_TEST_SHARE"), nullptr);
  EXPECT_EQ(std::getenv("CATENARY_TEST_TURN"), nullptr);
}

TEST(Share, TakesOneUnlessItMayBeEmpty) {
  const tests::Share none(0, 7);
  const std::vector<bool> chosen = none.choose({"a", "b", "c"});
  EXPECT_EQ(std::count(chosen.begin(), chosen.end(), true), 1);
  EXPECT_TRUE(none.choose({}).empty());
  EXPECT_EQ(none.choose({"a", "b", "c"}, true), std::vector<bool>(3));
}

TEST(Share, AnySizeHasWholeParts) {
  std::vector<std::string> names;
  for (int i = 0; i < 1000; ++i) names.push_back(std::to_string(i));
  for (const auto& [size, parts] : {std::pair{0.3, 4u}, {0.08, 13u}, {0.05, 20u}, {0.0417, 24u}, {1.0, 1u}}) {
    EXPECT_EQ(tests::Share(size, 0).parts(), parts) << size;
    std::vector<int> count(names.size());
    for (std::uint64_t turn = 100; turn < 100 + parts; ++turn) {
      const std::vector<bool> chosen = tests::Share(size, turn).choose(names);
      for (std::size_t i = 0; i < names.size(); ++i) count[i] += chosen[i];
    }
    EXPECT_EQ(std::count(count.begin(), count.end(), 1), 1000) << size;
  }
}

TEST(Share, PythonHasTheSameRule) {  // as in python/tests/package/share_test.py
  EXPECT_NEAR(tests::Share::place("Room.Test"), 0.695364, 1e-6);
  EXPECT_EQ(tests::Share(0.05, 27).words(), "part 8 of 20");
}

TEST(Share, IsSaid) {
  const std::vector<std::string> command = {os::program_path(), "--gtest_filter=InsideShare.*"};
  const os::ProcessResult result = run(command, "0.25", "730");
  EXPECT_TRUE(result.ok()) << result.output;
  EXPECT_NE(result.output.find("part 3 of 4: 1 of 1 tests\n"), std::string::npos) << result.output;
  for (const char* wrong : {"1.5", "-1", "half", "nan"}) {
    const os::ProcessResult refused = run(command, wrong, "");
    EXPECT_EQ(refused.exit_code, 2) << wrong;
    EXPECT_EQ(refused.errors, std::string("CATENARY_TEST_SHARE=") + wrong + ": a share is a number from 0 to 1\n");
  }
  for (const char* wrong : {"-1", "1.5", "bc9da4d", "1234567890123456789"}) {
    const os::ProcessResult refused = run(command, "0.5", wrong);
    EXPECT_EQ(refused.exit_code, 2) << wrong;
    EXPECT_EQ(refused.errors,
              std::string("CATENARY_TEST_TURN=") + wrong + ": a turn is a whole number of at most 18 digits\n");
  }
}

TEST(Share, OfReferenceVectors) {
  const std::vector<std::string> command = {tests::build_path("bin/reference-check"),
                                            tests::source_path("tests/data/reference/chainer/optimizers")};
  const os::ProcessResult all = run(command, "", ""), some = run(command, "0.3", "2"), same = run(command, "0.3", "6");
  const auto lines = [](const os::ProcessResult& result) {
    return std::count(result.output.begin(), result.output.end(), '\n');
  };
  EXPECT_TRUE(all.ok() && some.ok()) << some.output << some.errors;
  EXPECT_GT(lines(all), 20);
  EXPECT_GT(lines(some), 1);
  EXPECT_LT(lines(some), lines(all));
  EXPECT_EQ(same.output, some.output);
  EXPECT_NE(some.errors.find("part 3 of 4: "), std::string::npos) << some.errors;

  std::vector<std::string> command16 = command;
  command16.insert(command16.end(), {"--dtype", "bfloat16"});
  EXPECT_EQ(lines(run(command16, "0.3", "2")), lines(some));
  EXPECT_EQ(lines(run(command16, "", "")), lines(all));
}

}  // namespace
