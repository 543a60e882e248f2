#pragma once
// Private: what `catenary launch` and the ranks that it started have in common: a piece of memory with the ranks'
// notes, the word that ends the job, a block for each rank to write and all to read, and rings of bytes between all
// pairs.

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string>

#include "catenary/core/os/shared_memory.h"

namespace catenary::distributed {

class Job {
 public:
  /// Of the launcher.
  explicit Job(int size);
  /// Of a rank. Throws FileError where the descriptor is another's memory, or of another version.
  static Job inherited(int descriptor);

  static constexpr int max_ranks = 256;
  int size() const { return size_; }
  int descriptor() const { return memory_.descriptor(); }

  /// Two threads of a rank may talk to those of others at once, each on a channel.
  static constexpr int channels = 2;
  /// Rings between a pair of ranks: one for each channel, and one for letters, which are the first channel's too.
  static constexpr int rings = channels + 1, letters = channels;

  /// Rung by others when they have moved what a rank may wait for.
  struct Bell {
    alignas(64) std::atomic<std::uint32_t> rings;
    std::atomic<std::uint32_t> asleep;
  };

  /// What one rank tells the others. Each field but its bells has one writer.
  struct Rank {
    std::array<Bell, channels> bells;
    alignas(64) std::atomic<std::uint32_t> ended;  ///< set by the launcher
    alignas(64) std::atomic<std::uint32_t> edits;  ///< of the note: odd while it is being written
    std::array<std::atomic<char>, 252> note;
  };
  Rank& rank(int i) const;

  /// Bytes on their way from one rank to another: `written` is the sender's, `taken` the receiver's.
  struct Ring {
    static constexpr std::size_t bytes = std::size_t{256} << 10;
    alignas(64) std::atomic<std::uint64_t> written;
    alignas(64) std::atomic<std::uint64_t> taken;
    alignas(64) std::atomic<std::uint64_t> steps;  ///< of SharedBlocks, that the sender has told the receiver of
    alignas(64) std::array<std::byte, bytes> data;
  };
  Ring& ring(int number, int from, int to) const;

  /// SharedBlocks::bytes that this rank alone writes.
  std::byte* block(int channel, int i) const;

  void note(int i, const std::string& text) const;
  std::string noted(int i) const;

  /// Ends the job, for this reason unless there is one already; wakes all ranks.
  void end(const std::string& why) const;
  bool ending() const;
  /// Nothing while the job goes on.
  std::string why() const;
  /// Wakes a rank where it sleeps, on one channel or all.
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
