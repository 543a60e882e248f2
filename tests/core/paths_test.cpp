#include "catenary/core/paths.h"

#include <gtest/gtest.h>

#include "catenary/core/os/file.h"

namespace catenary {
namespace {

TEST(Paths, KeepAllLetters) {
  const std::string name = "Загрузки/测试/model.npz";
  EXPECT_EQ(path_text(to_path(name)), name);
  EXPECT_EQ(path_text(to_path(name).filename()), "model.npz");
  EXPECT_EQ(path_text(to_path("Загрузки") / to_path("测试")), "Загрузки/测试");
  EXPECT_EQ(folder_of(name), "Загрузки/测试");
  EXPECT_EQ(folder_of("model.npz"), "");
  EXPECT_EQ(folder_of("/model.npz"), "/");
  EXPECT_EQ(folder_of(""), "");
}

TEST(Paths, NameTheSameFilesAsOurTexts) {
  const std::string folder = os::make_temporary_directory("catenary-paths-"), file = folder + "/Загрузки.txt";
  os::write_file(file, "x");
  EXPECT_TRUE(std::filesystem::is_regular_file(to_path(file)));
  EXPECT_EQ(path_text(std::filesystem::canonical(to_path(file)).filename()), "Загрузки.txt");
  os::remove_directory(folder);
}

}  // namespace
}  // namespace catenary
