// Tests reference-check on tokenizers: the results equal those of the Python package, and a difference is found.

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "tests/folder.h"
#include "tests/paths.h"
#include "tests/reference/run.h"

namespace {

using nlohmann::json;
using reference::Outcome;
using reference::reference_check;

TEST(TokenizersReference, DifferencesAreFound) {
  const tests::Folder folder;
  for (const char* file : {"gpt2.json", "unigram.json", "cases.json"})
    std::filesystem::copy(tests::source_path(std::string("tests/data/tokenizers/") + file), folder / file);
  folder.write("manifest.json", R"({"tokenizers": ["gpt2", "unigram"]})");
  const Outcome whole = reference_check(folder.path);
  EXPECT_EQ(whole.status, 0);
  EXPECT_NE(whole.output.find("2 passed, 0 failed"), std::string::npos) << whole.output;

  const json cases = json::parse(std::ifstream(folder / "cases.json"));
  for (const char* damaged : {"full", "plain", "text_of_full", "text_of_plain"}) {
    json changed = cases;
    json& value = changed["results"]["unigram"][damaged][7];
    value = value.is_array() ? json::array({1, 2}) : json("another");
    folder.write("cases.json", changed.dump());
    const Outcome outcome = reference_check(folder.path);
    EXPECT_EQ(outcome.status, 1) << damaged;
    EXPECT_NE(outcome.output.find("ok   gpt2 load_tokenizer\nFAIL unigram load_tokenizer: 1 of 100 texts, such as "),
              std::string::npos)
        << outcome.output;
  }
  std::filesystem::remove(folder / "cases.json");
  EXPECT_EQ(reference_check(folder.path).output, "reference-check: " + folder.path + "/cases.json: cannot be read\n");
}

}  // namespace
