#pragma once
// Private to core/os: the part of allocate() that depends on the system.

#include <cstddef>

namespace catenary::os {

/// Returns memory as allocate() does, or nullptr if there is none. The size is at most half of the address space.
void* memory_of_system(std::size_t size, std::size_t alignment);

}  // namespace catenary::os
