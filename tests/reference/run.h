#pragma once

#include <sys/wait.h>

#include <cstdio>
#include <string>

#include "tests/paths.h"

namespace reference {

/// What the program reference-check said.
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

}  // namespace reference
