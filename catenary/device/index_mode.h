#pragma once
// What an index out of range means.

#include <cstdint>

namespace catenary {

/// What is done to indices that are out of range.
enum class IndexMode : std::uint8_t { raise, wrap, clip };

}  // namespace catenary
