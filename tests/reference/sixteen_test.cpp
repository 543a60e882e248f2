// Tests reference-check --dtype: Chainer's and NumPy's vectors in 16 bits. All pass except the functions without 16-bit
// support, which are listed here too. A wrong value is found, and so is a wrong entry of the table of unsupported
// functions.

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <set>
#include <string>

#include "catenary/io/npz.h"
#include "tests/folder.h"
#include "tests/paths.h"
#include "tests/reference/damage.h"
#include "tests/reference/run.h"

namespace fs = std::filesystem;
namespace io = catenary::io;
using nlohmann::json;
using reference::reference_check;

namespace {

constexpr const char* kDtypes[] = {"float16", "bfloat16"};
const std::string kAllVectors = tests::source_path("tests/data/reference/");

json run_json(const std::string& folder, const std::string& dtype) {
  return json::parse(reference_check(folder + " --json --dtype " + dtype).output);
}

/// Expects all cases to pass except those that the table excludes from 16 bits and those with wrong vectors.
void expect_passed_in_16_bits(const std::string& group, std::size_t cases, const std::set<std::string>& not_in_16_bits,
                              const std::set<std::string>& wrong = {}) {
  for (const char* dtype : kDtypes) {
    const json report = run_json(kAllVectors + group, dtype);
    EXPECT_EQ(report["cases"].size(), cases);
    EXPECT_EQ(report["not_in_16_bits"], not_in_16_bits.size());
    for (const json& c : report["cases"])
      EXPECT_EQ(c["result"], not_in_16_bits.contains(c["id"]) ? "not in 16 bits"
                             : wrong.contains(c["id"])        ? "the vectors are wrong"
                                                              : "passed")
          << dtype << " " << c.dump();
  }
}

TEST(SixteenBitReference, FunctionsPass) { expect_passed_in_16_bits("chainer/functions", 184, {"cholesky.npz"}); }
TEST(SixteenBitReference, NetworksPass) {
  expect_passed_in_16_bits("chainer/nets", 80, {}, {"average_pooling_nd__pad_value.npz"});
}
TEST(SixteenBitReference, OptimizersPass) { expect_passed_in_16_bits("chainer/optimizers", 25, {}); }

// The cases of training trajectories have dtypes of their own, and the report says so.
TEST(SixteenBitReference, CasesWithOwnDtypesAreReported) {
  const json report = run_json(kAllVectors + "chainer/precision", "float16");
  EXPECT_EQ(report["not_in_16_bits"], 24);
  for (const json& c : report["cases"]) EXPECT_EQ(c["detail"], "the case has a dtype of its own");
  for (const char* folder : {"chainer/functions --dtype float32", "chainer/functions --dtype mixed16"})
    EXPECT_EQ(reference_check(kAllVectors + folder).status, 2);
  const tests::Folder torch;
  std::ofstream(torch / "manifest.json") << json{{"torch", json::array()}};
  const reference::Outcome outcome = reference_check(torch.path + " --dtype float16");
  EXPECT_EQ(outcome.status, 2);
  EXPECT_NE(outcome.output.find("torchvision's have dtypes of their own"), std::string::npos) << outcome.output;
}

/// A folder with one case. An array can be changed, and the case can name another function.
class ChainersCase {
 public:
  ChainersCase(const std::string& group, const std::string& file, const std::string& changed = "",
               const std::string& function = "") {
    const std::string from = kAllVectors + "chainer/" + group + "/";
    const json manifest = json::parse(std::ifstream(from + "manifest.json"));
    for (json entry : manifest[group]) {
      if (entry["file"] != file) continue;
      if (!function.empty()) entry["function"] = function;
      std::ofstream(folder_ / "manifest.json") << json{{group, json::array({entry})}};
    }
    const io::NpzReader reader(from + file);
    std::vector<std::pair<std::string, io::HostArray>> arrays;
    for (const std::string& key : reader.names()) {
      arrays.emplace_back(key, reader.read_array(key));
      if (key == changed) reference::change(arrays.back().second, 0, 0.01 * reference::magnitude(arrays.back().second));
    }
    reference::write_npz(folder_ / file, arrays);
  }
  json run(const std::string& dtype) const { return run_json(folder_.path, dtype)["cases"][0]; }

 private:
  const tests::Folder folder_;
};

TEST(SixteenBitReference, AWrongValueIsFound) {
  for (const char* dtype : kDtypes) {
    for (const char* key : {"y0", "gx0", "d_x0"})
      EXPECT_EQ(ChainersCase("functions", "tanh.npz", key).run(dtype)["result"], "failed") << key;
    EXPECT_EQ(ChainersCase("functions", "tanh.npz").run(dtype)["result"], "passed");
    EXPECT_EQ(ChainersCase("optimizers", "optimizer_Adam.npz", "w7").run(dtype)["result"], "failed");
  }
}

// A function that the table excludes from 16 bits must refuse them, otherwise its case fails.
TEST(SixteenBitReference, ExcludedFunctionsMustRefuse) {
  const json c = ChainersCase("functions", "cholesky.npz").run("float16");
  EXPECT_EQ(c["result"], "not in 16 bits");
  EXPECT_EQ(c["detail"], "matrices are factorised in float32 and float64 alone");
}

TEST(SixteenBitReference, NumpysCasesPassWhereTheyAreGivenFloats) {
  for (const char* group : {"numpy", "numpy_linalg"}) {
    for (const char* dtype : kDtypes) {
      const json report = run_json(kAllVectors + group, dtype);
      EXPECT_EQ(report["failed"], 0);
      EXPECT_EQ(report["not_implemented"], 0);
      EXPECT_GT(report["passed"], 0);
      for (const json& c : report["cases"])
        EXPECT_TRUE(c["result"] == "passed" || !c["detail"].get<std::string>().empty());
    }
  }
}

}  // namespace
