#pragma once
// The meaning of an index out of range.

#include <cstdint>

namespace catenary {

/// The treatment of indices that are out of range.
enum class IndexMode : std::uint8_t { raise, wrap, clip };

}  // namespace catenary
