#pragma once
// Trainings of a small network in float16, mixed16 and float32, with and without updates in float32, with loss scales
// that do and do not change.

#include <nlohmann/json.hpp>
#include <string>

namespace reference {

/// Repeats the training of a manifest's entry on the current device. Throws Mismatch where a loss, a loss scale, an
/// update that was skipped or a weight at the end differs by more than a few units in the last place of the dtype.
void check_precision(const std::string& directory, const nlohmann::json& entry);

}  // namespace reference
