#include "catenary/core/fields.h"

namespace catenary::detail {

std::vector<std::string> split_names(const char* names) {
  std::vector<std::string> all(1);
  for (; *names; ++names) {
    if (*names == ',') {
      all.emplace_back();
    } else if (*names != ' ' && *names != '\n' && *names != '\t') {
      all.back() += *names;
    }
  }
  for (std::string& name : all)
    if (name.size() > 1 && name.back() == '_') name.pop_back();
  return all;
}

}  // namespace catenary::detail
