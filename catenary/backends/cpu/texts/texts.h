#pragma once
// Private to the CPU backend: kernels from kernel texts, for primitives::RunText.

#include <cstdint>

#include "catenary/core/cpu_features.h"
#include "catenary/device/primitives.h"

namespace catenary::cpu {

/// Processes the share of one of `groups` groups of the units 0 to units - 1.
using TextFunction = void (*)(const TextArgument* arguments, std::int64_t units, int group, int groups);

// clang-format off
CT_SIMD_DECLARE(
  /// Returns null if the table has no such kernel for the dtype.
  TextFunction find_text(const char* text, const char* kernel, Dtype dtype);
)
// clang-format on

}  // namespace catenary::cpu
