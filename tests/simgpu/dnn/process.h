#pragma once
// Starts processes on a simulated device, with some of the stand-ins for the vendors' libraries.

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "catenary/core/os/process.h"
#include "tests/paths.h"

namespace catenary::simgpu_tests {

using Environment = std::vector<std::pair<std::string, std::string>>;

/// Runs the tests of this program that match a filter, with the libraries of these folders of build/…/simgpu before the
/// device's own.
inline os::ProcessResult with_libraries(const std::string& filter, const std::string& vendor,
                                        const std::vector<std::string>& folders, const std::string& trace,
                                        const Environment& environment) {
  std::string path;
  for (const std::string& folder : folders) path += tests::build_path("simgpu/") + folder + ":";
  os::ProcessOptions options;
  options.timeout = 100;
  options.environment = {{"LD_LIBRARY_PATH", path + tests::build_path("simgpu/") + vendor},
                         {"CATENARY_CACHE_DIR", tests::build_path("simgpu/cache")},
                         {"CATENARY_TRACE", trace},
                         {"GTEST_OUTPUT", ""}};
  for (const auto& variable : environment) {
    std::erase_if(options.environment, [&](const auto& known) { return known.first == variable.first; });
    options.environment.push_back(variable);
  }
  return os::run_process(
      {os::program_path(), "--gtest_filter=" + filter, "--gtest_also_run_disabled_tests", "--device", vendor + ":0"},
      options);
}

inline void expect_says(const os::ProcessResult& result, const std::string& words) {
  EXPECT_TRUE(result.ok()) << result.output << result.errors;
  EXPECT_NE((result.output + result.errors).find(words), std::string::npos) << "expected: " << words << "\n"
                                                                            << result.output << result.errors;
}

}  // namespace catenary::simgpu_tests
