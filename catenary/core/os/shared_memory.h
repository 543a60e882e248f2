#pragma once
// Memory that processes share and that has no name, so that nothing can be left behind; and waiting for words in it.

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>

#include "catenary/core/export.h"

namespace catenary::os {

/// A piece of memory that all processes see which have its descriptor. It goes when the last of them ends.
class CT_API SharedMemory {
 public:
  /// New memory, all zero, whose size nobody can change. Throws DeviceError where there is none.
  explicit SharedMemory(std::size_t bytes);
  /// The memory of a descriptor that this process was started with; from here on its own children do not inherit it.
  /// Throws FileError where it is none of ours.
  static SharedMemory inherited(int descriptor);
  SharedMemory(SharedMemory&& other) noexcept;
  SharedMemory& operator=(SharedMemory&&) = delete;
  ~SharedMemory();

  std::byte* data() const { return data_; }
  std::size_t size() const { return size_; }
  int descriptor() const { return descriptor_; }

 private:
  SharedMemory() = default;
  void map();
  int descriptor_ = -1;
  std::byte* data_ = nullptr;
  std::size_t size_ = 0;
};

/// Sleeps until another process wakes those that wait for this word, but not where it does not hold `value`, and not
/// for longer than `limit`.
CT_API void wait_for_change(const std::atomic<std::uint32_t>& word, std::uint32_t value,
                            std::chrono::nanoseconds limit);
/// Wakes all that wait for it.
CT_API void wake_all(const std::atomic<std::uint32_t>& word);

}  // namespace catenary::os
