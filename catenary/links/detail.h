#pragma once
// Private to the library: helpers shared by links.

#include <optional>

#include "catenary/initializers/initializers.h"

namespace catenary::links::detail {

/// Returns the given initializer of a weight, or LeCunNormal.
inline ParameterInit weight_init(const std::optional<ParameterInit>& given) {
  return given ? *given : ParameterInit(initializers::LeCunNormal());
}

}  // namespace catenary::links::detail
