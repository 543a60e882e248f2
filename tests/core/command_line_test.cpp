// The errors that programs report at their end, on standard error.

#include "catenary/core/command_line.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <new>
#include <stdexcept>

#include "catenary/core/error.h"
#include "tests/texts.h"

namespace catenary {
namespace {

std::string said(const std::exception& error) {
  testing::internal::CaptureStderr();
  EXPECT_EQ(command_line::failure("program", error), 1);
  return testing::internal::GetCapturedStderr();
}

TEST(Failure, IsTheProgramsNameAndTheMessage) {
  EXPECT_EQ(said(ValueError("3 is too many")), "program: 3 is too many\n");
}

/// The text of std::bad_alloc is its name, and that of std::length_error a function's of the standard library.
TEST(Failure, TellsHowMuchMemoryIsUsed) {
  for (const std::string& text : {said(std::bad_alloc()), said(std::bad_array_new_length()),
                                  said(std::length_error("vector::_M_default_append"))}) {
    EXPECT_TRUE(text.starts_with("program: out of memory on the CPU: the process holds ")) << text;
    EXPECT_TRUE(tests::has(text, "smaller batches")) << text;
    EXPECT_FALSE(tests::has(text, "bad_") || tests::has(text, "_M_")) << text;
  }
}

TEST(FileName, IsTheLastPartOfAPath) {
  EXPECT_EQ(command_line::file_name("build/bin/gpt"), "gpt");
  EXPECT_EQ(command_line::file_name("gpt"), "gpt");
  const std::string path = R"(C:\bin\gpt.exe)";  // one name where \ does not divide paths
  EXPECT_EQ(command_line::file_name(path), std::filesystem::path::preferred_separator == '/' ? path : "gpt.exe");
}

}  // namespace
}  // namespace catenary
