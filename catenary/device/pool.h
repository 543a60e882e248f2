#pragma once
// A caching pool over a device's allocations. Freed blocks are kept and reused, because fresh memory costs more than
// the arithmetic on it. Each stream has separate free blocks, which are reused in the stream's order without waiting.
// If the device can address parts of an allocation, blocks are split to the requested size and merged when they are
// free. Counters and limits are as in CuPy's MemoryPool.

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

#include "catenary/core/error.h"
#include "catenary/core/export.h"
#include "catenary/device/device.h"

namespace catenary {

/// The device has no memory left, or the pool's limit is reached, even after all unused memory was returned. The
/// message names the requested size and the current use.
class CT_API OutOfMemoryError : public DeviceError {
 public:
  using DeviceError::DeviceError;
  ~OutOfMemoryError() override;
};

/// The source of a pool's memory.
class CT_API MemorySource {
 public:
  virtual ~MemorySource();
  /// Returns the device's name, for messages.
  virtual std::string name() const = 0;
  /// Returns the device's total memory.
  virtual std::size_t total_bytes() const = 0;
  /// Allocates memory. Returns null if there is none left.
  virtual void* allocate(std::size_t bytes) = 0;
  virtual void free(void* allocation, std::size_t bytes) noexcept = 0;

  /// Returns whether parts of an allocation can be addressed. If not, blocks are handed out whole.
  virtual bool has_parts() const { return false; }
  /// Returns a handle for a part of an allocation.
  virtual void* part(void* allocation, std::size_t offset, std::size_t bytes);
  virtual void free_part(void* part) noexcept;

  /// Returns the calling thread's stream.
  virtual void* stream() const { return nullptr; }
  /// Makes later work of `stream` wait for the work submitted so far to the calling thread's stream.
  virtual void order_after_current(void* stream) noexcept;
  /// Waits for all streams.
  virtual void synchronize() {}
};

/// An action of a pool.
struct MemoryEvent {
  enum Kind : std::uint8_t {
    allocated,  ///< new memory came from the device
    taken,      ///< a block was handed out
    freed,      ///< a block was returned to the pool
  };
  Kind kind;
  std::string device;
  std::size_t bytes, block_bytes;  ///< the requested size (only for `taken`), and the size of the block
  void* block;                     ///< its handle; null for `allocated`
};
/// Records later pool actions of the calling thread in `events`, which must stay alive; null ends it. Returns the
/// previous list.
CT_API std::vector<MemoryEvent>* watch_memory(std::vector<MemoryEvent>* events) noexcept;

/// The memory of one device, kept for reuse.
class CT_API MemoryPool {
 public:
  struct Options {
    std::size_t unit = 512;        ///< sizes are rounded up to a multiple of it
    std::size_t direct_below = 0;  ///< blocks of at most this many bytes bypass the pool
  };
  MemoryPool(std::unique_ptr<MemorySource> source, const Options& options);
  ~MemoryPool();
  MemoryPool(const MemoryPool&) = delete;
  MemoryPool& operator=(const MemoryPool&) = delete;

  /// Returns a block of at least `bytes` bytes for the calling thread's stream: the smallest sufficient free block of
  /// the stream, or new memory. If there is none, the pool returns unused allocations and tries again, then waits for
  /// the device and uses free blocks of other streams, and finally throws OutOfMemoryError.
  void* allocate(std::size_t bytes);
  /// Takes a block back, for the stream that it was allocated for. If the calling thread now uses another stream, the
  /// block is reused only after that stream's work so far. Never throws.
  void free(void* block, std::size_t bytes) noexcept;

  /// Return the bytes in use, the cached bytes and their sum, and the number of cached blocks.
  std::size_t used_bytes() const;
  std::size_t free_bytes() const;
  std::size_t total_bytes() const;
  std::size_t n_free_blocks() const;
  /// Returns the peak of used_bytes so far.
  std::size_t peak_bytes() const;
  /// Returns all allocations without used blocks to the system.
  void free_all_blocks();
  /// Limits the bytes in use and cached together. 0 means no limit.
  void set_limit(std::size_t bytes);
  /// Sets the limit as a fraction of the device's memory. Throws ValueError if it is not in [0, 1].
  void set_limit_fraction(double fraction);
  std::size_t get_limit() const;

  /// Internal: gives the blocks of a stream that is about to end, and has no running work, to the device's own stream.
  void end_stream(void* stream);

 private:
  struct Block;
  struct SmallestFirst {
    using is_transparent = void;
    bool operator()(const Block* a, const Block* b) const;
    bool operator()(const Block* a, std::size_t bytes) const;
  };
  using FreeBlocks = std::set<Block*, SmallestFirst>;

  Block* find(void* stream, std::size_t bytes);
  Block* take(FreeBlocks& from, std::size_t bytes);
  Block* grow(void* stream, std::size_t bytes);
  void split(Block& block, std::size_t bytes);
  void put(Block* block);
  Block* merged(Block* first, Block* second);
  void* handle_of(Block& block);
  void drop_handle(Block& block) noexcept;
  void release_unused();
  void move_free(void* from, void* to);
  std::string report(std::size_t bytes) const;
  void note(MemoryEvent::Kind kind, std::size_t bytes, std::size_t block_bytes, void* block) const noexcept;

  const std::unique_ptr<MemorySource> source_;
  const Options options_;
  mutable std::mutex mutex_;
  std::unordered_map<void*, FreeBlocks> free_;  // by stream
  std::unordered_map<void*, Block*> in_use_;    // by handle
  std::uint64_t frees_ = 0;
  std::size_t used_ = 0, total_ = 0, peak_ = 0, limit_ = 0;
};

/// Returns the pool of a device's arrays. (cupy.get_default_memory_pool)
CT_API MemoryPool& memory_pool(const Device& device = current_device());

}  // namespace catenary
