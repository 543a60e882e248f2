#pragma once
// Random bits on the CPU by a counter-based generator: element i depends only on (seed, call, i).

#include <array>
#include <cstdint>

#include "catenary/core/export.h"

namespace catenary::cpu {

/// Returns one block of Philox4x32-10: four random numbers for a counter and a key. (Salmon, Moraes, Dror and Shaw,
/// "Parallel random numbers: as easy as 1, 2, 3", 2011, and Random123's philox4x32.)
CT_API std::array<std::uint32_t, 4> philox4x32(std::array<std::uint32_t, 4> counter, std::array<std::uint32_t, 2> key);

/// out[i] = word i % 4 of the block with counter (i / 4, call) and key seed. Each is a 64-bit number of two words, the
/// lower word first.
CT_API void random_bits(std::uint32_t* out, std::int64_t n, std::uint64_t seed, std::uint64_t call);

}  // namespace catenary::cpu
