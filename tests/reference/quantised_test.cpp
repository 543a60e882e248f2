// Tests reference-check on the vectors of quantised weights: all pass, and a wrong byte or value of each kind is found.

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <set>
#include <string>

#include "catenary/core/quantization.h"
#include "catenary/io/npz.h"
#include "tests/folder.h"
#include "tests/paths.h"
#include "tests/reference/damage.h"
#include "tests/reference/run.h"

namespace {

namespace fs = std::filesystem;
using nlohmann::json;
using reference::Outcome;
using reference::reference_check;

const fs::path& vectors() {
  static const fs::path path = tests::source_path("tests/data/reference/quantised");
  return path;
}

TEST(QuantisedReference, EveryCasePasses) {
  const std::size_t cases = json::parse(std::ifstream(vectors() / "manifest.json"))["quantised"].size();
  const Outcome outcome = reference_check(vectors().string());
  EXPECT_EQ(outcome.status, 0);
  EXPECT_NE(outcome.output.find(std::to_string(cases) + " passed, 0 failed, 0 not implemented"), std::string::npos)
      << outcome.output;
}

TEST(QuantisedReference, AWrongValueIsFound) {
  const json manifest = json::parse(std::ifstream(vectors() / "manifest.json"));
  const tests::Folder folder;
  std::set<std::string> kinds;
  for (const json& entry : manifest["quantised"]) {
    const std::string name = entry["file"];
    if (!name.ends_with("odd.npz")) continue;
    kinds.insert(entry["kind"]);
    folder.write("manifest.json", json{{"quantised", {entry}}}.dump());
    const catenary::io::NpzReader file((vectors() / name).string());
    for (const char* const damaged : {"blocks", "back"}) {
      std::vector<std::pair<std::string, reference::HostArray>> arrays;
      for (const std::string& key : file.names()) {
        arrays.emplace_back(key, reference::copy_of(file.read_array(key)));
        const reference::HostArray& last = arrays.back().second;
        if (key == damaged) reference::change(last, last.size() / 2, 0.01, 1.01);
      }
      reference::write_npz(folder / name, arrays);
      const Outcome outcome = reference_check(folder.path);
      EXPECT_EQ(outcome.status, 1) << name << " " << damaged << outcome.output;
    }
  }
  for (const catenary::QuantizationInfo& info : catenary::kQuantizationInfos)
    EXPECT_TRUE(kinds.contains(info.name) || info.head > 0) << info.name << " has no vectors";
}

}  // namespace
