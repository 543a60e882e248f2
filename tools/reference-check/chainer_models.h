#pragma once
// Chainer's image models, with weights computed by a formula.

#include <nlohmann/json.hpp>

#include "chainer_arrays.h"

namespace reference {

/// Makes and fills the model of a manifest's entry and compares a layer's result, in the vectors' dtype. Throws
/// Mismatch or NotImplemented.
void check_model(const nlohmann::json& entry, const Vectors& vectors);

}  // namespace reference
