#pragma once
// Helpers for tests of update rules.

#include <vector>

#include "catenary/autograd/parameter.h"
#include "catenary/optimizers/optimizer.h"

namespace tests {

using Values = std::vector<double>;

inline Values values_of(const catenary::Array& array) { return array.to_vector<double>(); }

inline catenary::UpdateRule& rule_of(const catenary::Parameter& p) {
  return dynamic_cast<catenary::UpdateRule&>(*p.update_rule());
}

}  // namespace tests
