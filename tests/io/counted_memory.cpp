#include "tests/io/counted_memory.h"

#include <malloc.h>

#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <new>

namespace {
thread_local bool counting = false;
thread_local std::int64_t now = 0, most = 0;
}  // namespace

// Array allocations call this operator.
void* operator new(std::size_t size) {
  if (counting) most = std::max(most, now + static_cast<std::int64_t>(std::min<std::size_t>(size, PTRDIFF_MAX / 2)));
  void* memory = std::malloc(std::max<std::size_t>(size, 1));
  if (!memory) throw std::bad_alloc();
  if (counting) now += static_cast<std::int64_t>(malloc_usable_size(memory));
  return memory;
}

// Sanitizers replace this operator, so its memory must not be passed to free().
void* operator new(std::size_t size, const std::nothrow_t&) noexcept {
  try {
    return operator new(size);
  } catch (const std::bad_alloc&) {
    return nullptr;
  }
}

void operator delete(void* memory) noexcept {
  if (counting && memory) now -= static_cast<std::int64_t>(malloc_usable_size(memory));
  std::free(memory);
}
void operator delete(void* memory, std::size_t) noexcept { operator delete(memory); }
void operator delete(void* memory, const std::nothrow_t&) noexcept { operator delete(memory); }

namespace catenary::io::test {

CountedMemory::CountedMemory() {
  now = most = 0;
  counting = true;
}
CountedMemory::~CountedMemory() { counting = false; }
std::int64_t CountedMemory::peak() const { return most; }

}  // namespace catenary::io::test
