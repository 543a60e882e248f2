// How `make test` and `make check-kernels` report missing devices and compilers.

#include <gtest/gtest.h>
#include <unistd.h>

#include <fstream>
#include <iterator>

#include "catenary/core/os/file.h"
#include "catenary/core/os/process.h"
#include "tests/paths.h"
#include "tests/texts.h"

namespace os = catenary::os;

namespace {

using tests::has;

class Columns : public testing::Test {
 protected:
  void SetUp() override { folder_ = os::make_temporary_directory("catenary-columns"); }
  void TearDown() override { os::remove_directory(folder_); }

  void write(const std::string& name, const std::string& text) const {
    const std::string path = folder_ + "/" + name;
    os::make_directories(path.substr(0, path.rfind('/')));
    os::write_file(path, text);
  }
  std::string read(const std::string& name) const {
    std::ifstream file(folder_ + "/" + name);
    return {std::istreambuf_iterator<char>(file), {}};
  }
  os::ProcessResult op_table(const std::vector<std::string>& columns, const std::string& share = "1") const {
    std::vector<std::string> command = {tests::source_path("scripts/op_table"), folder_};
    command.insert(command.end(), columns.begin(), columns.end());
    return os::run_process(command, {.timeout = 60, .environment = {{"CATENARY_TEST_SHARE", share}}});
  }
  os::ProcessResult count_tests(const std::string& ci) const {
    return os::run_process({tests::source_path("scripts/count_tests"), folder_},
                           {.timeout = 60, .environment = {{"CI", ci}}});
  }
  os::ProcessResult check_kernels(const std::vector<std::string>& options, const std::string& libraries) const {
    std::vector<std::string> command = {tests::build_path("bin/check-kernels"), folder_};
    command.insert(command.end(), options.begin(), options.end());
    return os::run_process(command, {.timeout = 120, .environment = {{"LD_LIBRARY_PATH", libraries}}});
  }

  std::string folder_;
};

int count(const std::string& text, const std::string& piece) {
  int n = 0;
  for (std::size_t at = text.find(piece); at != std::string::npos; at = text.find(piece, at + 1)) ++n;
  return n;
}

TEST_F(Columns, OpTableComparesThemByTheirNames) {
  write("cpu.array.ops", "op cpu add 4\n");
  write("opencl.array.ops", "op opencl:0 add 2\nop cpu add 1\nop opencl:1 sort 1\n");
  write("other.array.ops", "op opencl:0 add 3\n");
  const os::ProcessResult result = op_table({"cpu", "opencl", "other"});
  EXPECT_EQ(result.exit_code, 0) << result.output;
  EXPECT_TRUE(has(result.output, "add                                 5            2            3\n")) << result.output;
  EXPECT_TRUE(has(result.output, "1 operations, 3 columns, 0 missing\n")) << result.output;
}

TEST_F(Columns, OpTableNamesAnOperationThatAColumnLacks) {
  write("cpu.array.ops", "op cpu add 4\nop cpu sort 1\n");
  write("opencl.array.ops", "op opencl:0 add 2\n");
  const os::ProcessResult result = op_table({"cpu", "opencl"});
  EXPECT_EQ(result.exit_code, 1);
  EXPECT_TRUE(has(result.output, "   MISSING on opencl\n")) << result.output;
}

TEST_F(Columns, OpTableComparesOnlyTheChosenShare) {
  write("cpu.array.ops", "op cpu add 4\nop cpu sort 1\nop cpu take 1\n");
  write("one.array.ops", "op opencl:0 add 2\nop opencl:0 take 2\n");
  write("two.array.ops", "op cuda:0 add 2\nop cpu take 2\n");
  os::ProcessResult result = op_table({"cpu", "one", "two"}, "0.25");
  EXPECT_EQ(result.exit_code, 1);
  EXPECT_EQ(count(result.output, "MISSING"), 1) << result.output;
  EXPECT_TRUE(has(result.output, "take                                3            2            0   MISSING on two\n"))
      << result.output;
  EXPECT_TRUE(has(result.output, "3 operations, 3 columns, 1 missing of what was chosen: a share of 0.25\n"))
      << result.output;
  write("two.array.ops", "op cuda:0 add 2\nop cuda:0 take 2\n");
  result = op_table({"cpu", "one", "two"}, "0.25");
  EXPECT_EQ(result.exit_code, 0) << result.output;
}

TEST_F(Columns, OpTableNamesAColumnWithoutCounts) {
  write("cpu.array.ops", "op cpu add 4\n");
  write("opencl.array.ops", "op cpu add 2\n");  // all other operations ran elsewhere
  const os::ProcessResult result = op_table({"cpu", "opencl"});
  EXPECT_EQ(result.exit_code, 1);
  EXPECT_TRUE(result.output.ends_with("op_table: the column opencl left no counts in " + folder_ + "\n"))
      << result.output;
}

TEST_F(Columns, SanitizersRunEveryRoomOfTheLibrary) {
  std::ifstream file(tests::source_path(".ci/run"));
  const std::string script(std::istreambuf_iterator<char>(file), {});
  EXPECT_TRUE(has(script, "scripts/check_layers --rooms"));
  const std::string rooms =
      "\n" + os::run_process({tests::source_path("scripts/check_layers"), "--rooms"}, {.timeout = 60}).output;
  for (const std::string& folder : os::list_directory(tests::source_path("tests"))) {
    const bool is_room = os::is_directory(tests::source_path("catenary/" + folder));
    EXPECT_EQ(has(rooms, "\n" + folder + "\n"), is_room) << folder << ":" << rooms;
  }
}

TEST_F(Columns, MissingColumnsAreListedLastAndFailInCI) {
  write("test-results/ctest.xml", "<testcase name=\"layers\" classname=\"layers\" time=\"1\" status=\"run\">\n");
  os::ProcessResult result = count_tests("1");
  EXPECT_EQ(result.exit_code, 0);
  EXPECT_EQ(result.output, "1 passed, 0 failed\n");

  write("columns", "opencl on opencl:0: PoCL is not installed\n");
  result = count_tests("");
  EXPECT_EQ(result.exit_code, 0);
  EXPECT_EQ(result.output, "not run: opencl on opencl:0: PoCL is not installed\n1 passed, 0 failed\n");
  result = count_tests("1");
  EXPECT_EQ(result.exit_code, 1);
  EXPECT_EQ(result.output, "not run: opencl on opencl:0: PoCL is not installed\n1 passed, 1 failed\n");
}

TEST_F(Columns, FailuresAreSummarisedInAFewLines) {
  const auto what_failed = [&](const std::string& log, const std::string& lines) {
    write("log", log);
    return os::run_process({tests::source_path("scripts/failure_summary"), folder_ + "/log", lines}, {.timeout = 60})
        .output;
  };
  const std::string log =
      "      Start 1: one\n"
      "1/4 Test #1: one ...***Failed    2.00 sec\n"
      "[ RUN      ] A.B\n"
      "/a/b_test.cpp:12: Failure\n"
      "Value of: x\n"
      "[  FAILED  ] A.B (3 ms)\n"
      "[ RUN      ] A.C\n"
      "[       OK ] A.C (3 ms)\n"
      "      Start 2: two\n"
      "2/4 Test #2: two ...   Passed    2.00 sec\n"
      "3/4 Test #3: three ...***Timeout    2.00 sec\n"
      "[ RUN      ] D.E\n"
      "4/4 Test #4: four ...***Failed    2.00 sec\n"
      "words\n"
      "\n"
      "25% tests passed, 3 tests failed out of 4\n";
  const std::string names =
      "1/4 Test #1: one ...***Failed    2.00 sec\n"
      "[  FAILED  ] A.B (3 ms)\n"
      "3/4 Test #3: three ...***Timeout    2.00 sec\n"
      "4/4 Test #4: four ...***Failed    2.00 sec\n";
  EXPECT_EQ(what_failed(log, "40"), "/a/b_test.cpp:12: Failure\nValue of: x\n[ RUN      ] D.E\nwords\n" + names);
  EXPECT_EQ(count(what_failed(log, "6"), "\n"), 6);
  EXPECT_EQ(
      what_failed("____ test_a ____\n    x()\nE   ValueError: a\nFAILED a_test.py::test_a - ValueError: a\n", "40"),
      "E   ValueError: a\nFAILED a_test.py::test_a - ValueError: a\n");
  EXPECT_EQ(what_failed("a.cpp:1:2: error: no\nninja: build stopped\n", "40"),
            "a.cpp:1:2: error: no\nninja: build stopped\n");
  EXPECT_EQ(what_failed("1 passed, 0 failed\n", "40"), "");
}

// A build folder with two ctest tests: one of GoogleTest, which fails in the first run, and one of a script.
TEST_F(Columns, TestsThatFailedRunFirstUntilTheyPass) {
  write("CTestTestfile.cmake",
        "add_test(room sh -c \"echo $GTEST_FILTER >> filters; test -f mended\")\n"
        "add_test(script sh -c \"echo $CATENARY_TEST_SHARE $CATENARY_TEST_TURN >> parts; test -f mended\")\n");
  write("test-results/ctest.xml",
        "<testsuite><testcase name=\"room\" status=\"fail\"/><testcase name=\"script\" status=\"fail\"/>"
        "<testcase name=\"other\" status=\"run\"/></testsuite>");
  write("test-results/room.xml",
        "<testsuites><testsuite><testcase name=\"Fails\" classname=\"Suite\"><failure/></testcase>"
        "<testcase name=\"Passes\" classname=\"Suite\"/></testsuite></testsuites>");
  const auto failed_tests = [&](const std::string& what) {
    return os::run_process(
        {tests::source_path("scripts/failed_tests"), what, folder_, folder_ + "/state/failed"},
        {.timeout = 60, .environment = {{"CATENARY_TEST_SHARE", "0.5"}, {"CATENARY_TEST_TURN", "3"}}});
  };
  EXPECT_TRUE(failed_tests("run").output.ends_with("0 passed, 0 failed\n"));
  EXPECT_TRUE(failed_tests("record").ok());
  os::ProcessResult result = failed_tests("run");
  EXPECT_EQ(result.exit_code, 1) << result.output << result.errors;
  EXPECT_TRUE(result.output.ends_with("\n0 passed, 2 failed\n")) << result.output;
  EXPECT_EQ(read("filters"), "Suite.Fails\n");
  EXPECT_EQ(read("parts"), "0.5 3\n");
  EXPECT_TRUE(failed_tests("record").ok());  // known entries are listed once
  write("mended", "");
  result = failed_tests("run");
  EXPECT_TRUE(result.output.ends_with("\n2 passed, 0 failed\n")) << result.output;
  EXPECT_TRUE(failed_tests("run").output.ends_with("0 passed, 0 failed\n"));
}

TEST_F(Columns, CheckKernelsTakesOneChipOfEachVendorInTurn) {
  write("fine.kernel", "kernel fine\n\nint two() { return 2; }\n");
  const std::string libraries = tests::build_path("simgpu/cuda") + ":" + tests::build_path("simgpu/hip");
  os::ProcessResult result = check_kernels({"--turn", "20"}, libraries);
  EXPECT_EQ(result.exit_code, 0) << result.output << result.errors;
  EXPECT_EQ(count(result.output, "\nsm_120"), 1) << result.output;  // the last of seven
  EXPECT_EQ(count(result.output, "\nsm_"), 1) << result.output;
  EXPECT_EQ(count(result.output, "\ngfx906"), 1) << result.output;  // the third of six
  EXPECT_EQ(count(result.output, "\ngfx"), 1) << result.output;
  EXPECT_TRUE(result.output.ends_with("\n2 passed, 0 failed\n")) << result.output;

  write("wrong.kernel", "kernel wrong\n\nint two( {\n");
  result = check_kernels({"--turn", "20"}, libraries);
  EXPECT_EQ(result.exit_code, 1);
  EXPECT_EQ(count(result.output, "wrong ("), 2) << result.output;
  EXPECT_TRUE(result.output.ends_with("\n2 passed, 2 failed\n")) << result.output;
}

TEST_F(Columns, CheckKernelsFailsWithoutACompiler) {
  write("fine.kernel", "kernel fine\n\nint two() { return 2; }\n");
  for (const char* version : {"13", "12", "11.2"}) {  // a library of another kind, found before an installed one
    const std::string link = folder_ + "/libnvrtc.so." + version;
    ASSERT_EQ(::symlink(tests::build_path("stand_ins/mpi/libmpi.so.40").c_str(), link.c_str()), 0);
  }
  const os::ProcessResult result =
      check_kernels({"--archs", "sm_80,gfx1030"}, folder_ + ":" + tests::build_path("simgpu/hip"));
  EXPECT_EQ(result.exit_code, 1);
  EXPECT_TRUE(has(result.output, "\ngfx1030         1 passed      0 failed\nnot compiled for sm_80: "))
      << result.output;
  EXPECT_TRUE(result.output.ends_with("\n1 passed, 1 failed\n")) << result.output;
}

}  // namespace
