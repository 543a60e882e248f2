// reference-check on the NumPy vectors: all of them pass, and a wrong value of every kind of case is found.

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "catenary/io/npz.h"
#include "tests/paths.h"
#include "tests/reference/run.h"

namespace fs = std::filesystem;
namespace io = catenary::io;
using nlohmann::json;
using reference::Outcome;
using reference::reference_check;

namespace {

const fs::path kVectors = tests::source_path("tests/data/reference/numpy");

const json& manifest() {
  static const json content = json::parse(std::ifstream(kVectors / "manifest.json"));
  return content;
}

/// A folder with one case of the vectors and the arrays that it names, changed by the test.
class OneCase {
 public:
  explicit OneCase(json c) : case_(std::move(c)), reader_((kVectors / "arrays.npz").string()) {
    std::string name = testing::TempDir() + "reference-XXXXXX";
    folder_ = mkdtemp(name.data());
  }
  ~OneCase() { fs::remove_all(folder_); }

  json& content() { return case_; }
  /// Runs the check with the first element of `changed` altered.
  Outcome run(const std::string& changed = "") {
    std::ofstream(folder_ / "manifest.json") << json{{"cases", {case_}}};
    io::NpzWriter writer((folder_ / "arrays.npz").string());
    for (const std::string& key : reader_.names()) {
      if (case_.dump().find('"' + key + '"') == std::string::npos) continue;
      const io::HostArray array = reader_.read_array(key);
      if (key == changed) change(array);
      writer.write(key, array);
    }
    writer.finish();
    return reference_check(folder_.string());
  }

 private:
  static void change(const io::HostArray& array) {
    ASSERT_GT(array.size(), 0);
    catenary::visit_dtype(array.dtype, [&](auto zero) {
      using T = decltype(zero);
      T& first = *array.as<T>();
      if constexpr (std::is_same_v<T, bool>) {
        first = !first;
      } else {
        first = static_cast<T>(static_cast<float>(first) == 3.0f ? 5.0f : 3.0f);
      }
    });
  }

  json case_;
  io::NpzReader reader_;
  fs::path folder_;
};

/// The first case of a kind for which `fits` holds.
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
  const Outcome outcome = reference_check(kVectors.string());
  EXPECT_EQ(outcome.status, 0);
  EXPECT_NE(outcome.output.find(std::to_string(manifest()["cases"].size()) + " passed, 0 failed, 0 not implemented"),
            std::string::npos)
      << outcome.output.substr(outcome.output.size() - std::min<std::size_t>(outcome.output.size(), 2000));
}

TEST(NumpyReference, AWrongValueOfEveryKindIsFound) {
  const auto any = [](const json&) { return true; };
  const json cases[] = {
      first_case("call", calls("tanh")),   first_case("call", calls("add")), first_case("call", calls("logical_not")),
      first_case("call", calls("argmin")), first_case("getitem", any),       first_case("setitem", any),
      first_case("inplace", any)};
  for (const json& c : cases) {
    OneCase one(c);
    EXPECT_EQ(one.run().status, 0) << c.dump();
    const Outcome changed = one.run(c["results"][0]);
    EXPECT_EQ(changed.status, 1) << c.dump();
    EXPECT_NE(changed.output.find("FAIL " + c["id"].dump()), std::string::npos) << changed.output;
    EXPECT_NE(changed.output.find("0 passed, 1 failed, 0 not implemented"), std::string::npos) << changed.output;
  }
}

TEST(NumpyReference, WhatIsNotRefusedIsFound) {
  OneCase one(first_case("error", [](const json& c) { return c.value("function", "") == "reshape"; }));
  EXPECT_EQ(one.run().status, 0);
  one.content()["args"][1] = {3, 2};
  EXPECT_EQ(one.run().status, 1);
}

TEST(NumpyReference, AViewThatIsACopyIsFound) {
  OneCase one(first_case("getitem", [](const json& c) { return !c["view"] && c["index"][0].contains("array"); }));
  EXPECT_EQ(one.run().status, 0);
  one.content()["view"] = true;
  EXPECT_EQ(one.run().status, 1);
}

TEST(NumpyReference, WhatIsNotKnownIsSaid) {
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
  EXPECT_EQ(reference_check(testing::TempDir() + "/is-not-there").status, 2);
  EXPECT_EQ(reference_check(kVectors.string() + " --device nonsense").status, 2);
  const json object = json::parse(reference_check(kVectors.string() + " --json").output);
  EXPECT_EQ(object["schema"], 1);
  EXPECT_EQ(object["passed"], object["cases"].size());
}

}  // namespace
