#pragma once

#include <vector>

#include "catenary/array/array.h"

namespace catenary::test {

inline std::vector<double> values(const Array& a) { return a.to_vector<double>(); }

}  // namespace catenary::test
