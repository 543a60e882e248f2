#pragma once
// Messages of errors, and pieces of texts.

#include <cstddef>
#include <string>
#include <vector>

#include "catenary/core/error.h"
#include "catenary/core/os/file.h"

namespace tests {

/// Returns the message of the E that f throws, or "" if it throws nothing. Other errors propagate.
template <class E = catenary::Error, class Call>
std::string error_of(Call&& f) {
  try {
    f();
  } catch (const E& error) {
    return error.what();
  }
  return "";
}

/// Returns whether the text contains the piece.
inline bool has(const std::string& text, const std::string& piece) { return text.find(piece) != std::string::npos; }

/// Returns the contents of a file.
inline std::string text_of(const std::string& path) {
  const std::vector<std::byte> bytes = catenary::os::read_file(path);
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

}  // namespace tests
