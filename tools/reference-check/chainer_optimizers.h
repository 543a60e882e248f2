#pragma once
// Trajectories of optimizers: weights after each of some updates with given gradients.

#include <nlohmann/json.hpp>
#include <string>

#include "catenary/core/dtype.h"

namespace reference {

/// Repeats the updates of a manifest's entry in a dtype. Throws Mismatch at the first weight that differs and
/// NotImplemented for an optimizer or hook that is not known here.
void check_trajectory(const std::string& directory, const nlohmann::json& entry, catenary::Dtype dtype);

}  // namespace reference
