// Counts launches of functions that join and pad arrays: one launch for any number of parts and of repeated axes.

#include <gtest/gtest.h>

#include <cstdio>
#include <functional>
#include <map>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "catenary/array/creation.h"
#include "catenary/array/manipulation.h"
#include "catenary/core/os/process.h"
#include "catenary/device/device.h"

namespace catenary {
namespace {

/// A name in the trace, and its number of launches.
struct Counted {
  const char* name;
  int pieces;
  std::function<Array(const std::vector<Array>&)> compute;
};
const std::vector<Counted>& counted() {
  static const std::vector<Counted> all = {
      {"concat along the first axis", 1, [](const auto& x) { return concatenate(x, 0); }},
      {"concat along the last axis", 1, [](const auto& x) { return concatenate(x, -1); }},
      {"stack", 1, [](const auto& x) { return stack(x, 1); }},
      {"concat of 40", 1, [](const auto& x) { return concatenate(std::vector<Array>(40, x[0]), 0); }},
      {"pad with a constant: a copy, and two borders of each axis", 7,
       [](const auto& x) {
         return pad(x[0], {1, 2});
       }},
      {"pad by edge", 1,
       [](const auto& x) {
         return pad(x[0], {1, 2}, {.mode = PadMode::edge});
       }},
      {"pad by reflection", 1,
       [](const auto& x) {
         return pad(x[0], {2, 1}, {.mode = PadMode::reflect});
       }},
      {"pad by wrapping", 1, [](const auto& x) {
         return pad(x[0], {2, 1}, {.mode = PadMode::wrap});
       }}};
  return all;
}

/// Run by the next test in a separate process, which reads the trace between the names.
TEST(Inside, JoinsAndPads) {
  const DeviceScope scope(current_device());
  std::vector<Array> x;
  for (int i = 0; i < 5; ++i) x.push_back((arange(60, Dtype::float32) + i).reshape({3, 4, 5}).eval());
  for (const Counted& one : counted()) {
    std::fprintf(stderr, "case %s\n", one.name);
    one.compute(x).eval();
  }
}

TEST(Launches, OfConcatStackAndPad) {
  os::ProcessOptions options;
  options.timeout = 100;
  options.environment = {{"CATENARY_TRACE", "kernels"}, {"GTEST_OUTPUT", ""}};
  const auto result = os::run_process(
      {os::program_path(), "--gtest_filter=Inside.JoinsAndPads", "--device", current_device().name()}, options);
  ASSERT_TRUE(result.ok()) << result.output << result.errors;
  std::map<std::string, int> pieces;
  std::istringstream lines(result.errors);
  std::string name;
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with("case ")) name = line.substr(5);
    pieces[name] += line.starts_with("kernel ");
  }
  for (const Counted& one : counted()) EXPECT_EQ(pieces[one.name], one.pieces) << one.name << "\n" << result.errors;
}

}  // namespace
}  // namespace catenary
