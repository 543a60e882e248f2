#include "catenary/core/os/memory.h"

#include "catenary/core/format.h"
#include "catenary/core/os/system_memory.h"

namespace catenary::os {

void* allocate(std::size_t size, std::size_t alignment) {
  if (alignment == 0 || (alignment & (alignment - 1)) != 0 || alignment > kHugePage)
    fail<ValueError>("allocate: alignment {} is not a power of two up to {}", alignment, kHugePage);
  const bool is_addressable = size <= SIZE_MAX / 2;
  void* const memory = is_addressable ? memory_of_system(size, alignment) : nullptr;
  if (!memory) fail<DeviceError>("cpu: out of memory: cannot allocate {} bytes: {}", size, memory_advice());
  return memory;
}

std::string memory_advice() {
  const auto gib = [](std::uint64_t bytes) { return static_cast<double>(bytes) / (1 << 30); };
  return fmt::format(
      "the process holds {:.1f} GiB, and the machine has {:.1f}; take smaller batches or fewer examples at once, or a "
      "16-bit dtype, or end other programs",
      gib(resident_bytes()), gib(physical_memory_bytes()));
}

}  // namespace catenary::os
