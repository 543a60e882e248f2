// Runs scripts/check_layers on made-up trees.

#include <gtest/gtest.h>

#include "catenary/core/os/file.h"
#include "catenary/core/os/process.h"
#include "tests/folder.h"
#include "tests/paths.h"
#include "tests/texts.h"

namespace os = catenary::os;

namespace {

using tests::has;

/// The output for a tree with one file, empty on success.
std::string told(const std::string& file, const std::string& text) {
  const tests::Folder folder;
  const std::string path = folder / file;
  os::make_directories(path.substr(0, path.rfind('/')));
  os::write_file(path, text);
  const os::ProcessResult result =
      os::run_process({tests::source_path("scripts/check_layers"), folder.path}, {.timeout = 60});
  EXPECT_EQ(result.exit_code == 0, result.output.empty()) << result.output << result.errors;
  return result.output + result.errors;
}

TEST(CheckLayers, TheTreeItself) {
  const os::ProcessResult result = os::run_process({tests::source_path("scripts/check_layers")}, {.timeout = 60});
  EXPECT_TRUE(result.ok()) << result.output << result.errors;
}

TEST(CheckLayers, IncludesPointDown) {
  EXPECT_EQ(told("catenary/array/x.h", "#include \"catenary/core/shape.h\"\n#include <vector>\n"), "");
  for (const char* line :
       {"#include \"catenary/array/x.h\"", "#include <catenary/array/x.h>", "  #  include\"catenary/array/x.h\""})
    EXPECT_TRUE(
        has(told("catenary/core/x.cpp", line), "catenary/core/x.cpp:1: core must not include catenary/array/x.h"))
        << line;
  EXPECT_TRUE(has(told("catenary/kernels/x.inc", "#include \"catenary/links/x.h\"\n"), "kernels must not include"));
  EXPECT_TRUE(has(told("catenary/nowhere/x.h", "\n"), "does not know"));
}

TEST(CheckLayers, OtherIncludesAreTheStandardLibraryOrTheSystem) {
  EXPECT_EQ(told("catenary/core/x.cpp", "#include <sys/stat.h>\n#include <unistd.h>\n#include <charconv>\n"), "");
  for (const char* line : {"#include <Python.h>", "#include \"Python.h\"", "#  include <numpy/arrayobject.h>",
                           "#include <nanobind/nanobind.h>", "#include \"../python/src/array.h\"", "#include PYTHON"})
    for (const char* file :
         {"catenary/core/x.cpp", "catenary/training/x.h", "catenary/runtime_info.cpp", "catenary/backends/cpu/x.inc"})
      EXPECT_TRUE(has(told(file, std::string("\n") + line + "\n"), std::string(file) + ":2: must not include "))
          << file << " " << line;
}

TEST(CheckLayers, OtherLibrariesHaveTheirFiles) {
  EXPECT_EQ(told("catenary/io/png.cpp", "#include <png.h>\n"), "");
  EXPECT_TRUE(has(told("catenary/io/jpeg.cpp", "#include <png.h>\n"), "must not include png.h"));
  EXPECT_EQ(told("catenary/core/format.h", "#include <fmt/format.h>\n"), "");
  EXPECT_TRUE(has(told("catenary/core/error.h", "#include <fmt/format.h>\n"), "must not include fmt/format.h"));
}

TEST(CheckLayers, LinksAndFunctionsAreReachedFromCatenaryH) {
  const tests::Folder tree;
  const auto say = [&] {
    return os::run_process({tests::source_path("scripts/check_layers"), tree.path}, {.timeout = 60}).output;
  };
  tree.write("catenary/catenary.h", "#include \"catenary/links/models/net.h\"\n");
  tree.write("catenary/links/models/net.h", "#include \"catenary/links/dense.h\"\n");
  tree.write("catenary/links/dense.h", "#pragma once\n");
  tree.write("catenary/links/detail.h", "#pragma once\n");
  tree.write("catenary/links/parts.h", "#pragma once\n// Private to the library: what links share.\n");
  tree.write("catenary/core/os/file.h", "#pragma once\n");
  EXPECT_EQ(say(), "");
  tree.write("catenary/links/models/other.h", "#pragma once\n// A link.\n");
  EXPECT_EQ(say(), "catenary/links/models/other.h: include it in catenary.h, or begin the file with \"// Private\"\n");
}

}  // namespace
