// The examples as a user runs them.

#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>

#include "catenary/array/random.h"
#include "catenary/core/os/file.h"
#include "catenary/core/os/process.h"
#include "catenary/io/png.h"
#include "tests/paths.h"

namespace ct = catenary;

namespace {

class Folder {
 public:
  Folder() : path(ct::os::make_temporary_directory("catenary-examples")) {}
  ~Folder() { ct::os::remove_directory(path); }
  std::string operator/(const std::string& name) const { return path + "/" + name; }
  const std::string path;
};

ct::os::ProcessResult run(const std::string& program, std::vector<std::string> arguments) {
  arguments.insert(arguments.begin(), tests::build_path("bin/") + program);
  return ct::os::run_process(arguments,
                             {.timeout = 300, .environment = {{"CATENARY_DATA", tests::source_path("data")}}});
}

std::string output_of(const std::string& program, const std::vector<std::string>& arguments) {
  const ct::os::ProcessResult result = run(program, arguments);
  EXPECT_TRUE(result.ok()) << program << ": " << result.errors;
  return result.output;
}

std::string error_of(const std::string& program, const std::vector<std::string>& arguments, int code = 1) {
  const ct::os::ProcessResult result = run(program, arguments);
  EXPECT_EQ(result.exit_code, code) << program;
  EXPECT_EQ(result.signal, 0);
  return result.errors;
}

bool has(const std::string& text, const std::string& piece) { return text.find(piece) != std::string::npos; }

nlohmann::json log_of(const std::string& folder) { return nlohmann::json::parse(std::ifstream(folder + "/log")); }

TEST(Examples, TrainMnist) {
  const Folder folder;
  const std::string whole = folder / "whole", parts = folder / "parts";
  const std::string text =
      output_of("train_mnist", {"-d", "cpu", "-e", "2", "-f", "1", "-u", "20", "--seed", "3", "-o", whole});
  EXPECT_TRUE(
      text.starts_with("Device: cpu\n# unit: 20\n# Minibatch-size: 100\n# epoch: 2\n\nepoch       main/loss   "
                       "validation/main/loss  main/accuracy  validation/main/accuracy  elapsed_time\n1 "))
      << text;
  EXPECT_FALSE(has(text, "\033"));
  for (const char* name : {"log", "cg.dot", "loss.png", "accuracy.png", "snapshot_iter_600", "model.npz"})
    EXPECT_TRUE(ct::os::exists(whole + "/" + name)) << name;
  const auto log = log_of(whole);
  EXPECT_GT(log[1]["validation/main/accuracy"].get<double>(), 0.85);

  output_of("train_mnist", {"-e", "2", "-u", "20", "--noplot", "-o", parts, "--resume", whole + "/snapshot_iter_600"});
  auto resumed = log_of(parts);
  ASSERT_EQ(resumed.size(), 2u);
  for (const auto& [key, value] : log[1].items()) {
    if (key != "elapsed_time") {
      EXPECT_EQ(resumed[1][key], value) << key;
    }
  }

  // the weights of the snapshot and those saved at the end are the same
  const std::string predicted = output_of("train_mnist", {"inference", "-s", whole + "/model.npz", "-n", "3"});
  EXPECT_TRUE(has(predicted, "# unit: 20\n")) << predicted;
  EXPECT_TRUE(has(predicted, "image 2: predicted 1, label 1\naccuracy on 10000 test images: 0.")) << predicted;
  EXPECT_EQ(output_of("train_mnist", {"inference", "-s", whole + "/snapshot_iter_1200", "-n", "3"}), predicted);
  EXPECT_TRUE(has(error_of("train_mnist", {"inference", "-s", folder / "none"}), "none: cannot open"));
  EXPECT_TRUE(has(error_of("train_mnist", {"-d", "nowhere"}), "nowhere"));
}

TEST(Examples, TrainCsv) {
  const Folder folder;
  std::string table = "x,y,kind\n", other = "y,x\n";
  for (int i = 0; i < 60; ++i) {
    const int kind = i % 3;
    table += std::to_string(kind * 10 + i % 7) + "," + std::to_string(i % 5) + ",kind" + std::to_string(kind) + "\n";
  }
  ct::os::write_file(folder / "table.csv", table);
  ct::os::write_file(folder / "other.csv", other + "2,3\n1,22\n");
  const std::string text = output_of("train_csv", {folder / "table.csv", "kind", "-e", "100", "-o", folder / "result"});
  EXPECT_TRUE(has(text, "60 rows, 2 columns, 3 classes: 'kind0', 'kind1', 'kind2'")) << text;
  EXPECT_EQ(log_of(folder / "result")[99]["validation/main/accuracy"], 1.0);
  const std::string predicted = output_of("train_csv", {"-o", folder / "result", "-p", folder / "other.csv"});
  EXPECT_TRUE(has(predicted, "class,probability\nkind0,")) << predicted;
  EXPECT_TRUE(has(predicted, "\nkind2,")) << predicted;
  EXPECT_TRUE(has(error_of("train_csv", {folder / "table.csv", "sort"}), "no column 'sort'"));
  EXPECT_TRUE(has(error_of("train_csv", {}, 2), "--help"));
  EXPECT_TRUE(has(error_of("train_csv", {"table.csv", "-p", folder / "other.csv"}, 2), "--help"));
  EXPECT_TRUE(
      has(error_of("train_csv", {"-o", folder / "none", "-p", folder / "other.csv"}), "none: train_csv has left"));

  // names of classes that need quotes; a class alone, and numbers in the place of classes
  ct::os::write_file(folder / "fruit.csv",
                     "x,kind\r\n1,\"pear, green\"\r\n1,\"pear, green\"\r\n5,\"\"\"odd\"\"\"\r\n5,\"\"\"odd\"\"\"\r\n");
  output_of("train_csv", {folder / "fruit.csv", "kind", "-e", "100", "-d", "cpu", "-o", folder / "fruit"});
  ct::os::write_file(folder / "new.csv", "x\n1\n5\n");
  const std::string fruit = output_of("train_csv", {"-o", folder / "fruit", "-p", folder / "new.csv"});
  EXPECT_TRUE(has(fruit, "\"pear, green\",0.") || has(fruit, "\"\"\"odd\"\"\",0.")) << fruit;
  ct::os::write_file(folder / "numbers.csv", "x,y\n1,1.5\n2,2.5\n3,3.5\n");
  EXPECT_TRUE(has(error_of("train_csv", {folder / "numbers.csv", "y"}), "column 'y' hold 3 different values"));
  ct::os::write_file(folder / "one.csv", "x,y\n1,a\n2,a\n3,a\n");
  EXPECT_TRUE(has(error_of("train_csv", {folder / "one.csv", "y"}), "column 'y' hold 1 different values"));
}

TEST(Examples, TrainImages) {
  const Folder folder;
  ct::random::seed(1);
  for (int i = 0; i < 40; ++i) {  // dark and bright noise, of several sizes and numbers of channels
    const bool bright = i % 2;
    const auto image = ct::io::HostArray::empty(ct::Dtype::uint8, {10 + i % 5, 12 + i % 3, i % 4 < 2 ? 3 : 1});
    const auto noise = ct::random::randint(bright ? 120 : 0, bright ? 256 : 136, ct::Shape{image.size()});
    const auto values = noise.to_vector<int>();
    for (std::size_t k = 0; k < values.size(); ++k) image.as<std::uint8_t>()[k] = static_cast<std::uint8_t>(values[k]);
    const std::string sub = folder / (bright ? "pictures/bright" : "pictures/dark");
    ct::os::make_directories(sub);
    ct::io::write_png(sub + "/" + std::to_string(i) + ".png", image);
  }
  const std::string out = folder / "result";
  const std::string text = output_of(
      "train_images", {folder / "pictures", "-e", "8", "-s", "6", "-b", "8", "-u", "16", "-t", "3", "-o", out});
  EXPECT_TRUE(has(text, "40 images, 2 classes: bright, dark")) << text;
  EXPECT_EQ(log_of(out)[7]["validation/main/accuracy"], 1.0);
  const std::string predicted = output_of("train_images", {"-o", out, "-p", folder / "pictures/bright/1.png"});
  EXPECT_GT(std::stod(predicted), 0.5) << predicted;
  EXPECT_TRUE(has(predicted, "  bright\n")) << predicted;
  const std::string both =
      output_of("train_images", {"-o", out, "-p", folder / "pictures/bright/1.png", folder / "pictures/dark/0.png"});
  EXPECT_TRUE(both.starts_with(folder / "pictures/bright/1.png\n" + predicted + (folder / "pictures/dark/0.png\n")))
      << both;
  EXPECT_TRUE(has(error_of("train_images", {folder / "pictures/dark"}), "sub-folder"));
  EXPECT_TRUE(has(error_of("train_images", {"pictures", "-p", "1.png"}, 2), "--help"));
  EXPECT_TRUE(
      has(error_of("train_images", {"-o", folder / "none", "-p", "1.png"}), "none: train_images has left nothing"));
  ct::os::make_directories(folder / "alone/dark");
  ct::io::write_png(folder / "alone/dark/1.png", ct::io::HostArray::empty(ct::Dtype::uint8, {4, 4, 3}));
  EXPECT_TRUE(has(error_of("train_images", {folder / "alone"}), "two or more sub-folders"));
  ct::os::write_file(folder / "pictures/dark/broken.png", "no image");
  EXPECT_TRUE(has(error_of("train_images", {folder / "pictures", "-o", out}), "broken.png: neither a PNG nor a JPEG"));
}

TEST(Examples, LinearRegression) {
  double slope = 0, intercept = 0;
  const std::string text = output_of("linear_regression", {});
  const std::size_t at = text.rfind("y = ");
  ASSERT_NE(at, std::string::npos) << text;
  ASSERT_EQ(std::sscanf(text.c_str() + at, "y = %lf x + %lf", &slope, &intercept), 2) << text;
  EXPECT_NEAR(slope, 3, 0.05);
  EXPECT_NEAR(intercept, 0.5, 0.05);
}

TEST(Examples, Nms) {
  const std::string text = output_of("nms", {"--boxes", "5000", "--things", "4", "--threshold", "0.2"});
  EXPECT_TRUE(text.starts_with("4 of 5000 boxes stay")) << text;
  EXPECT_TRUE(has(text, "score 1.000: top ")) << text;
  EXPECT_TRUE(has(error_of("nms", {"--device", "cpu:7"}), "cpu"));
}

}  // namespace
