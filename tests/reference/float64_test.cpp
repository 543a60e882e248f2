// Tests reference-check on a device without float64: cases that need only float32 are checked, the others are counted.

#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>
#include <set>
#include <tuple>

#include "catenary/io/npz.h"
#include "tests/folder.h"
#include "tests/paths.h"
#include "tests/reference/damage.h"
#include "tests/reference/run.h"

namespace io = catenary::io;
using nlohmann::json;
using reference::Outcome;

namespace {

/// Runs on a simulated card that reports no float64.
Outcome check(const std::string& folder) {
  return reference::reference_check_on_a_card(folder, "CATENARY_NO_FLOAT64=1");
}

void expect(const Outcome& outcome, int status, const std::string& counts) {
  EXPECT_EQ(outcome.status, status);
  EXPECT_NE(outcome.output.find(counts), std::string::npos) << outcome.output;
}

/// Copies the arrays of one file to another and changes an element of one of them.
void copy_vectors(const std::string& from, const std::string& to, const std::string& changed) {
  const io::NpzReader reader(from);
  std::vector<std::pair<std::string, io::HostArray>> arrays;
  for (const std::string& key : reader.names()) {
    arrays.emplace_back(key, reader.read_array(key));
    if (key == changed) reference::change(arrays.back().second, 0, 0.1 * reference::magnitude(arrays.back().second));
  }
  reference::write_npz(to, arrays);
}

TEST(WithoutFloat64, TheHalfOfChainersVectorsInFloat32IsChecked) {
  for (const auto& [group, file, result] : {std::tuple("functions", "softmax_cross_entropy.npz", "gx0"),
                                            std::tuple("optimizers", "optimizer_Adam__WeightDecay.npz", "w3")}) {
    const tests::Folder folder;
    const std::string vectors = tests::source_path("tests/data/reference/chainer/") + group;
    const json manifest = json::parse(std::ifstream(vectors + "/manifest.json"));
    for (const json& entry : manifest[group])
      if (entry["file"] == file) std::ofstream(folder / "manifest.json") << json{{group, {entry}}};
    copy_vectors(vectors + "/" + file, folder / file, "");
    expect(check(folder.path), 0, "1 passed, 0 failed, 0 not implemented, 0 need float64");
    copy_vectors(vectors + "/" + file, folder / file, result);
    expect(check(folder.path), 1, "0 passed, 1 failed, 0 not implemented, 0 need float64");
  }
}

/// Returns whether the arguments are int32 and float32, which NumPy compares as float64.
bool of_int32_and_float32(const json& c, const io::NpzReader& reader) {
  std::set<catenary::Dtype> dtypes;
  for (const json& x : c["args"])
    if (x.is_object() && x.contains("array")) dtypes.insert(reader.read_array(x["array"]).dtype);
  return dtypes == std::set{catenary::Dtype::int32, catenary::Dtype::float32};
}

TEST(WithoutFloat64, NumpysCasesThatNeedItAreCounted) {
  const tests::Folder folder;
  const std::string vectors = tests::source_path("tests/data/reference/numpy");
  const io::NpzReader reader(vectors + "/arrays.npz");
  json cases = json::array();
  std::string single;  // the result in float32
  std::set<std::pair<std::string, catenary::Dtype>> seen;
  const json manifest = json::parse(std::ifstream(vectors + "/manifest.json"));
  for (const json& c : manifest["cases"]) {
    if (c["kind"] != "call") continue;
    const catenary::Dtype dtype = reader.read_array(c["results"][0]).dtype;
    if (c["function"] == "tanh" && (dtype == catenary::Dtype::float64 || dtype == catenary::Dtype::float32)) {
      if (dtype == catenary::Dtype::float32 && single.empty()) single = c["results"][0];
    } else if (c["function"] != "less" || !of_int32_and_float32(c, reader)) {
      continue;
    }
    if (seen.insert({c["function"], dtype}).second) cases.push_back(c);
  }
  ASSERT_EQ(cases.size(), 3u);
  std::ofstream(folder / "manifest.json") << json{{"cases", cases}};
  copy_vectors(vectors + "/arrays.npz", folder / "arrays.npz", "");
  expect(check(folder.path), 0, "1 passed, 0 failed, 0 not implemented, 2 need float64");
  copy_vectors(vectors + "/arrays.npz", folder / "arrays.npz", single);
  expect(check(folder.path), 1, "0 passed, 1 failed, 0 not implemented, 2 need float64");
}

}  // namespace
