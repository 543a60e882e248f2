#pragma once
// Memory from the system, aligned and in huge pages where they pay, and queries of the available memory.

#include <cstddef>
#include <cstdint>
#include <string>

#include "catenary/core/export.h"

namespace catenary::os {

/// The bytes of a huge page.
inline constexpr std::size_t kHugePage = std::size_t{2} << 20;

/// Allocates `size` bytes (at least 1) aligned to `alignment` (a power of two, at most a huge page). From 2 MiB on, the
/// memory is aligned to huge pages, which are requested. It is not zeroed. Throws DeviceError if there is no memory.
CT_API void* allocate(std::size_t size, std::size_t alignment = 64);
/// Frees memory of allocate(size). From 2 MiB on, it goes directly to the system. nullptr is allowed.
CT_API void deallocate(void* memory, std::size_t size) noexcept;
/// Returns this process's use of memory and advice for a lack of it, for messages.
CT_API std::string memory_advice();
/// Returns the bytes of the machine's memory, or 0 if unknown.
CT_API std::uint64_t physical_memory_bytes();
/// Returns the bytes of a core's second-level cache, or 0 if unknown.
CT_API std::uint64_t second_level_cache_bytes();
/// Returns the peak of this process's resident bytes.
CT_API std::uint64_t peak_resident_bytes();
/// Returns this process's resident bytes, or 0 if unknown.
CT_API std::uint64_t resident_bytes();

}  // namespace catenary::os
