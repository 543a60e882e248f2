#pragma once
// Runs programs as a user would.

#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "catenary/core/os/file.h"
#include "catenary/core/os/process.h"
#include "tests/paths.h"
#include "tests/texts.h"

namespace examples {

using tests::has;

inline catenary::os::ProcessResult run(const std::string& program, std::vector<std::string> arguments) {
  arguments.insert(arguments.begin(), tests::build_path("bin/") + program);
  return catenary::os::run_process(arguments,
                                   {.timeout = 300, .environment = {{"CATENARY_DATA", tests::source_path("data")}}});
}

inline std::string output_of(const std::string& program, const std::vector<std::string>& arguments) {
  const catenary::os::ProcessResult result = run(program, arguments);
  EXPECT_TRUE(result.ok()) << program << ": " << result.errors;
  return result.output;
}

inline std::string error_of(const std::string& program, const std::vector<std::string>& arguments, int code = 1) {
  const catenary::os::ProcessResult result = run(program, arguments);
  EXPECT_EQ(result.exit_code, code) << program;
  EXPECT_EQ(result.signal, 0);
  return result.errors;
}

inline nlohmann::json log_of(const std::string& folder) {
  return nlohmann::json::parse(std::ifstream(folder + "/log"));
}

/// The newest snapshot in a folder.
inline std::string snapshot_in(const std::string& folder) {
  for (const std::string& name : catenary::os::list_directory(folder))
    if (name.starts_with("snapshot_iter_")) return folder + "/" + name;
  return folder + "/no snapshot";
}

}  // namespace examples
