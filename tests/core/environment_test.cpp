#include "catenary/core/environment.h"

#include <gtest/gtest.h>

#include <string>

#include "catenary/core/os/process.h"
#include "tests/texts.h"

namespace catenary {
namespace {

TEST(Environment, IsFine) { EXPECT_NO_THROW(environment::check()); }

/// Runs a process with this variable and returns its output.
os::ProcessResult with(const std::string& name, const std::string& value) {
  return os::run_process({os::program_path(), "--gtest_filter=Environment.IsFine"},
                         {.timeout = 60, .environment = {{name, value}, {"GTEST_OUTPUT", ""}}});
}

TEST(Environment, NamesThatNothingReadsAreToldOnce) {
  os::ProcessResult result = with("CATENARY_CUPYCPU", "1");
  EXPECT_TRUE(result.ok()) << result.output;
  EXPECT_EQ(result.errors,
            "catenary: unknown environment variable CATENARY_CUPYCPU; did you mean CATENARY_CUPY_CPU?\n");
  EXPECT_EQ(with("CATENARY_NUM_THREAD", "1").errors,
            "catenary: unknown environment variable CATENARY_NUM_THREAD; did you mean "
            "CATENARY_NUM_THREADS?\n");
  EXPECT_EQ(with("CATENARY_SOMETHING_ELSE_AT_ALL", "1").errors,
            "catenary: unknown environment variable CATENARY_SOMETHING_ELSE_AT_ALL\n");
  for (const char* const name : {"CATENARY_CUPY", "CATENARY_CHAINER", "CATENARY_TEST_ANYTHING", "CATENARY_CUPY_CPU"})
    EXPECT_EQ(with(name, "1").errors, "") << name;
}

TEST(Environment, ValuesThatAreNotUtf8NameTheirVariables) {
  for (const char* const value : {"a\xff", "a\xc3", "a\xe0\x80\x80", "a\xed\xa0\x80", "a\xf8\x88\x80\x80\x80"}) {
    const os::ProcessResult result = with("CATENARY_CACHE_DIR", value);
    EXPECT_FALSE(result.ok());
    EXPECT_TRUE(tests::has(result.output, "CATENARY_CACHE_DIR: its value is not UTF-8: byte 1 is 0x")) << result.output;
  }
  for (const char* const value : {"/tmp/\xc3\xa9", "/tmp/\xe2\x82\xac", "/tmp/\xf0\x9f\x99\x82"})
    EXPECT_TRUE(with("CATENARY_CACHE_DIR", value).ok()) << value;
}

}  // namespace
}  // namespace catenary
