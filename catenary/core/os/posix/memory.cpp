#include "catenary/core/os/memory.h"

#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>

#include "catenary/core/os/system_memory.h"

namespace catenary::os {

namespace {

// Large blocks come directly from the system, because malloc leaves unusable gaps between blocks of such alignment. The
// address sanitizer builds use malloc, whose blocks it checks.
#if defined(__SANITIZE_ADDRESS__)
constexpr std::size_t kMappedFrom = SIZE_MAX;
#else
constexpr std::size_t kMappedFrom = kHugePage;
#endif

/// Returns how much of a large block uses huge pages: also the last page, unless it would be mostly empty. Small pages
/// at the end of many arrays cost more time, above all in a virtual machine.
std::size_t bytes_in_huge_pages(std::size_t size) {
  const std::size_t all = (size + kHugePage - 1) & ~(kHugePage - 1);
  return all - size > size / 2 ? all - kHugePage : all;
}

std::size_t mapped_bytes(std::size_t size) {
  const auto page = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
  return std::max(bytes_in_huge_pages(size), (size + page - 1) & ~(page - 1));
}

/// Maps memory aligned to a huge page: maps a larger piece and unmaps the parts before and after it.
void* map(std::size_t size) {
  const std::size_t length = mapped_bytes(size);
  void* piece = ::mmap(nullptr, length + kHugePage, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (piece == MAP_FAILED) return nullptr;
  const auto begin = reinterpret_cast<std::uintptr_t>(piece);
  const std::uintptr_t aligned = (begin + kHugePage - 1) & ~(kHugePage - 1);
  const std::size_t before = aligned - begin, after = kHugePage - before;
  if (before > 0) ::munmap(piece, before);
  if (after > 0) ::munmap(reinterpret_cast<void*>(aligned + length), after);
  void* memory = reinterpret_cast<void*>(aligned);
  // only affects speed, so errors are ignored
  if (const std::size_t huge = bytes_in_huge_pages(size)) ::madvise(memory, huge, MADV_HUGEPAGE);
  return memory;
}

}  // namespace

void* memory_of_system(std::size_t size, std::size_t alignment) {
  if (size >= kMappedFrom) return map(size);
  void* memory = nullptr;
  const std::size_t aligned_to = std::max(size >= kHugePage ? kHugePage : alignment, sizeof(void*));
  return ::posix_memalign(&memory, aligned_to, std::max<std::size_t>(size, 1)) == 0 ? memory : nullptr;
}

void deallocate(void* memory, std::size_t size) noexcept {
  if (size >= kMappedFrom && memory) {
    ::munmap(memory, mapped_bytes(size));
  } else {
    std::free(memory);
  }
}

std::uint64_t physical_memory_bytes() {
  const long pages = ::sysconf(_SC_PHYS_PAGES), bytes = ::sysconf(_SC_PAGESIZE);
  return pages > 0 && bytes > 0 ? static_cast<std::uint64_t>(pages) * static_cast<std::uint64_t>(bytes) : 0;
}

std::uint64_t second_level_cache_bytes() {
#ifdef _SC_LEVEL2_CACHE_SIZE
  return static_cast<std::uint64_t>(std::max(0L, ::sysconf(_SC_LEVEL2_CACHE_SIZE)));
#else
  return 0;
#endif
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
