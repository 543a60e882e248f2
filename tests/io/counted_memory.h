#pragma once
// Counts allocations by `new` in the test program.

#include <cstdint>

namespace catenary::io::test {

/// Counts this thread's current and peak memory since construction.
class CountedMemory {
 public:
  CountedMemory();
  CountedMemory(const CountedMemory&) = delete;
  CountedMemory& operator=(const CountedMemory&) = delete;
  ~CountedMemory();
  /// Returns the most bytes at any time, above the amount at construction.
  std::int64_t peak() const;
};

}  // namespace catenary::io::test
