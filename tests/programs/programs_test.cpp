// Runs programs as a user would on a device: test_programs --device opencl:0.

#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <nlohmann/json.hpp>
#include <regex>

#include "catenary/core/os/file.h"
#include "catenary/core/os/process.h"
#include "catenary/device/device.h"
#include "tests/folder.h"
#include "tests/paths.h"

namespace ct = catenary;
using nlohmann::json;
using tests::Folder;

namespace {

using Environment = std::vector<std::pair<std::string, std::string>>;

ct::os::ProcessResult run(const std::string& program, std::vector<std::string> arguments,
                          Environment environment = {}) {
  arguments.insert(arguments.begin(), tests::build_path("bin/" + program));
  environment.emplace_back("CATENARY_DATA", tests::source_path("data"));
  return ct::os::run_process(arguments, {.timeout = 300, .environment = environment});
}

std::string output_of(const std::string& program, const std::vector<std::string>& arguments,
                      const Environment& environment = {}) {
  const ct::os::ProcessResult result = run(program, arguments, environment);
  EXPECT_TRUE(result.ok()) << program << ": " << result.output << result.errors;
  return result.output;
}

std::string device() { return ct::current_device().name(); }

/// A device of this kind with another number, as in "opencl:3".
std::string sibling(int number) { return device().substr(0, device().find(':') + 1) + std::to_string(number); }

json read_json(const std::string& path) { return json::parse(std::ifstream(path)); }

/// Checks part of the vectors: every n-th case.
void expect_vectors_pass(const std::string& name, const std::string& key, std::size_t n) {
  const std::string from = tests::source_path("tests/data/reference/" + name + "/");
  json manifest = read_json(from + "manifest.json"), some = json::array();
  for (std::size_t i = 0; i < manifest[key].size(); i += n) some.push_back(manifest[key][i]);
  const Folder folder;
  for (const std::string& file : ct::os::list_directory(from)) {
    if (file.ends_with(".npz")) ct::os::write_file(folder / file, ct::os::read_file(from + file));
  }
  folder.write("manifest.json", json{{key, some}}.dump());
  const ct::os::ProcessResult result = run("reference-check", {folder.path, "--device", device(), "--json"});
  EXPECT_EQ(result.exit_code, 0) << result.output << result.errors;
  const json report = json::parse(result.output);
  EXPECT_EQ(report["failed"], 0);
  EXPECT_EQ(report["cases"].size(), some.size());
  EXPECT_GT(report["passed"], report["cases"].size() * 3 / 4) << report;
}

TEST(ReferenceCheck, ChainerFunctionsOnTheDevice) { expect_vectors_pass("chainer/functions", "functions", 40); }
TEST(ReferenceCheck, ChainerOptimizersOnTheDevice) { expect_vectors_pass("chainer/optimizers", "optimizers", 11); }
TEST(ReferenceCheck, NumpyOnTheDevice) { expect_vectors_pass("numpy", "cases", 100); }

TEST(TrainMnist, LearnsOnTheDeviceAsOnTheCpu) {
  const Folder folder;
  const auto train = [&](const std::string& where) {
    const std::string text = output_of("train_mnist", {"-d", where, "-e", "1", "-u", "10", "-b", "500", "--seed", "3",
                                                       "--noplot", "-o", folder / where});
    EXPECT_TRUE(text.starts_with("Device: " + where + "\n# unit: 10\n# Minibatch-size: 500\n# epoch: 1\n\nepoch "))
        << text;
    return read_json(folder / where + "/log")[0];
  };
  const json there = train(device()), here = train("cpu");
  for (const char* key : {"main/loss", "validation/main/loss", "validation/main/accuracy"})
    EXPECT_NEAR(there[key].get<double>(), here[key].get<double>(), 0.01) << key;
  EXPECT_GT(there["validation/main/accuracy"], 0.5);
}

// Twenty updates in 16 bits: differences between the devices' roundings stay small.
TEST(TrainMnistDeep, LearnsIn16BitsOnTheDeviceAsOnTheCpu) {
  const Folder folder;
  for (const std::string dtype : {"float16", "mixed16", "bfloat16"}) {
    const auto train = [&](const std::string& where) {
      const std::string out = folder / (dtype + where);
      output_of("train_mnist_deep", {"-d", where, "--dtype", dtype, "-u", "32", "-b", "3000", "-e", "1", "--seed", "2",
                                     "--optimizer", "adam", "-o", out});
      return read_json(out + "/log")[0];
    };
    const json there = train(device()), here = train("cpu");
    EXPECT_EQ(there["iteration"], 20);
    for (const char* key : {"main/loss", "validation/main/loss"})
      EXPECT_NEAR(there[key].get<double>(), here[key].get<double>(), dtype == "bfloat16" ? 0x1p-5 : 0x1p-8)
          << key << " in " << dtype;
    EXPECT_LT(there["validation/main/loss"], 2) << dtype;
  }
}

TEST(Gemm, PrintsBothTimes) {
  const std::regex expected(
      "m=50 n=33 k=20\nstart benchmarking\n\n=+Result=+\nhand written kernel time [0-9.]+ ms\n"
      "BLAS                     time [0-9.]+ ms \\(.+\\)\n");
  for (const std::string& where : {device(), std::string("cpu")}) {
    const std::string text = output_of("gemm", {"-d", where, "-m", "50", "-n", "33", "-k", "20", "--repeats", "1"});
    EXPECT_TRUE(std::regex_match(text, expected)) << text;
  }
}

TEST(TensorCore, PrintsWhatItsReadmeTells) {
  for (const std::string& where : {device(), std::string("cpu")}) {
    for (const char* dtype : {"float16", "bfloat16", "float32"}) {
      const std::string text =
          output_of("tensor_core", {"-d", where, "-n", "40", "-c", "2", "--dtype", dtype, "--peak", "0.5"});
      const std::regex expected(
          "device      " + where + " \\(.+\\)\nF::linear   40 x 40 by 40 x 40 of " + dtype +
          ", 2 times\nseconds     [0-9.e-]+ for one\nTFLOPS      [0-9.e-]+\nof the peak [0-9.]+ % of "
          "0.5 TFLOPS\nprovider    own, .+\ncomputes    float32 sums of " +
          dtype + " products\nunits       .+\n");
      EXPECT_TRUE(std::regex_match(text, expected)) << text;
    }
  }
  EXPECT_TRUE(output_of("tensor_core", {"-d", "cpu", "-n", "8", "-c", "1", "--dtype", "float64", "--tf32"})
                  .find("of the peak unknown; set --peak\n") != std::string::npos);
}

/// The environment for `n` PoCL devices. The simulator always has two.
Environment devices(int n) {
  std::string list = "pthread";
  for (int i = 1; i < n; ++i) list += " pthread";
  return {{"POCL_DEVICES", list}};
}

/// The mean loss printed at the end of a training.
double mean_loss(const std::string& mode, const std::string& first, const std::string& second, int n) {
  const Folder out;
  const std::string text = output_of(
      "multi_gpu", {mode, "-0", first, "-1", second, "-i", "3", "-b", "500", "-u", "20", "-o", out.path}, devices(n));
  EXPECT_TRUE(
      text.starts_with("Devices: " + first + ", " + second + "\n# mode: " + mode + "\n# Minibatch-size: 500\n\n"))
      << text;
  if (mode == "loop") {
    std::smatch found;
    EXPECT_TRUE(std::regex_search(text, found, std::regex("\nmean loss ([0-9.]+)\n$"))) << text;
    return found.empty() ? NAN : std::stod(found[1]);
  }
  EXPECT_NE(text.find("\nepoch       iteration   main/loss   validation/main/loss  main/accuracy"), std::string::npos)
      << text;
  EXPECT_TRUE(std::regex_search(text, std::regex("\n0 +3 +[0-9.]+ "))) << text;
  return read_json(out / "log")[0]["main/loss"];
}

TEST(MultiGpu, TwoDevicesAndFour) {
  const int most = device().starts_with("opencl") ? 4 : 2;
  const json info = json::parse(output_of("catenary", {"info", "--json"}, devices(4)));
  std::size_t found = 0;
  for (const json& backend : info["backends"])
    if (device().starts_with(backend["name"].get<std::string>() + ":")) found = backend["devices"].size();
  ASSERT_EQ(found, static_cast<std::size_t>(most)) << info;
  for (const std::string mode : {"loop", "data", "model"}) {
    const double expected = mean_loss(mode, "cpu", "cpu", 1);
    EXPECT_NEAR(mean_loss(mode, sibling(0), sibling(1), 2), expected, 1e-3) << mode;
    if (mode != "loop") continue;
    EXPECT_NEAR(mean_loss(mode, sibling(most - 1), sibling(most - 2), most), expected, 1e-3);
  }
}

// A cold start reports compilation if it takes a second or more.
TEST(Programs, FirstCompilationIsTold) {
  const Folder folder;
  ct::os::make_directories(folder / "pocl");
  const auto train = [&] {
    return run("train_mnist", {"-d", device(), "-m", "cnn", "-n", "200", "-e", "1", "-o", folder / "out"},
               {{"CATENARY_CACHE_DIR", folder / "kernels"}, {"POCL_CACHE_DIR", folder / "pocl"}});
  };
  const ct::os::ProcessResult cold = train();
  ASSERT_TRUE(cold.ok()) << cold.errors;
  if (device().starts_with("opencl") || !cold.errors.empty()) {  // simulated cards may compile within a second
    EXPECT_TRUE(cold.errors.starts_with("compiling kernels for " + device() + " … (only at their first use: " +
                                        (folder / "kernels") + " keeps them)\ncompiled "))
        << cold.errors;
    EXPECT_TRUE(cold.errors.find(" kernels in ") != std::string::npos) << cold.errors;
  }
  EXPECT_EQ(train().errors, "");
}

}  // namespace
