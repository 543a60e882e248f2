// Runs the examples as a user would.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>
#include <variant>

#include "catenary/array/random.h"
#include "catenary/core/os/file.h"
#include "catenary/core/os/process.h"
#include "catenary/io/npz.h"
#include "catenary/io/png.h"
#include "catenary/io/safetensors.h"
#include "tests/examples/helpers.h"
#include "tests/folder.h"
#include "tests/paths.h"

namespace ct = catenary;

namespace {

using namespace examples;
using tests::Folder;

TEST(Examples, LayersOnSeveralRanks) {
  // one pair, and two pairs with half of the data each
  for (const char* const ranks : {"2", "4"}) {
    const Folder folder;
    const std::string text = output_of(
        "catenary", {"launch", "-n", ranks, tests::build_path("bin/train_mnist_model_parallel"), "-e", "2", "-u", "50",
                     "-b", ranks[0] == '2' ? "100" : "50", "-n", "12000", "--seed", "1", "-o", folder / "out"});
    const std::string line(42, '=');
    EXPECT_TRUE(
        text.starts_with(fmt::format("{0}\nNum process (COMM_WORLD): {1}\nNum unit: 50\nNum Minibatch-size: "
                                     "{2}\nNum epoch: 2\n{0}\nepoch       main/loss   ",
                                     line, ranks, ranks[0] == '2' ? 100 : 50)))
        << text;
    const auto log = log_of(folder / "out");
    EXPECT_EQ(log[1]["iteration"].get<int>(), 240);
    EXPECT_GT(log[1]["validation/main/accuracy"].get<double>(), 0.87) << ranks;
  }
  EXPECT_EQ(error_of("train_mnist_model_parallel", {}),
            "train_mnist_model_parallel: 1 ranks, but the number must be even, because each pair shares a model\n");
}

// A training that has become NaN fails and leaves no model.
TEST(Examples, ATrainingThatDivergesFails) {
  const Folder folder;
  const std::string out = folder / "out";
  const std::string text = error_of("train_cifar", {"-m", "resnet18", "-w", "1", "-e", "2", "-n", "64", "-b", "32",
                                                    "-l", "1e30", "--seed", "1", "-o", out});
  EXPECT_TRUE(
      has(text, "train_cifar: FailOnNonNumber: optimizer 'main', iteration 2: the model's parameter /predictor/"))
      << text;
  EXPECT_TRUE(has(text, " is not finite: it has become NaN or infinite in training\n")) << text;
  EXPECT_FALSE(ct::os::exists(out + "/model.npz"));
  EXPECT_FALSE(ct::os::exists(out + "/snapshot_iter_2"));
}

// Every training program ends with the check for NaN.
TEST(Examples, AllLookAtTheirWeightsInTheEnd) {
  int programs = 0;
  for (const std::string& name : ct::os::list_directory(tests::source_path("examples"))) {
    const std::string file = tests::source_path("examples/" + name + "/" + name + ".cpp");
    if (!ct::os::exists(file)) continue;
    std::ifstream stream(file);
    const std::string text{std::istreambuf_iterator<char>(stream), {}};
    if (!has(text, "optimizers::")) continue;
    ++programs;
    EXPECT_TRUE(has(text, "check_finite(")) << name;
    EXPECT_TRUE(!has(text, "Trainer(") || has(text, "FailOnNonNumber()") || has(text, "FiniteLoss")) << name;
  }
  EXPECT_GE(programs, 9);
}

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

  // prefetching changes nothing
  output_of("train_mnist",
            {"-e", "2", "-u", "20", "--noplot", "--prefetch", "-o", parts, "--resume", whole + "/snapshot_iter_600"});
  auto resumed = log_of(parts);
  ASSERT_EQ(resumed.size(), 2u);
  for (const auto& [key, value] : log[1].items()) {
    if (key != "elapsed_time") {
      EXPECT_EQ(resumed[1][key], value) << key;
    }
  }

  // the weights in the snapshot equal those saved at the end
  const std::string predicted = output_of("train_mnist", {"inference", "-s", whole + "/model.npz", "-n", "3"});
  EXPECT_TRUE(has(predicted, "# unit: 20\n")) << predicted;
  EXPECT_TRUE(has(predicted, "image 2: predicted 1, label 1\naccuracy on 10000 test images: 0.")) << predicted;
  EXPECT_EQ(output_of("train_mnist", {"inference", "-s", whole + "/snapshot_iter_1200", "-n", "3"}), predicted);
  EXPECT_TRUE(has(error_of("train_mnist", {"inference", "-s", folder / "none"}), "none: cannot open"));
  EXPECT_TRUE(has(error_of("train_mnist", {"-d", "nowhere"}), "nowhere"));
}

TEST(Examples, TrainMnistWithConvolutions) {
  const Folder folder;
  output_of("train_mnist",
            {"-d", "cpu", "--model", "cnn", "-n", "6000", "-e", "2", "--seed", "0", "--noplot", "-o", folder / "cnn"});
  EXPECT_GT(log_of(folder / "cnn")[1]["validation/main/accuracy"].get<double>(), 0.93);
}

// The accuracy stated in its README, on artificial images. It varies from epoch to epoch, and with the order of sums.
TEST(Examples, TrainCifar) {
  const Folder folder;
  const std::string text = output_of("train_cifar", {"-d", "cpu", "-m", "resnet18", "-w", "8", "-n", "2000", "-e", "5",
                                                     "--seed", "1", "--prefetch", "-o", folder / "r"});
  double accuracy = 0, best = 0;
  for (const auto& entry : log_of(folder / "r")) {
    accuracy = entry["validation/main/accuracy"].get<double>();
    best = std::max(best, accuracy);
  }
  EXPECT_GT(best, 0.95) << text;
  // quantised weights lose at most one of a hundred images
  for (const std::string kind : {"int8", "Q8_0", "Q4_0"}) {
    output_of("catenary", {"quantize", folder / "r/model.npz", "-o", folder / "small.npz", "--kind", kind});
    const std::string told = output_of(
        "train_cifar", {"-d", "cpu", "-m", "resnet18", "-w", "8", "-n", "2000", "--evaluate", folder / "small.npz"});
    const std::string label = "main/accuracy: ";
    ASSERT_TRUE(has(told, label)) << told;
    EXPECT_GT(std::stod(told.substr(told.find(label) + label.size())), accuracy - 0.0101) << kind;
    if (kind != "int8") continue;
    // quantised inputs, too
    const std::string both = output_of("train_cifar", {"-d", "cpu", "-m", "resnet18", "-w", "8", "-n", "2000",
                                                       "--evaluate", folder / "small.npz", "--calibrate", "200"});
    EXPECT_TRUE(has(both, "/predictor/stem/conv: input from ")) << both;
    EXPECT_GT(std::stod(both.substr(both.find(label) + label.size())), accuracy - 0.0101);
  }
  EXPECT_TRUE(has(error_of("train_cifar", {"-d", "cpu", "-m", "resnet18", "-w", "8", "-n", "2000", "--evaluate",
                                           folder / "r/model.npz", "--calibrate", "9"}),
                  "has no convolutions with quantised weights"));
}

// The perplexity stated in its README.
TEST(Examples, Ptb) {
  const Folder folder;
  const std::string text = output_of("ptb", {"-d", "cpu", "-o", folder / "ptb.npz"});
  const std::string label = "test perplexity: ";
  ASSERT_TRUE(has(text, label)) << text;
  EXPECT_NEAR(std::stod(text.substr(text.find(label) + label.size())), 5.52, 0.05) << text;
  EXPECT_TRUE(ct::io::NpzReader(folder / "ptb.npz").contains("l2/lateral/W"));
  EXPECT_TRUE(has(error_of("ptb", {"-t", folder / "none"}), "none: cannot open"));
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
  EXPECT_TRUE(has(error_of("train_csv", {folder / "table.csv", "sort", "--delimiter", "ab"}, 2),
                  "--delimiter: expected one character, or tab, got 'ab'"));
  for (const char* const tab : {"tab", "\\t", "\t"})  // a file without tabs is a single column
    EXPECT_TRUE(has(error_of("train_csv", {folder / "table.csv", "sort", "--delimiter", tab}), "its columns are '"))
        << tab;
  EXPECT_TRUE(has(error_of("train_csv", {"table.csv", "-p", folder / "other.csv"}, 2), "--help"));
  EXPECT_TRUE(has(error_of("train_csv", {"-o", folder / "none", "-p", folder / "other.csv"}),
                  "none: there is no model of train_csv"));

  // class names that need quotes, a single class, and numbers instead of classes
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

/// A table of `rows` rows with the columns name, x, y and price = 3 x - y + 1000, with one missing x.
std::string houses(int rows) {
  std::string table = "name,x,y,price\n";
  for (int i = 0; i < rows; ++i) {
    const int x = i % 11, y = i % 7;
    table +=
        fmt::format("house {},{},{},{}\n", i, i == 5 ? "NA" : std::to_string(x), y, 1000 + 3 * (i == 5 ? 0 : x) - y);
  }
  return table;
}

TEST(Examples, TrainCsvNumbersAndWhatIsMissing) {
  const Folder folder;
  const std::string table = folder / "houses.csv", out = folder / "out";
  ct::os::write_file(table, houses(80));
  EXPECT_TRUE(has(error_of("train_csv", {table, "price", "--regression"}),
                  "line 2: column 'name' holds 'house 0', which is not a number; where it is no feature, leave it out "
                  "(the option ignore)"));
  EXPECT_TRUE(has(error_of("train_csv", {table, "price", "--regression", "--ignore", "name"}),
                  "line 7 has no number in the column 'x'"));
  EXPECT_TRUE(has(error_of("train_csv", {table, "price", "--regression", "--ignore", "nome"}),
                  "no column 'nome'; its columns are 'name', 'x', 'y', 'price'"));
  EXPECT_TRUE(
      has(error_of("train_csv", {table, "price", "--missing", "nan"}, 2), "--missing: expected a number from -3.4"));
  const std::string text = output_of("train_csv", {"--ignore", "name", table, "price", "--regression", "--missing", "0",
                                                   "--na", "unknown", "-e", "150", "-o", out});
  EXPECT_TRUE(has(text, "80 rows, 2 columns; 'price' is 994 to 1030")) << text;
  EXPECT_FALSE(has(text, "accuracy")) << text;
  EXPECT_LT(log_of(out)[149]["validation/main/loss"].get<double>(), 0.05);

  // columns, the replacement and the words for missing numbers are saved, but the order of columns does not matter
  ct::os::write_file(folder / "new.csv", "y,other,x\n1,a,10\n3,b,unknown\n3,c,\n3,c,0\n");
  const std::string predicted = output_of("train_csv", {"-o", out, "-p", folder / "new.csv"});
  double price[4];
  ASSERT_EQ(std::sscanf(predicted.c_str(), "price\n%lf\n%lf\n%lf\n%lf\n", price, price + 1, price + 2, price + 3), 4)
      << predicted;
  EXPECT_NEAR(price[0], 1029, 4);
  EXPECT_NEAR(price[1], 997, 4);
  EXPECT_EQ(price[1], price[2]);
  EXPECT_EQ(price[2], price[3]);
  ct::os::write_file(folder / "gaps.csv", "x,y\nunknown,NA\n");  // a column without values
  EXPECT_TRUE(output_of("train_csv", {"-o", out, "-p", folder / "gaps.csv"}).starts_with("price\n"));
  ct::os::write_file(folder / "wrong.csv", "y,z\n1,2\n");
  EXPECT_TRUE(
      has(error_of("train_csv", {"-o", out, "-p", folder / "wrong.csv"}), "no column 'x'; its columns are 'y'"));
}

/// The dtype of an array in a file.
ct::Dtype dtype_of(const std::string& file, const std::string& key) {
  return ct::io::NpzReader(file).read_array(key).dtype;
}

// A single option trains in 16 bits, with the accuracy of 32.
TEST(Examples, DtypesOfTrainings) {
  const Folder folder;
  std::vector<double> accuracies;
  for (const std::string dtype : {"float32", "mixed16", "bfloat16"}) {
    const std::string out = folder / dtype;
    const std::string text = output_of("train_mnist_deep", {"--dtype", dtype, "-u", "64", "-l", "3", "-b", "256", "-e",
                                                            "3", "--optimizer", "adam", "--seed", "1", "-o", out});
    EXPECT_TRUE(has(text, "# units: 784-64x3-10\n# dtype: " + dtype + "\n")) << text;
    accuracies.push_back(log_of(out).back()["validation/main/accuracy"]);
    EXPECT_NEAR(accuracies.back(), accuracies.front(), 0.01) << dtype;
  }
  EXPECT_GT(accuracies.front(), 0.93);
  EXPECT_EQ(dtype_of(folder / "mixed16/model.npz", "predictor/last/W"), ct::Dtype::float16);
  EXPECT_TRUE(has(error_of("train_mnist_deep", {"--dtype", "int8"}), "'int8' is not a precision"));

  output_of("train_mnist", {"--dtype", "mixed16", "-n", "6000", "-e", "1", "-u", "20", "--noplot", "-o", folder / "m"});
  EXPECT_EQ(dtype_of(folder / "m/model.npz", "predictor/l1/W"), ct::Dtype::float16);
  output_of("train_cifar", {"-d", "cpu", "-m", "resnet18", "-w", "2", "-n", "64", "-b", "32", "-e", "1", "--dtype",
                            "mixed16", "-o", folder / "c"});
  EXPECT_EQ(dtype_of(folder / "c/model.npz", "predictor/stem/conv/W"), ct::Dtype::float16);
  output_of("catenary", {"launch", "-n", "2", tests::build_path("bin/train_mnist_mn"), "--dtype", "float16", "-n",
                         "6000", "-e", "1", "-u", "20", "-o", folder / "mn"});
  EXPECT_EQ(dtype_of(folder / "mn/model.npz", "predictor/l1/W"), ct::Dtype::float16);
  const std::string text =
      output_of("ptb", {"--dtype", "mixed16", "--words", "4000", "-e", "1", "-u", "16", "-o", folder / "ptb.npz"});
  EXPECT_TRUE(has(text, "test perplexity: ")) << text;
  EXPECT_EQ(dtype_of(folder / "ptb.npz", "l3/W"), ct::Dtype::float16);
}

TEST(Examples, TrainCsvStopsWhereLossesAreNoNumbers) {
  const Folder folder;
  const std::string table = folder / "t.csv", out = folder / "out";
  std::string rows = "x,y,kind\n";
  for (int i = 0; i < 40; ++i) rows += fmt::format("-3e38,{},{}\n", i % 4, i % 2 ? "a" : "b");
  ct::os::write_file(table, rows);
  output_of("train_csv", {table, "kind", "-e", "2", "-o", out});
  const auto before = ct::os::read_file(out + "/model.npz");

  // valid numbers whose difference overflows, at the end of the file, so that they may be used for validation
  ct::os::write_file(table, rows + "3e38,1,a\n");
  for (const char* seed : {"0", "1", "2"}) {
    const std::string said = error_of("train_csv", {table, "kind", "-e", "2", "--seed", seed, "-o", out});
    EXPECT_TRUE(said.starts_with("train_csv: the loss is ")) << said;
    EXPECT_TRUE(has(said, "by themselves these give such a loss: line 42\n")) << said;
    EXPECT_EQ(ct::os::read_file(out + "/model.npz"), before);
  }
  ct::os::write_file(table, rows + "1e39,1,a\n");
  EXPECT_TRUE(
      has(error_of("train_csv", {table, "kind", "-o", out}), "line 42: column 'x' holds 1e+39, which is infinite"));
}

/// The entries of a log without times.
nlohmann::json without_times(nlohmann::json log) {
  for (auto& entry : log) entry.erase("elapsed_time");
  return log;
}

TEST(Examples, TrainCsvGoesOn) {
  const Folder folder;
  const std::string table = folder / "houses.csv", whole = folder / "whole", part = folder / "part",
                    ended = folder / "ended";
  ct::os::write_file(table, houses(80));
  const auto arguments = [&](const std::string& epochs, const std::string& out) {
    return std::vector<std::string>{table, "price", "--regression", "--ignore", "name", "-m",
                                    "0",   "-e",    epochs,         "-o",       out};
  };
  output_of("train_csv", arguments("6", whole));
  output_of("train_csv", arguments("4", part));
  std::vector<std::string> resumed = arguments("6", part);
  resumed.insert(resumed.end(), {"--resume", snapshot_in(part)});
  output_of("train_csv", resumed);
  EXPECT_EQ(without_times(log_of(part)), without_times(log_of(whole)));
  EXPECT_EQ(ct::os::read_file(part + "/model.npz"), ct::os::read_file(whole + "/model.npz"));

  // another table (another replacement for missing numbers), and a file that is not a snapshot
  resumed = arguments("8", folder / "other");
  resumed.insert(resumed.end(), {"--missing", "5", "--resume", snapshot_in(whole)});
  std::erase(resumed, "-m");
  std::erase(resumed, "0");
  EXPECT_TRUE(has(error_of("train_csv", resumed), "the snapshot of another table, or with other options"));
  resumed = arguments("8", folder / "other");
  resumed.insert(resumed.end(), {"--resume", whole + "/model.npz"});
  EXPECT_TRUE(has(error_of("train_csv", resumed), "model.npz: there is no key 'updater/"));

  // Ctrl-C saves the weights, and prints how to resume
  std::vector<std::string> long_one = arguments("1000000", ended);
  const char* interrupt =  // job control, because without it background jobs of a shell ignore SIGINT
      "set -m; \"$@\" & until [ -e \"$LOG\" ]; do sleep 0.05; done; kill -INT $!; wait $!";
  long_one.insert(long_one.begin(), {"bash", "-c", interrupt, "bash", tests::build_path("bin/train_csv")});
  const ct::os::ProcessResult stopped =
      ct::os::run_process(long_one, {.timeout = 120, .environment = {{"LOG", ended + "/log"}}});
  EXPECT_EQ(stopped.exit_code, 1);
  EXPECT_TRUE(has(stopped.errors, "stopped by SIGINT")) << stopped.errors;
  EXPECT_TRUE(has(stopped.errors, "--resume " + snapshot_in(ended))) << stopped.errors;
  EXPECT_TRUE(has(stopped.output, "The weights are in " + ended)) << stopped.output;
  ct::os::write_file(folder / "new.csv", "x,y\n1,2\n");
  EXPECT_TRUE(output_of("train_csv", {"-o", ended, "-p", folder / "new.csv"}).starts_with("price\n"));
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

TEST(Examples, CustomLoop) {
  const std::string text = output_of("custom_loop", {});
  double loss = 0, first = 0, second = 0;
  ASSERT_EQ(std::sscanf(text.c_str(),
                        "epoch 1: loss of the last batch %lf, test accuracy %lf\nepoch 2: loss of the last batch %lf, "
                        "test accuracy %lf\n",
                        &loss, &first, &loss, &second),
            4)
      << text;
  EXPECT_GT(first, 0.88);
  EXPECT_GT(second, first);
  EXPECT_LT(loss, 1);
}

TEST(Examples, Nms) {
  const std::string text = output_of("nms", {"--boxes", "5000", "--things", "4", "--threshold", "0.2"});
  EXPECT_TRUE(text.starts_with("4 of 5000 boxes are left")) << text;
  EXPECT_TRUE(has(text, "score 1.000: top ")) << text;
  EXPECT_TRUE(has(error_of("nms", {"--device", "cpu:7"}), "cpu"));
}

}  // namespace
