#pragma once
// Memory from the system: aligned, with huge pages where they pay; and how much there is.

#include <cstddef>
#include <cstdint>
#include <string>

#include "catenary/core/export.h"

namespace catenary::os {

/// Bytes of a large page.
inline constexpr std::size_t kHugePage = std::size_t{2} << 20;

/// `size` bytes (at least 1) aligned to `alignment` (a power of two, at most that of a huge page); from 2 MiB on
/// aligned to huge pages, which are asked for. Not zeroed. Throws DeviceError when there is no memory.
CT_API void* allocate(std::size_t size, std::size_t alignment = 64);
/// Gives back what allocate(size) returned; from 2 MiB on to the system at once. nullptr is fine.
CT_API void deallocate(void* memory, std::size_t size) noexcept;
/// What this process holds of the machine's memory, and what to do where there is none left: for messages.
CT_API std::string memory_advice();
/// Bytes of the machine's memory; 0 where the system does not say.
CT_API std::uint64_t physical_memory_bytes();
/// Bytes of a core's second-level cache; 0 where the system does not say.
CT_API std::uint64_t second_level_cache_bytes();
/// The largest number of bytes of this process that were resident at once.
CT_API std::uint64_t peak_resident_bytes();
/// Bytes of this process that are resident now; 0 where the system does not say.
CT_API std::uint64_t resident_bytes();

}  // namespace catenary::os
