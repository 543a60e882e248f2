#pragma once
// Private: paths of std::filesystem from our texts, which are UTF-8 on every system. Made from a std::string itself, a
// path on Windows would have other letters than the text.

#include <filesystem>
#include <string>
#include <string_view>

namespace catenary {

inline std::filesystem::path to_path(std::string_view text) {
  return std::u8string(reinterpret_cast<const char8_t*>(text.data()), text.size());
}

/// Returns a path as a text with slashes.
inline std::string path_text(const std::filesystem::path& path) {
  const std::u8string text = path.generic_u8string();
  return {reinterpret_cast<const char*>(text.data()), text.size()};
}

/// Returns the folder of a file, "" if the path names none.
inline std::string folder_of(std::string_view file) { return path_text(to_path(file).parent_path()); }

}  // namespace catenary
