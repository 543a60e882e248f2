// The main of every room: `test_<room> --device opencl:0` runs its tests with that device as the current one.

#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>
#include <string_view>

#include "catenary/core/error.h"
#include "catenary/device/device.h"
#include "tests/paths.h"

namespace tests {

std::string source_path(const std::string& name) {
  const char* root = std::getenv("CATENARY_TEST_ROOT");
  return std::string(root ? root : CT_SOURCE_DIR) + "/" + name;
}

std::string build_path(const std::string& name) { return CT_BINARY_DIR "/" + name; }

}  // namespace tests

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
  return RUN_ALL_TESTS();
}
