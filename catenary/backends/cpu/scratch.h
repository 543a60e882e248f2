#pragma once
// Private to the CPU backend: memory kept per thread.

#include <cstddef>
#include <cstdint>
#include <memory>

#include "catenary/core/os/memory.h"

namespace catenary::cpu {

/// Returns memory of os::allocate to the system.
struct FreeScratch {
  std::size_t bytes = 0;
  void operator()(void* p) const { os::deallocate(p, bytes); }
};

/// Memory that a thread keeps between calls, because fresh pages cost more than packing. (Scratch, in move.h, lasts for
/// one call.)
class KeptScratch {
 public:
  /// Returns memory for `count` elements, aligned to pages. The previous contents are lost. Throws DeviceError if there
  /// is no memory.
  template <class T>
  T* get(std::int64_t count) {
    const std::size_t bytes = (static_cast<std::size_t>(count) * sizeof(T) + 4095) / 4096 * 4096;
    if (bytes > memory_.get_deleter().bytes) {
      memory_ = Memory();  // the old memory is freed before the new is allocated
      memory_ = Memory(os::allocate(bytes, 4096), FreeScratch{bytes});
    }
    return static_cast<T*>(memory_.get());
  }

 private:
  using Memory = std::unique_ptr<void, FreeScratch>;
  Memory memory_;
};

}  // namespace catenary::cpu
