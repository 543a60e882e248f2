// The main of every room: `test_<room> --device opencl:0` runs its tests with that device as the current one.

#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>
#include <string_view>

#include "catenary/core/error.h"
#include "catenary/core/os/file.h"
#include "catenary/device/device.h"
#include "tests/paths.h"

namespace tests {

std::string source_path(const std::string& name) {
  const char* root = std::getenv("CATENARY_TEST_ROOT");
  return std::string(root ? root : CT_SOURCE_DIR) + "/" + name;
}

std::string build_path(const std::string& name) { return CT_BINARY_DIR "/" + name; }

}  // namespace tests

namespace {

/// The folder of temporary files, while tests run: one of this process, in which they must leave nothing. A process
/// that a test starts has its parent's.
class TemporaryFiles : public testing::Environment {
 public:
  void SetUp() override {
    if (folder_.empty() && std::getenv("TEST_TMPDIR")) return;
    folder_ = catenary::os::make_temporary_directory("catenary-test-");
    ::setenv("TMPDIR", folder_.c_str(), 1);
    ::setenv("TEST_TMPDIR", folder_.c_str(), 1);  // GoogleTest's name for it
  }
  void TearDown() override {
    if (folder_.empty()) return;
    for (const std::string& name : catenary::os::list_directory(folder_))
      ADD_FAILURE() << "the tests left a file in the temporary folder: " << name;
    catenary::os::remove_directory(folder_);
  }

 private:
  std::string folder_;
};

}  // namespace

int main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  if (argc == 3 && std::string_view(argv[1]) == "--device") {
    try {
      catenary::get_device(argv[2]).use();
    } catch (const catenary::Error& error) {
      std::fprintf(stderr, "%s\n", error.what());
      return 2;
    }
  } else if (argc != 1) {
    std::fprintf(stderr, "usage: %s [--device NAME] [GoogleTest's options]\n", argv[0]);
    return 2;
  }
  testing::AddGlobalTestEnvironment(new TemporaryFiles);
  return RUN_ALL_TESTS();
}
