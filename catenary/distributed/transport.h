#pragma once
// Private: transports of bytes between the ranks of a job. Operations, dtypes and time limits are implemented once for
// all transports, in wire.cpp and collectives.cpp.

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "catenary/core/export.h"

namespace catenary::distributed {

/// Number of a started transfer, assigned by its transport and valid until done() returns true.
using Transfer = std::int64_t;

/// Shared memory with one block per rank, which this rank writes and all ranks read, so that sums need no messages.
/// Ranks announce each completed step to the others.
class CT_API SharedBlocks {
 public:
  /// Size of a rank's block.
  static constexpr std::size_t bytes = std::size_t{1} << 20;

  virtual ~SharedBlocks();
  virtual std::byte* block(int rank) const = 0;
  /// Announces one more completed step to a rank, and makes all earlier writes visible to it.
  virtual void tell(int rank) = 0;
  /// Returns whether a rank has announced at least `steps` steps to this rank in total. Throws Error if that rank has
  /// exited and never will.
  virtual bool has_told(int rank, std::uint64_t steps) = 0;
};

/// Two independent streams between each pair of ranks: collectives, and messages from one rank to another.
enum class Lane { collectives, letters };

/// State of the next transfer from a rank.
enum class Coming { nothing_yet, something, never };

/// The connections between the ranks of one job. Used by one thread at a time, and no call blocks on another rank.
/// Between two ranks, sends and receives of one direction and lane match in the order in which they were started, with
/// equal sizes. A rank cannot send to itself. An exception means that the connection is broken; only abort() may
/// follow. If another rank or the launcher has ended the job, any call ends this process.
class CT_API Transport {
 public:
  /// Maximum size of a transfer.
  static constexpr std::size_t max_bytes = std::size_t{256} << 20;

  Transport() = default;
  Transport(const Transport&) = delete;
  Transport& operator=(const Transport&) = delete;
  virtual ~Transport();

  /// Returns the transport's name: "shared memory", "Open MPI 4.1.4".
  virtual std::string name() const = 0;
  virtual int rank() const = 0;
  virtual int size() const = 0;
  /// Returns a text that is equal exactly for ranks on one machine: host_identity().
  virtual std::string host() const = 0;

  /// Starts to send to another rank. The memory must not change until the transfer is done.
  virtual Transfer send(int to, const void* data, std::size_t bytes, Lane lane) = 0;
  /// Starts to receive from another rank.
  virtual Transfer receive(int from, void* data, std::size_t bytes, Lane lane) = 0;
  /// Makes progress on all transfers and returns whether this transfer is done; if so, its number becomes invalid.
  /// Throws Error naming the other rank if that rank has exited and the transfer can never finish.
  virtual bool done(Transfer transfer) = 0;
  /// Returns whether a rank has sent something on this lane for which no receive was started. `never` means that the
  /// rank has exited and all its messages were received.
  virtual Coming coming(int from, Lane lane) = 0;
  /// Returns a rank for which coming(rank, Lane::letters) is `something`, or -1.
  virtual int letter_from() = 0;
  /// Makes any later activity of other ranks end the next pause().
  virtual void listen();
  /// Returns when something may have changed, at the latest after 100 ms. Called after listen() and another check, when
  /// no transfer has finished for the time `waited`. Spins during short waits and yields the core during longer ones.
  virtual void pause(std::chrono::nanoseconds waited) = 0;

  /// Returns null if the ranks share no memory. Used by the thread that uses the transport.
  virtual SharedBlocks* shared_blocks() { return nullptr; }

  /// Returns independent connections between these ranks for another thread, without letters, or null if not supported.
  virtual std::shared_ptr<Transport> background() = 0;

  /// Publishes the operation that this rank is about to run ("allreduce of float32 (1000, 784)"), for reports of its
  /// death. noted() returns the last operation of another rank, or "" if unknown.
  virtual void note(const std::string& doing);
  virtual std::string noted(int rank) const;

  /// Reports the reason to the user once, then ends all ranks and this process.
  [[noreturn]] virtual void abort(const std::string& why) noexcept = 0;
};

/// Returns the transport of this process, made by the first call: shared memory or MPI, depending on the launcher, or
/// the transport of a single process. Throws Error if the job's other ranks cannot be reached.
CT_API std::shared_ptr<Transport> connect();

/// Returns the name of this machine with its kernel's random boot id, because cloned containers and machines share
/// names. CATENARY_HOST_ID overrides it.
CT_API std::string host_identity();

/// Copies as much of a text as fits into memory that other ranks read, with a NUL at the end.
void put_text(char* to, std::size_t capacity, const std::string& text);

namespace transports {
// Returns null if such a launcher did not start the process.
std::shared_ptr<Transport> shared_memory();
std::shared_ptr<Transport> mpi();
std::shared_ptr<Transport> alone();
/// Returns the version of the MPI that ranks would use and its plugin, or the reason why there is none. Does not
/// initialise MPI.
CT_API std::string mpi_info();
}  // namespace transports

}  // namespace catenary::distributed
