#pragma once
// Private to the CPU backend: memory that a thread keeps.

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <string>

#include "catenary/core/error.h"

namespace catenary::cpu {

/// Memory that a thread keeps from call to call: fresh pages cost more than packing. (Scratch, in move.h, is for one
/// call.)
class KeptScratch {
 public:
  /// Room for so many, aligned to pages; what it held before is lost.
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
