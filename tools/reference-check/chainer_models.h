#pragma once
// Chainer's models for images, with weights by a formula.

#include <nlohmann/json.hpp>
#include <string>

namespace reference {

/// Makes the model of a manifest's entry, fills it and compares a layer's result, in float32. Throws Mismatch or
/// NotImplemented.
void check_model(const std::string& directory, const nlohmann::json& entry);

}  // namespace reference
