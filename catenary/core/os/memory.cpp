#include "catenary/core/os/memory.h"

#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>

#include "catenary/core/format.h"

namespace catenary::os {

void* allocate(std::size_t size, std::size_t alignment) {
  if (alignment == 0 || (alignment & (alignment - 1)) != 0)
    fail<ValueError>("allocate: alignment {} is not a power of two", alignment);
  alignment = std::max(alignment, sizeof(void*));
  const bool possible = size <= SIZE_MAX / 2;
  std::size_t huge = 0;  // bytes in huge pages
  if (possible && size >= kHugePage) {
    alignment = std::max(alignment, kHugePage);
    // The last one too, unless it would be empty for the most part: small pages at the end of each of many arrays cost
    // more, in a virtual machine above all.
    huge = (size + kHugePage - 1) & ~(kHugePage - 1);
    if (huge - size > size / 2) huge -= kHugePage;
  }
  void* memory = nullptr;
  if (!possible || ::posix_memalign(&memory, alignment, std::max<std::size_t>({size, huge, 1})) != 0)
    fail<DeviceError>("cpu: out of memory: cannot allocate {} bytes", size);
  if (huge > 0) ::madvise(memory, huge, MADV_HUGEPAGE);  // a wish: without it only speed is lost
  return memory;
}

void deallocate(void* memory) noexcept { std::free(memory); }

std::uint64_t physical_memory_bytes() {
  const long pages = ::sysconf(_SC_PHYS_PAGES), bytes = ::sysconf(_SC_PAGESIZE);
  return pages > 0 && bytes > 0 ? static_cast<std::uint64_t>(pages) * static_cast<std::uint64_t>(bytes) : 0;
}

std::uint64_t peak_resident_bytes() {
  rusage usage{};
  ::getrusage(RUSAGE_SELF, &usage);
  return static_cast<std::uint64_t>(usage.ru_maxrss) * 1024;
}

std::uint64_t resident_bytes() {
  unsigned long long total = 0, resident = 0;
  std::FILE* file = std::fopen("/proc/self/statm", "r");
  if (!file) return 0;
  const int fields = std::fscanf(file, "%llu %llu", &total, &resident);
  std::fclose(file);
  return fields == 2 ? resident * static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE)) : 0;
}

}  // namespace catenary::os
