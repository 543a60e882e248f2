#pragma once
// Helpers for tests of failures, which run this program again in another environment.

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "catenary/core/os/process.h"
#include "catenary/device/backend.h"
#include "catenary/device/device.h"

namespace catenary::faults {

inline std::string vendor() { return current_device().backend().name(); }

using Environment = std::vector<std::pair<std::string, std::string>>;

/// Runs this program again, with another environment.
inline os::ProcessResult again(const std::string& filter, Environment environment) {
  os::ProcessOptions options;
  options.timeout = 200;
  environment.emplace_back("GTEST_OUTPUT", "");
  options.environment = std::move(environment);
  return os::run_process({os::program_path(), "--gtest_filter=" + filter, "--device", vendor() + ":0"}, options);
}

inline void expect_says(const os::ProcessResult& result, const std::string& words) {
  EXPECT_NE((result.output + result.errors).find(words), std::string::npos) << "expected: " << words << "\n"
                                                                            << result.output << result.errors;
}

}  // namespace catenary::faults
