#pragma once
// What the C++ library's memory comes to while something runs: the test program counts its `new`.

#include <cstdint>

namespace catenary::io::test {

/// Counts what this thread has and has had at most since.
class CountedMemory {
 public:
  CountedMemory();
  CountedMemory(const CountedMemory&) = delete;
  CountedMemory& operator=(const CountedMemory&) = delete;
  ~CountedMemory();
  /// The most bytes at a time, above what there was at the beginning.
  std::int64_t peak() const;
};

}  // namespace catenary::io::test
