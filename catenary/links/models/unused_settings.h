#pragma once
// Private: settings of a model's file that nothing reads.

#include <string>
#include <vector>

namespace catenary::links::detail {

/// A setting that nothing has read.
struct UnusedSetting {
  std::string name;
  bool is_off = false;  ///< its value is false
};
/// Throws FileError for settings whose names tell that scores depend on them (positions, attention, scales, experts),
/// unless they are off. Names all others on standard error, but for those of which no score depends.
void refuse_unused(const std::string& path, const std::vector<UnusedSetting>& settings);
/// Says on standard error that one of two settings for the same thing is not used.
void tell_unused(const std::string& path, const std::string& name, const std::string& used);

}  // namespace catenary::links::detail
