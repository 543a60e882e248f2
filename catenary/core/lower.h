#pragma once
// Private: ASCII letters in lower case, whatever the locale.

#include <string>
#include <string_view>

namespace catenary {

/// Returns the text with A to Z replaced by a to z.
inline std::string lower(std::string_view text) {
  std::string result(text);
  for (char& c : result)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c + ('a' - 'A'));
  return result;
}

}  // namespace catenary
