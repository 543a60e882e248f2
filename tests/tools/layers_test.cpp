// Runs scripts/check_layers on made-up trees.

#include <gtest/gtest.h>

#include <fstream>
#include <iterator>
#include <string>

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

TEST(CheckLayers, OtherIncludesAreTheStandardLibraryOrInOneFolderTheSystem) {
  const std::string system = "#include <sys/stat.h>\n#include <unistd.h>\n#include <charconv>\n";
  EXPECT_EQ(told("catenary/core/os/posix/x.cpp", system), "");
  EXPECT_TRUE(has(told("catenary/core/os/x.h", system), "x.h:1: must not include sys/stat.h"));
  for (const char* line : {"#include <unistd.h>", "#include <linux/futex.h>", "#include <Python.h>",
                           "#include \"Python.h\"", "#  include <numpy/arrayobject.h>",
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

/// Returns the output and errors of check_layers for a tree.
std::string said_of(const tests::Folder& tree) {
  const os::ProcessResult result =
      os::run_process({tests::source_path("scripts/check_layers"), tree.path}, {.timeout = 60});
  return result.output + result.errors;
}

TEST(CheckLayers, ContributingHasTheOrder) {
  const tests::Folder tree;
  tree.write("catenary/core/error.h", "#pragma once\n");
  tree.write("CONTRIBUTING.md",
             "- Includes point down only: core < ops < device < kernels, backends, io < array, tokenizers\n"
             "  < autograd < functions < serializers < initializers < reporter < links < onnx,\n"
             "  optimizers < datasets < iterators < training < distributed.\n");
  EXPECT_EQ(said_of(tree), "");
  tree.write("CONTRIBUTING.md", "- Includes point down only: ops < core.\n");
  EXPECT_TRUE(has(said_of(tree), "CONTRIBUTING.md: write that includes point down only: core < ops")) << said_of(tree);
}

TEST(CheckLayers, CirclesOfIncludes) {
  const tests::Folder tree;
  tree.write("catenary/core/error.h", "#pragma once\n");
  tree.write("catenary/links/a.h", "#include \"catenary/links/b.h\"\n");
  tree.write("catenary/links/b.h", "#pragma once\n");
  EXPECT_EQ(said_of(tree), "");
  tree.write("catenary/links/b.cpp", "#include \"catenary/links/a.h\"\n");
  EXPECT_TRUE(has(said_of(tree), "catenary/links: sources include each other in a circle")) << said_of(tree);
}

// CMake makes catenary.h from the headers that programs may include.
TEST(CatenaryH, HasEachPublicHeaderOfLinksAndOptimizers) {
  std::ifstream umbrella(tests::build_path("include/catenary/catenary.h"));
  const std::string all(std::istreambuf_iterator<char>(umbrella), {});
  int included = 0;
  for (const char* room : {"links", "links/models", "optimizers"}) {
    for (const std::string& name : os::list_directory(tests::source_path(std::string("catenary/") + room))) {
      if (!name.ends_with(".h")) continue;
      const std::string path = std::string("catenary/") + room + "/" + name;
      std::ifstream header(tests::source_path(path));
      std::string first, second;
      std::getline(std::getline(header, first), second);
      const bool is_private = name.starts_with("detail") || second.starts_with("// Private");
      EXPECT_EQ(has(all, "#include \"" + path + "\"\n"), !is_private) << path;
      included += !is_private;
    }
  }
  EXPECT_GT(included, 30);
}

}  // namespace
