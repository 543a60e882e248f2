#pragma once
// Private: memory shared by `catenary launch` and the ranks that it started. It contains the ranks' notes, the reason
// for ending the job, one block per rank that this rank writes and all read, and ring buffers between all pairs.

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string>

#include "catenary/core/os/shared_memory.h"

namespace catenary::distributed {

class Job {
 public:
  /// Creates the memory, in the launcher.
  explicit Job(int size);
  /// Opens the memory in a rank. Throws FileError if the handle belongs to other memory or another version.
  static Job inherited(os::Handle handle);

  static constexpr int max_ranks = 256;
  int size() const { return size_; }
  os::Handle handle() const { return memory_.handle(); }

  /// Number of threads of a rank that may communicate at once, each on its channel.
  static constexpr int channels = 2;
  /// Rings between a pair of ranks: one per channel, and one for letters, which the first channel handles as well.
  static constexpr int rings = channels + 1, letters = channels;

  /// Wakes a rank. Rung by other ranks after they have moved data that the rank may be waiting for.
  struct Bell {
    alignas(64) std::atomic<std::uint32_t> rings;
    std::atomic<std::uint32_t> asleep;
  };

  /// State that a rank publishes to all ranks. Each field except the bells has one writer.
  struct Rank {
    std::array<Bell, channels> bells;
    alignas(64) std::atomic<std::uint32_t> ended;  ///< set by the launcher
    alignas(64) std::atomic<std::uint32_t> edits;  ///< version of the note: odd during a write
    std::array<std::atomic<char>, 252> note;
  };
  Rank& rank(int i) const;

  /// Ring buffer from one rank to another. The sender writes `written`, the receiver `taken`.
  struct Ring {
    static constexpr std::size_t bytes = std::size_t{256} << 10;
    alignas(64) std::atomic<std::uint64_t> written;
    alignas(64) std::atomic<std::uint64_t> taken;
    alignas(64) std::atomic<std::uint64_t> steps;  ///< steps of SharedBlocks that the sender has announced to the
                                                   ///< receiver
    alignas(64) std::array<std::byte, bytes> data;
  };
  Ring& ring(int number, int from, int to) const;

  /// Returns a block of SharedBlocks::bytes that only this rank writes.
  std::byte* block(int channel, int i) const;

  void note(int i, const std::string& text) const;
  std::string noted(int i) const;

  /// Ends the job and wakes all ranks. Keeps the first reason if called again.
  void end(const std::string& why) const;
  bool ending() const;
  /// Returns the reason for ending, or "" while the job runs.
  std::string why() const;
  /// Wakes a sleeping rank, on one channel or on all.
  void ring_bell(int channel, int i) const;
  void ring_bells(int i) const;

 private:
  struct Head;
  Job(os::SharedMemory memory, int size) : memory_(std::move(memory)), size_(size) {}
  Head& head() const;
  os::SharedMemory memory_;
  int size_ = 0;
};

}  // namespace catenary::distributed
