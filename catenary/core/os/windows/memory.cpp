#include "catenary/core/os/memory.h"

#include <algorithm>
#include <cstdint>
#include <vector>

#include "catenary/core/os/system_memory.h"
#include "catenary/core/os/windows/detail.h"
// after windows.h
#include <malloc.h>
#include <psapi.h>

namespace catenary::os {

namespace {

/// Reserves memory aligned to a huge page: finds a place by a larger piece, which it gives back.
void* map(std::size_t size) {
  for (int tries = 0; tries < 16; ++tries) {
    void* const piece = ::VirtualAlloc(nullptr, size + kHugePage, MEM_RESERVE, PAGE_READWRITE);
    if (!piece) return nullptr;
    ::VirtualFree(piece, 0, MEM_RELEASE);
    const std::uintptr_t aligned = (reinterpret_cast<std::uintptr_t>(piece) + kHugePage - 1) & ~(kHugePage - 1);
    // another thread may take the place in between
    if (void* const memory =
            ::VirtualAlloc(reinterpret_cast<void*>(aligned), size, MEM_RESERVE | MEM_COMMIT, PAGE_READWRITE))
      return memory;
  }
  return nullptr;
}

PROCESS_MEMORY_COUNTERS counters() {
  PROCESS_MEMORY_COUNTERS result{};
  ::GetProcessMemoryInfo(::GetCurrentProcess(), &result, sizeof result);
  return result;
}

}  // namespace

void* memory_of_system(std::size_t size, std::size_t alignment) {
  if (size >= kHugePage) return map(size);
  return ::_aligned_malloc(std::max<std::size_t>(size, 1), std::max(alignment, sizeof(void*)));
}

void deallocate(void* memory, std::size_t size) noexcept {
  if (size >= kHugePage && memory) {
    ::VirtualFree(memory, 0, MEM_RELEASE);
  } else {
    ::_aligned_free(memory);
  }
}

std::uint64_t physical_memory_bytes() {
  MEMORYSTATUSEX status{};
  status.dwLength = sizeof status;
  return ::GlobalMemoryStatusEx(&status) ? status.ullTotalPhys : 0;
}

std::uint64_t second_level_cache_bytes() {
  DWORD size = 0;
  ::GetLogicalProcessorInformation(nullptr, &size);
  std::vector<SYSTEM_LOGICAL_PROCESSOR_INFORMATION> parts(size / sizeof(SYSTEM_LOGICAL_PROCESSOR_INFORMATION));
  if (parts.empty() || !::GetLogicalProcessorInformation(parts.data(), &size)) return 0;
  for (const auto& part : parts)
    if (part.Relationship == RelationCache && part.Cache.Level == 2) return part.Cache.Size;
  return 0;
}

std::uint64_t peak_resident_bytes() { return counters().PeakWorkingSetSize; }
std::uint64_t resident_bytes() { return counters().WorkingSetSize; }

}  // namespace catenary::os
