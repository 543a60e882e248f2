#pragma once
// Helpers for tests of tokenizers: fixtures, error messages, damage.

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "catenary/core/error.h"
#include "catenary/core/os/file.h"
#include "catenary/tokenizers/tokenizer.h"
#include "tests/cut_texts.h"
#include "tests/paths.h"

namespace catenary::tokenizers::test {

using Ids = std::vector<std::int64_t>;

inline std::string data_path(const std::string& name) { return tests::source_path("tests/data/tokenizers/" + name); }

inline std::string read_text(const std::string& path) {
  const auto bytes = os::read_file(path);
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

/// Runs f and returns the message of the E that it throws, or "" if it throws none. Any other exception fails the test.
template <class E, class F>
std::string message(F f) {
  try {
    f();
  } catch (const E& e) {
    return e.what();
  } catch (const std::exception& e) {
    ADD_FAILURE() << "another error: " << e.what();
  }
  return "";
}

using tests::streamed;

/// A tokenizer.json with this model and other members, each as JSON.
inline std::string document(const std::string& model, const std::string& others = "") {
  return "{\"version\":\"1.0\",\"truncation\":null,\"padding\":null,\"model\":" + model + others + "}";
}

/// Characters a, b, …, with "ab" and "abc".
inline const std::string kSmallModel =
    R"({"type":"BPE","unk_token":"?","vocab":{"a":0,"b":1,"c":2,"ab":3,"abc":4,"?":5," ":6,"x":7},"merges":["a b",["ab","c"]]})";

}  // namespace catenary::tokenizers::test
