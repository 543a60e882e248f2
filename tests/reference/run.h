#pragma once

#include <sys/wait.h>

#include <cstdio>
#include <string>

#include "tests/paths.h"

namespace reference {

/// The exit status and output of reference-check.
struct Outcome {
  int status;
  std::string output;
};

inline Outcome reference_check(const std::string& arguments, const std::string& environment = "") {
  const std::string command = environment + " " + tests::build_path("bin/reference-check ") + arguments + " 2>&1";
  FILE* pipe = popen(command.c_str(), "r");
  Outcome outcome{-1, ""};
  char buffer[4096];
  while (pipe && std::fgets(buffer, sizeof buffer, pipe)) outcome.output += buffer;
  if (pipe) outcome.status = WEXITSTATUS(pclose(pipe));
  return outcome;
}

/// Runs reference-check on a simulated card.
inline Outcome reference_check_on_a_card(const std::string& folder, const std::string& environment = "") {
  return reference_check(folder + " --device cuda:0", environment +
                                                          " LD_LIBRARY_PATH=" + tests::build_path("simgpu/cuda") +
                                                          " CATENARY_CACHE_DIR=" + tests::build_path("simgpu/cache"));
}

}  // namespace reference
