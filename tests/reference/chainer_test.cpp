// reference-check on the Chainer vectors: those of functions that are here pass, and one wrong value in any array of a
// case is found.

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <set>

#include "catenary/io/npz.h"
#include "tests/paths.h"
#include "tests/reference/run.h"

namespace fs = std::filesystem;
namespace io = catenary::io;
using nlohmann::json;
using reference::Outcome;
using reference::reference_check;

namespace {

const fs::path kVectors = tests::source_path("tests/data/reference/chainer");

/// Functions of convolutional and recurrent networks, of images and of signals, which the library does not have.
const std::set<std::string> kAbsent = {
    "average_pooling_2d",
    "average_pooling_3d",
    "connectionist_temporal_classification",
    "convolution_1d",
    "convolution_2d",
    "convolution_3d",
    "deconvolution_1d",
    "deconvolution_2d",
    "depthwise_convolution_2d",
    "dilated_convolution_2d",
    "fft",
    "ifft",
    "im2col",
    "local_convolution_2d",
    "lstm",
    "max_pooling_1d",
    "max_pooling_2d",
    "resize_images",
    "roi_average_align_2d",
    "roi_pooling_2d",
    "slstm",
    "spatial_pyramid_pooling_2d",
    "spatial_transformer_grid",
    "spatial_transformer_sampler",
    "tree_lstm",
    "unpooling_2d",
};

json run_json(const fs::path& folder) { return json::parse(reference_check(folder.string() + " --json").output); }

TEST(ChainerReference, FunctionsPass) {
  const json report = run_json(kVectors / "functions");
  EXPECT_EQ(report["cases"].size(), 184u);
  for (const json& c : report["cases"])
    EXPECT_TRUE(c["result"] == "passed" || (c["result"] == "not implemented" && kAbsent.contains(c["function"])))
        << c.dump();
}

TEST(ChainerReference, OptimizersPass) {
  const json report = run_json(kVectors / "optimizers");
  EXPECT_EQ(report["passed"], 21);
  EXPECT_EQ(report["failed"], 0) << report.dump(1);
}

/// A folder with one case.
class OneCase {
 public:
  OneCase(const std::string& group, const std::string& file) : group_(group), file_(file) {
    const json all = json::parse(std::ifstream(kVectors / group / "manifest.json"));
    for (const json& entry : all[group])
      if (entry["file"] == file) entry_ = entry;
    std::string name = testing::TempDir() + "reference-XXXXXX";
    folder_ = mkdtemp(name.data());
  }
  ~OneCase() { fs::remove_all(folder_); }

  json& entry() { return entry_; }
  std::vector<std::string> arrays() const { return reader().names(); }
  /// Runs the check with the second element of an array altered.
  Outcome run(const std::string& changed = "") const {
    std::ofstream(folder_ / "manifest.json") << json{{group_, {entry_}}};
    io::NpzWriter writer((folder_ / file_).string());
    for (const std::string& key : arrays()) {
      const io::HostArray array = reader().read_array(key);
      if (key == changed)
        catenary::visit_dtype(array.dtype, [&](auto zero) { change(array.as<decltype(zero)>()[array.size() > 1]); });
      writer.write(key, array);
    }
    writer.finish();
    return reference_check(folder_.string());
  }

 private:
  io::NpzReader reader() const { return io::NpzReader((kVectors / group_ / file_).string()); }
  template <class T>
  static void change(T& value) {
    if constexpr (std::is_floating_point_v<T>) {
      value += static_cast<T>(0.01);
    } else if constexpr (std::is_same_v<T, bool>) {
      value = !value;
    } else {
      value = static_cast<T>(static_cast<float>(value) == 1.0f ? 2.0f : 1.0f);
    }
  }

  std::string group_, file_;
  json entry_;
  fs::path folder_;
};

TEST(ChainerReference, AWrongValueInAnyArrayIsFound) {
  for (const char* file : {"tanh.npz", "softmax_cross_entropy.npz", "matmul.npz", "accuracy.npz"}) {
    const OneCase one("functions", file);
    EXPECT_EQ(one.run().status, 0) << file;
    for (const std::string& key : one.arrays()) {
      if (std::string(file) == "accuracy.npz" && key[0] == 'x') continue;  // may leave the result as it is
      const Outcome changed = one.run(key);
      EXPECT_EQ(changed.status, 1) << file << ": " << key;
      EXPECT_NE(changed.output.find("0 passed, 1 failed, 0 not implemented"), std::string::npos) << changed.output;
    }
  }
  const OneCase adam("optimizers", "optimizer_Adam__WeightDecay.npz");
  EXPECT_EQ(adam.run().status, 0);
  for (const char* key : {"w0", "b0", "gw1", "gb12", "w1", "w12", "b7"}) EXPECT_EQ(adam.run(key).status, 1) << key;
}

TEST(ChainerReference, WhatIsNotKnownIsSaid) {
  const auto not_implemented = [](const OneCase& one, const std::string& what) {
    const Outcome outcome = one.run();
    EXPECT_EQ(outcome.status, 0);
    EXPECT_NE(outcome.output.find("0 passed, 0 failed, 1 not implemented"), std::string::npos) << outcome.output;
    EXPECT_NE(outcome.output.find(what), std::string::npos) << outcome.output;
  };
  OneCase keyword("functions", "tanh.npz");
  keyword.entry()["kwargs"]["order"] = 3;
  not_implemented(keyword, "keyword argument order");
  OneCase function("functions", "tanh.npz");
  function.entry()["function"] = "tangent";
  not_implemented(function, "function tangent");
  OneCase slices("functions", "get_item.npz");
  slices.entry()["kwargs"]["slices"] = "[[0, 1], 2]";
  not_implemented(slices, "an index");
  OneCase hook("optimizers", "optimizer_SGD__Lasso.npz");
  hook.entry()["hook_args"] = {1, 2};
  not_implemented(hook, "hook Lasso");
}

}  // namespace
