#include "catenary/core/os/memory.h"

#include "catenary/core/format.h"

namespace catenary::os {

std::string memory_advice() {
  const auto gib = [](std::uint64_t bytes) { return static_cast<double>(bytes) / (1 << 30); };
  return fmt::format(
      "the process holds {:.1f} GiB, and the machine has {:.1f}; take smaller batches or fewer examples at once, or a "
      "16-bit dtype, or end other programs",
      gib(resident_bytes()), gib(physical_memory_bytes()));
}

}  // namespace catenary::os
