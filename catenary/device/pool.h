#pragma once
// A caching pool over a device's raw allocations: freed blocks are kept and handed out again, as fresh pages cost more
// than the arithmetic on them. Counters and limits as CuPy's MemoryPool.

#include <cstddef>
#include <functional>
#include <map>
#include <mutex>
#include <unordered_map>

#include "catenary/core/export.h"

namespace catenary {

/// Memory of one device, kept for reuse.
class CT_API MemoryPool {
 public:
  /// `raw_allocate` returns null when out of memory. Blocks of at most `direct_below` bytes are not cached.
  MemoryPool(std::function<void*(std::size_t)> raw_allocate, std::function<void(void*, std::size_t)> raw_free,
             std::size_t direct_below = 0);
  MemoryPool(const MemoryPool&) = delete;
  MemoryPool& operator=(const MemoryPool&) = delete;

  /// A block of at least `bytes` bytes. When none can be had: releases what is cached, tries once more, then throws
  /// DeviceError with the counters.
  void* allocate(std::size_t bytes);
  /// Takes a block back. Never throws.
  void free(void* block, std::size_t bytes) noexcept;

  /// Bytes in use, cached and both together; number of cached blocks.
  std::size_t used_bytes() const;
  std::size_t free_bytes() const;
  std::size_t total_bytes() const;
  std::size_t n_free_blocks() const;
  /// Largest value of used_bytes so far.
  std::size_t peak_bytes() const;
  /// Gives all cached blocks back to the system.
  void free_all_blocks();
  /// At most this many bytes in use and cached together; 0 for no limit.
  void set_limit(std::size_t bytes);
  std::size_t limit() const;

 private:
  void* take_cached(std::size_t rounded);
  void release_cached(std::size_t keep);

  std::function<void*(std::size_t)> raw_allocate_;
  std::function<void(void*, std::size_t)> raw_free_;
  const std::size_t direct_below_;
  mutable std::mutex mutex_;
  std::multimap<std::size_t, void*> cached_;            // by size of the block
  std::unordered_map<void*, std::size_t> block_sizes_;  // of blocks in use that are larger than asked for
  std::size_t used_ = 0, free_ = 0, peak_ = 0, limit_ = 0;
};

}  // namespace catenary
