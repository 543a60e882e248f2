#include "catenary/core/version.h"

#include <gtest/gtest.h>

#include <string>

#include "catenary/core/os/file.h"
#include "catenary/core/os/installation.h"
#include "tests/paths.h"

namespace ct = catenary;

TEST(Version, IsTheSameAsTextAndNumber) {
  const std::string text = std::to_string(CATENARY_VERSION_MAJOR) + "." + std::to_string(CATENARY_VERSION_MINOR) + "." +
                           std::to_string(CATENARY_VERSION_PATCH);
  EXPECT_EQ(ct::version(), text);
  EXPECT_EQ(ct::version_number(), CATENARY_VERSION);
}

TEST(Version, IsThatOfTheBuildFiles) {
  // CMake extracts the version for find_package from the header.
  const auto bytes = ct::os::read_file(tests::build_path("CatenaryConfigVersion.cmake"));
  const std::string content(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  EXPECT_NE(content.find("set(PACKAGE_VERSION \"" + std::string(ct::version()) + "\")"), std::string::npos);
}

TEST(Installation, FindsTheDataOfTheBuildTree) {
  EXPECT_TRUE(ct::os::is_directory(ct::os::library_folder()));
  EXPECT_TRUE(ct::os::exists(ct::os::share_folder() + "/mnist/train-images-idx3-ubyte.gz"));
}
