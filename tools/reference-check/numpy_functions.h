#pragma once
// The table of NumPy's functions by name.

#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "numpy_arguments.h"

namespace reference {

using Results = std::vector<Array>;
using Function = std::function<Results(Arguments&)>;
using Table = std::map<std::string, Function>;

inline Results both(const std::pair<Array, Array>& pair) { return {pair.first, pair.second}; }

template <class T>
T choice(const std::map<std::string, T>& choices, const std::string& name) {
  const auto found = choices.find(name);
  if (found == choices.end()) throw NotImplemented("the mode '" + name + "' is not known here");
  return found->second;
}

/// Products, numpy.linalg and polynomials.
void add_linalg(Table& table);

}  // namespace reference
