// Tests reference-check on the Chainer vectors: the cases of all functions pass, and one wrong value in any array of a
// case is found.

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <set>

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

const fs::path kVectors = tests::source_path("tests/data/reference/chainer");

json run_json(const fs::path& folder) { return json::parse(reference_check(folder.string() + " --json").output); }

void expect_passed(const std::string& group, std::size_t cases, const std::set<std::string>& wrong) {
  const json report = run_json(kVectors / group);
  EXPECT_EQ(report["cases"].size(), cases);
  for (const json& c : report["cases"])
    EXPECT_EQ(c["result"], wrong.contains(c["id"]) ? "the vectors are wrong" : "passed") << c.dump();
}

TEST(ChainerReference, FunctionsPass) { expect_passed("functions", 184, {}); }
TEST(ChainerReference, NetworksPass) { expect_passed("nets", 80, {"average_pooling_nd__pad_value.npz"}); }

TEST(ChainerReference, OptimizersPass) {
  const json report = run_json(kVectors / "optimizers");
  EXPECT_EQ(report["passed"], 25);
  EXPECT_EQ(report["failed"], 0) << report.dump(1);
}

TEST(ChainerReference, TrainingsInSixteenBitsPass) {
  const json report = run_json(kVectors / "precision");
  EXPECT_EQ(report["passed"], 24);
  EXPECT_EQ(report["failed"], 0) << report.dump(1);
}

json entries_of(const std::string& group) {
  return json::parse(std::ifstream(kVectors / group / "manifest.json"))[group];
}

json entry_of(const std::string& group, const std::string& file) {
  for (const json& entry : entries_of(group))
    if (entry["file"] == file) return entry;
  ADD_FAILURE() << "no such case: " << file;
  return {};
}

/// Returns whether an array of a case is an input of the function or optimizer, not a result.
bool is_given(const std::string& key) {
  return key[0] == 'x' || key.starts_with("gy") || key.starts_with("ggx") || key.starts_with("gw") ||
         key.starts_with("gb") || key == "w0" || key == "b0";
}

/// A folder of cases of the vectors, each in a file of its own.
class Cases {
 public:
  explicit Cases(std::string group) : group_(std::move(group)) {}

  static io::NpzReader reader(const std::string& group, const json& entry) {
    return io::NpzReader((kVectors / group / entry["file"].get<std::string>()).string());
  }
  /// Adds a case with one array changed: one element of a result, or every element of an input.
  void add(const json& entry, const std::string& changed = "") {
    const io::NpzReader original = reader(group_, entry);
    json added = entry;
    added["file"] = fs::path(entry["file"].get<std::string>()).stem().string() + ":" + changed;
    std::vector<std::pair<std::string, io::HostArray>> arrays;
    for (const std::string& key : original.names()) {
      const io::HostArray array = original.read_array(key);
      if (key == changed) change_some(array, is_given(key));
      arrays.emplace_back(key, array);
    }
    reference::write_npz(folder_ / added["file"], arrays);
    entries_.push_back(added);
  }
  std::size_t size() const { return entries_.size(); }
  json run() const {
    std::ofstream(folder_ / "manifest.json") << json{{group_, entries_}};
    return run_json(folder_.path);
  }

 private:
  /// Changes a result by a little more than any tolerance. Inputs also change their signs, because step functions would
  /// not notice less, and by uneven amounts, because softmax would not notice an even shift.
  static void change_some(const io::HostArray& array, bool given) {
    const double step = 0.01 * reference::magnitude(array);
    const std::int64_t n = array.size();
    if (!given) return reference::change(array, n / 2, step);
    for (std::int64_t i = 0; i < n; ++i) reference::change(array, i, step * static_cast<double>(i * i % 11), -1);
  }

  const tests::Folder folder_;
  std::string group_;
  json entries_ = json::array();
};

/// Changes each array of each case in turn and returns the cases whose change was not found.
std::vector<std::string> not_found(const std::string& group) {
  Cases damaged(group);
  for (const json& entry : entries_of(group)) {
    const io::NpzReader original = Cases::reader(group, entry);
    for (const std::string& key : original.names()) damaged.add(entry, key);
  }
  const json report = damaged.run();
  EXPECT_EQ(report["cases"].size(), damaged.size());
  std::vector<std::string> ids;
  for (const json& c : report["cases"])
    if (c["result"] != "failed") ids.push_back(c["id"]);
  return ids;
}

TEST(ChainerReference, AWrongValueInAnyArrayOfAnyFunctionIsFound) {
  for (const std::string& id : not_found("functions")) ADD_FAILURE() << id;
}

TEST(ChainerReference, AWrongValueInAnyArrayOfAnyTrajectoryIsFound) {
  for (const std::string& id : not_found("optimizers")) ADD_FAILURE() << id;
}

TEST(ChainerReference, UnknownFunctionsAreReported) {
  const auto expect = [](const std::string& group, const json& entry, const char* result, const std::string& what) {
    Cases one(group);
    one.add(entry);
    const json report = one.run();
    EXPECT_EQ(report["cases"][0]["result"], result) << report;
    EXPECT_NE(report["cases"][0]["detail"].get<std::string>().find(what), std::string::npos) << report;
  };
  json keyword = entry_of("functions", "tanh.npz");
  keyword["kwargs"]["order"] = 3;
  expect("functions", keyword, "not implemented", "keyword argument order");
  json function = entry_of("functions", "tanh.npz");
  function["function"] = "tangent";
  expect("functions", function, "not implemented", "function tangent");
  json slices = entry_of("functions", "get_item.npz");
  slices["kwargs"]["slices"] = "[[0, 1], 2]";
  expect("functions", slices, "not implemented", "an index");
  json hook = entry_of("optimizers", "optimizer_SGD__Lasso.npz");
  hook["hook_args"] = {1, 2};
  expect("optimizers", hook, "not implemented", "hook Lasso");
  // a case that throws has failed, whether or not its keywords were read before
  json thrown = entry_of("functions", "get_item.npz");
  thrown["kwargs"] = {{"slices", "[77]"}, {"order", 3}};
  expect("functions", thrown, "failed", "77");
}

}  // namespace
