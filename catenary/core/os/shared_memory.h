#pragma once
// Unnamed memory that processes share, so that nothing can be left behind, and waiting for words in it.

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>

#include "catenary/core/export.h"
#include "catenary/core/os/handle.h"

namespace catenary::os {

/// A piece of memory that is visible to all processes with its handle. It is freed when the last of them ends.
class CT_API SharedMemory {
 public:
  /// Allocates zeroed memory, whose size nobody can change. Throws DeviceError if there is none.
  explicit SharedMemory(std::size_t bytes);
  /// Maps the memory of an inherited handle. Children of this process do not inherit it further. Throws FileError
  /// for a handle that is not such memory.
  static SharedMemory inherited(Handle handle);
  SharedMemory(SharedMemory&& other) noexcept;
  SharedMemory& operator=(SharedMemory&&) = delete;
  ~SharedMemory();

  std::byte* data() const { return data_; }
  std::size_t size() const { return size_; }
  Handle handle() const { return handle_; }

 private:
  SharedMemory() = default;
  void map();
  Handle handle_ = Handle::none;
  std::byte* data_ = nullptr;
  std::size_t size_ = 0;
};

/// Sleeps until another process wakes the waiters for this word, at most for `limit`. Returns at once if the word does
/// not hold `value`.
CT_API void wait_for_change(const std::atomic<std::uint32_t>& word, std::uint32_t value,
                            std::chrono::nanoseconds limit);
/// Wakes all waiters for this word.
CT_API void wake_all(const std::atomic<std::uint32_t>& word);

}  // namespace catenary::os
