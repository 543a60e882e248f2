#pragma once
// Trajectories of optimizers: weights after each of several updates with given gradients.

#include <nlohmann/json.hpp>

#include "chainer_arrays.h"

namespace reference {

/// Repeats the updates of a manifest's entry. Throws Mismatch at the first weight that differs, and NotImplemented for
/// an unknown optimizer or hook.
void check_trajectory(const nlohmann::json& entry, const Vectors& vectors);

}  // namespace reference
