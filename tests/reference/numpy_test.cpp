// Tests reference-check on the NumPy vectors: all of them pass, and a wrong value in every kind of case is found.

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "catenary/io/npz.h"
#include "tests/folder.h"
#include "tests/paths.h"
#include "tests/reference/damage.h"
#include "tests/reference/run.h"

namespace fs = std::filesystem;
namespace ct = catenary;
namespace io = catenary::io;
using nlohmann::json;
using reference::Outcome;
using reference::reference_check;

namespace {

const fs::path kNumPysVectors = tests::source_path("tests/data/reference/numpy");

const json& manifest() {
  static const json content = json::parse(std::ifstream(kNumPysVectors / "manifest.json"));
  return content;
}

/// A folder with one case of the vectors and its arrays, which the test can change.
class OneCase {
 public:
  explicit OneCase(json c) : case_(std::move(c)), reader_((kNumPysVectors / "arrays.npz").string()) {}

  json& content() { return case_; }
  Outcome run() {
    std::ofstream(folder_ / "manifest.json") << json{{"cases", {case_}}};
    io::NpzWriter writer(folder_ / "arrays.npz");
    for (const std::string& key : reader_.names()) {
      if (case_.dump().find('"' + key + '"') == std::string::npos) continue;
      writer.write(key, reader_.read_array(key));
    }
    writer.finish();
    return reference_check(folder_.path);
  }

 private:
  json case_;
  io::NpzReader reader_;
  const tests::Folder folder_;
};

/// Returns the first case of a kind that fulfils `fits`.
template <class F>
json first_case(const std::string& kind, F&& fits) {
  for (const json& c : manifest()["cases"])
    if (c["kind"] == kind && fits(c)) return c;
  ADD_FAILURE() << "no such case: " << kind;
  return {};
}
auto calls(const std::string& name) {
  return [=](const json& c) { return c["function"] == name; };
}

TEST(NumpyReference, EveryCasePasses) {
  for (const fs::path& folder : {kNumPysVectors, kNumPysVectors.parent_path() / "numpy_linalg"}) {
    const std::size_t cases = json::parse(std::ifstream(folder / "manifest.json"))["cases"].size();
    const Outcome outcome = reference_check(folder.string());
    EXPECT_EQ(outcome.status, 0);
    EXPECT_NE(outcome.output.find(std::to_string(cases) + " passed, 0 failed, 0 not implemented"), std::string::npos)
        << outcome.output.substr(outcome.output.size() - std::min<std::size_t>(outcome.output.size(), 2000));
  }
}

/// Appends an axis of size 0 to the shape.
io::HostArray longer(const io::HostArray& a) {
  ct::Shape shape = a.shape;
  shape.push_back(0);
  return io::HostArray::empty(a.dtype, shape);
}

/// Changes one element by more than the case's tolerance, or the shape if there are no elements.
io::HostArray damaged(const io::HostArray& original, double rtol) {
  if (original.size() == 0) return longer(original);
  const io::HostArray a = reference::copy_of(original);
  const double precision = a.dtype == ct::Dtype::bfloat16  ? 0.02
                           : a.dtype == ct::Dtype::float16 ? 0.005
                           : a.dtype == ct::Dtype::float32 ? 1e-6
                                                           : 1e-14;
  reference::change(a, a.size() / 2, reference::magnitude(a) * std::max(4 * rtol, precision));
  return a;
}

TEST(NumpyReference, AWrongResultOfAnyCaseIsFound) {
  const io::NpzReader reader((kNumPysVectors / "arrays.npz").string());
  const tests::Folder folder;
  io::NpzWriter writer(folder / "arrays.npz", {.compression = io::NpzCompression::stored});
  for (const std::string& key : reader.names()) writer.write(key, reader.read_array(key));
  json cases = json::array();
  for (const json& c : manifest()["cases"]) {
    if (!c.contains("results")) continue;
    for (std::size_t i = 0; i < c["results"].size(); ++i) {
      json wrong = c;
      const std::string key = "wrong" + std::to_string(cases.size());
      writer.write(key, damaged(reader.read_array(c["results"][i]), c.value("rtol", 0.0)));
      wrong["results"][i] = key;
      wrong["id"] = cases.size();
      cases.push_back(wrong);
    }
  }
  writer.finish();
  // calls that work where an error is expected, and calls that fail where a result is expected
  for (json c : manifest()["cases"]) {
    if (c["kind"] == "call" || (c["kind"] == "error" && c["of"] == "call")) {
      const bool works = c["kind"] == "call";
      c["kind"] = works ? "error" : "call";
      works ? c["of"] = "call" : c["results"] = json::array();
      c["id"] = cases.size();
      cases.push_back(c);
    }
  }
  std::ofstream(folder / "manifest.json") << json{{"cases", cases}};
  const json report = json::parse(reference_check(folder.path + " --json").output);
  ASSERT_EQ(report["cases"].size(), cases.size());
  EXPECT_GT(cases.size(), 2 * manifest()["cases"].size() - 300);
  for (std::size_t i = 0; i < cases.size(); ++i)
    EXPECT_EQ(report["cases"][i]["result"], "failed") << report["cases"][i] << cases[i];
}

TEST(NumpyReference, MissingRefusalsAreFound) {
  OneCase one(first_case("error", [](const json& c) { return c.value("function", "") == "reshape"; }));
  EXPECT_EQ(one.run().status, 0);
  one.content()["args"][1] = {3, 2};
  EXPECT_EQ(one.run().status, 1);
}

// A GPU reports an index out of range at the next synchronization, not in the call.
TEST(NumpyReference, LateErrorsOfGpusCount) {
  const tests::Folder folder;
  fs::copy_file(kNumPysVectors / "arrays.npz", folder / "arrays.npz");
  json errors = json::array();
  for (const json& c : manifest()["cases"])
    if (c["kind"] == "error") errors.push_back(c);
  std::ofstream(folder / "manifest.json") << json{{"cases", errors}};
  const Outcome outcome = reference::reference_check_on_a_card(folder.path);
  EXPECT_EQ(outcome.status, 0);
  EXPECT_NE(outcome.output.find(std::to_string(errors.size()) + " passed, 0 failed, 0 not implemented"),
            std::string::npos)
      << outcome.output;
}

TEST(NumpyReference, AViewThatIsACopyIsFound) {
  OneCase one(first_case("getitem", [](const json& c) { return !c["view"] && c["index"][0].contains("array"); }));
  EXPECT_EQ(one.run().status, 0);
  one.content()["view"] = true;
  EXPECT_EQ(one.run().status, 1);
}

TEST(NumpyReference, UnknownFunctionsAreReported) {
  OneCase one(first_case("call", calls("tanh")));
  one.content()["kwargs"]["order"] = "K";
  Outcome outcome = one.run();
  EXPECT_EQ(outcome.status, 0);
  EXPECT_NE(outcome.output.find("0 passed, 0 failed, 1 not implemented"), std::string::npos) << outcome.output;
  one.content()["kwargs"] = json::object();
  one.content()["function"] = "bartlett";
  outcome = one.run();
  EXPECT_NE(outcome.output.find("---- "), std::string::npos) << outcome.output;
}

TEST(NumpyReference, UsageAndUnreadableFolders) {
  EXPECT_EQ(reference_check("").status, 2);
  EXPECT_EQ(reference_check("--wrong").status, 2);
  EXPECT_EQ(reference_check("/is/not/there").status, 2);
  EXPECT_EQ(reference_check(kNumPysVectors.string() + " --device nonsense").status, 2);
  const json object = json::parse(reference_check(kNumPysVectors.string() + " --json").output);
  EXPECT_EQ(object["schema"], 1);
  EXPECT_EQ(object["passed"], object["cases"].size());
}

}  // namespace
