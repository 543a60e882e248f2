#pragma once
// Private to the CPU backend: memory kept per thread.

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <string>

#include "catenary/core/error.h"

namespace catenary::cpu {

/// Memory that a thread keeps between calls, because fresh pages cost more than packing. (Scratch, in move.h, lasts for
/// one call.)
class KeptScratch {
 public:
  /// Returns memory for `count` elements, aligned to pages. The previous contents are lost.
  template <class T>
  T* get(std::int64_t count) {
    const std::size_t bytes = (static_cast<std::size_t>(count) * sizeof(T) + 4095) / 4096 * 4096;
    if (bytes > size_) {
      memory_.reset();
      size_ = 0;
      memory_.reset(std::aligned_alloc(4096, bytes));
      if (!memory_) throw DeviceError("cpu: out of memory: cannot allocate " + std::to_string(bytes) + " bytes");
      size_ = bytes;
    }
    return static_cast<T*>(memory_.get());
  }

 private:
  struct Free {
    void operator()(void* p) const { std::free(p); }
  };
  std::unique_ptr<void, Free> memory_;
  std::size_t size_ = 0;
};

}  // namespace catenary::cpu
