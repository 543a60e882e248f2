#pragma once
// A caching pool over a device's raw allocations: freed blocks are kept and handed out again, as fresh memory costs
// more than the arithmetic on it. Each stream has free blocks of its own, which are reused in its order without
// waiting; where the device can name a part of an allocation, blocks are split to what is asked for and merged when
// they are free again. Counters and limits as CuPy's MemoryPool.

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

/// A device has no memory left, or its pool's limit is reached, after all that could be given back was. The message
/// says what was asked for and what holds the rest.
class CT_API OutOfMemoryError : public DeviceError {
 public:
  using DeviceError::DeviceError;
  ~OutOfMemoryError() override;
};

/// Where a pool has its memory from.
class CT_API MemorySource {
 public:
  virtual ~MemorySource();
  /// Of the device, for messages.
  virtual std::string name() const = 0;
  /// Of the device.
  virtual std::size_t total_bytes() const = 0;
  /// Null when there is no memory left.
  virtual void* allocate(std::size_t bytes) = 0;
  virtual void free(void* allocation, std::size_t bytes) noexcept = 0;

  /// Can parts of an allocation be named? Where not, blocks are handed out whole.
  virtual bool has_parts() const { return false; }
  /// A handle for a part of an allocation.
  virtual void* part(void* allocation, std::size_t offset, std::size_t bytes);
  virtual void free_part(void* part) noexcept;

  /// The calling thread's stream.
  virtual void* stream() const { return nullptr; }
  /// What is submitted to `stream` from now on comes after what the calling thread's stream has been told so far.
  virtual void order_after_current(void* stream) noexcept;
  /// Waits for all streams.
  virtual void synchronize() {}
};

/// Something that a pool did.
struct MemoryEvent {
  enum Kind : std::uint8_t {
    allocated,  ///< new memory came from the device
    taken,      ///< somebody got a block
    freed,      ///< and gave it back to the pool
  };
  Kind kind;
  std::string device;
  std::size_t bytes, block_bytes;  ///< what was asked for (`taken` only), and what the block has
  void* block;                     ///< its handle; null for `allocated`
};
/// What pools do in the calling thread from now on is added to `events`, which must outlive that; null ends it. Gives
/// what was there before.
CT_API std::vector<MemoryEvent>* watch_memory(std::vector<MemoryEvent>* events) noexcept;

/// Memory of one device, kept for reuse.
class CT_API MemoryPool {
 public:
  struct Options {
    std::size_t unit = 512;        ///< sizes are rounded up to a multiple of it
    std::size_t direct_below = 0;  ///< blocks of at most so many bytes are the source's own affair
  };
  MemoryPool(std::unique_ptr<MemorySource> source, const Options& options);
  ~MemoryPool();
  MemoryPool(const MemoryPool&) = delete;
  MemoryPool& operator=(const MemoryPool&) = delete;

  /// A block of at least `bytes` bytes for the calling thread's stream: the smallest free one of the stream that is
  /// large enough, or new memory. When none can be had: gives unused allocations back and tries again; waits for the
  /// device, and takes what other streams no longer use; then throws OutOfMemoryError.
  void* allocate(std::size_t bytes);
  /// Takes a block back, for the stream that it was allocated for. Freed while the thread uses another stream, that
  /// stream's work so far comes first. Never throws.
  void free(void* block, std::size_t bytes) noexcept;

  /// Bytes in use, cached and both together; number of cached blocks.
  std::size_t used_bytes() const;
  std::size_t free_bytes() const;
  std::size_t total_bytes() const;
  std::size_t n_free_blocks() const;
  /// Largest value of used_bytes so far.
  std::size_t peak_bytes() const;
  /// Gives all allocations of which nothing is in use back to the system.
  void free_all_blocks();
  /// At most this many bytes in use and cached together; 0 for no limit.
  void set_limit(std::size_t bytes);
  /// The limit as a fraction of the device's memory. Throws ValueError where it is not in [0, 1].
  void set_limit_fraction(double fraction);
  std::size_t get_limit() const;

  /// Internal: the stream is about to end, and nothing of it runs any more; its blocks go to the device's own stream.
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

/// The pool that a device's arrays have their memory from. (cupy.get_default_memory_pool)
CT_API MemoryPool& memory_pool(const Device& device = current_device());

}  // namespace catenary
