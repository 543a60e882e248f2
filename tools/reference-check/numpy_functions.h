#pragma once
// The table of NumPy's functions by name.

#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "catenary/autograd/attributes.h"
#include "json_values.h"
#include "numpy_arguments.h"

namespace reference {

using Results = std::vector<Array>;
using Function = std::function<Results(Arguments&)>;
using Table = std::map<std::string, Function>;

inline Results both(const std::pair<Array, Array>& pair) { return {pair.first, pair.second}; }

template <class E>
E choice(const std::string& name) {
  const auto found = catenary::detail::enumerator_named<E>(name);
  if (!found) throw NotImplemented("the mode '" + name + "' is not known here");
  return *found;
}

/// Products, numpy.linalg and polynomials.
void add_linalg(Table& table);

}  // namespace reference
