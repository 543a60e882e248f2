#pragma once
// Trains a small network in float16, mixed16 and float32, with and without float32 updates, with constant and dynamic
// loss scales.

#include <nlohmann/json.hpp>
#include <string>

namespace reference {

/// Repeats the training of a manifest's entry on the current device. Throws Mismatch if a loss, loss scale, skipped
/// update or final weight differs by more than a few units in the last place of the dtype.
void check_precision(const std::string& directory, const nlohmann::json& entry);

}  // namespace reference
