#pragma once
// Private: settings in a model's file that no code reads.

#include <string>
#include <vector>

namespace catenary::links::detail {

/// A setting that no code has read.
struct UnusedSetting {
  std::string name;
  bool is_off = false;  ///< its value is false
};
/// Throws FileError for settings that may change scores, judging by their names (positions, attention, scales,
/// experts), unless they are false. Lists the others on standard error, except those known not to change scores.
void refuse_unused(const std::string& path, const std::vector<UnusedSetting>& settings);
/// Reports on standard error that of two equivalent settings `name` is ignored.
void tell_unused(const std::string& path, const std::string& name, const std::string& used);
/// Reports on standard error that a key occurs again in its object.
void tell_repeated(const std::string& path, const std::string& name);

}  // namespace catenary::links::detail
