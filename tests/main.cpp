// The main of every room: `test_<room> --device opencl:0` runs its tests with that device as the current one.

#include <gtest/gtest.h>

#include <cstdio>
#include <string_view>

#include "catenary/core/error.h"
#include "catenary/device/device.h"

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
