#include "catenary/core/os/temporary_name.h"

#include <cstddef>
#include <cstdio>

namespace catenary::os {

std::string temporary_prefix(const std::string& target) { return "." + target.substr(0, 200) + "."; }

bool is_temporary(const std::string& name, const std::string& target) {
  std::size_t end = 0;
  if (target.empty()) {
    if (!name.starts_with('.')) return false;
  } else if (!name.starts_with(temporary_prefix(target))) {
    return false;
  } else {
    end = temporary_prefix(target).size() - 1;
  }
  // parses PID-NUMBER-RANDOM.tmp after the last full stop but one
  unsigned process = 0, number = 0, random = 0;
  int read = 0;
  if (!name.ends_with(".tmp")) return false;
  const std::size_t dot = name.rfind('.', name.size() - 5);
  return dot != std::string::npos && dot >= end && (target.empty() || dot == end) &&
         std::sscanf(name.c_str() + dot, ".%u-%u-%x.tmp%n", &process, &number, &random, &read) == 3 &&
         dot + static_cast<std::size_t>(read) == name.size();
}

}  // namespace catenary::os
