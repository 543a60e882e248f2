#pragma once
// What programs and errors say, as tests compare it.

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <functional>
#include <sstream>
#include <string>
#include <vector>

#include "catenary/core/error.h"

namespace tests {

/// The message of the ValueError that f throws.
inline std::string message_of(const std::function<void()>& f) {
  try {
    f();
  } catch (const catenary::ValueError& error) {
    return error.what();
  }
  return "nothing was thrown";
}

/// What several ranks print comes in any order: the lines, sorted.
inline std::string sorted(const std::string& text) {
  std::istringstream stream(text);
  std::vector<std::string> lines;
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  std::sort(lines.begin(), lines.end());
  return fmt::format("{}\n", fmt::join(lines, "\n"));
}

}  // namespace tests
