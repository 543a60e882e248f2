#pragma once
// Chainer's models for images, with weights by a formula.

#include <nlohmann/json.hpp>

#include "chainer_arrays.h"

namespace reference {

/// Makes the model of a manifest's entry, fills it and compares a layer's result, in the vectors' dtype. Throws
/// Mismatch or NotImplemented.
void check_model(const nlohmann::json& entry, const Vectors& vectors);

}  // namespace reference
