#pragma once
// Private: who carries bytes between the ranks of a job. A transport knows no operations, dtypes or time limits: those
// are in wire.cpp and collectives.cpp, once for all transports.

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "catenary/core/export.h"

namespace catenary::distributed {

/// A transfer that was started and not yet found done: a number that its transport gave.
using Transfer = std::int64_t;

/// Memory of which each rank writes one block and all read all: what is summed there need not be sent. What ranks do
/// in it they do in steps, and tell each other of each.
class CT_API SharedBlocks {
 public:
  /// Of a rank's block.
  static constexpr std::size_t bytes = std::size_t{1} << 20;

  virtual ~SharedBlocks();
  virtual std::byte* block(int rank) const = 0;
  /// One step more is done, for this rank to know of; when it does it sees what was written before.
  virtual void tell(int rank) = 0;
  /// Has this rank told of so many steps, of all that it ever told this one? Throws Error where it has ended and never
  /// will.
  virtual bool has_told(int rank, std::uint64_t steps) = 0;
};

/// Two streams between each pair of ranks, which do not wait for each other: what all do together, and what one rank
/// sends to another.
enum class Lane { collectives, letters };

/// What is known of the next transfer from a rank.
enum class Coming { nothing_yet, something, never };

/// The wires between the ranks of one job. Used by one thread at a time; no call waits for another rank. Between two
/// ranks transfers of one direction and lane meet in the order in which they were started, each send one receive of as
/// many bytes. A rank does not send to itself. After an exception, which says that the wires are broken, nothing but
/// abort() may be called. Where the job is to end, told by another rank or by who started them, any call ends the
/// process.
class CT_API Transport {
 public:
  /// No transfer is larger.
  static constexpr std::size_t max_bytes = std::size_t{256} << 20;

  Transport() = default;
  Transport(const Transport&) = delete;
  Transport& operator=(const Transport&) = delete;
  virtual ~Transport();

  /// Who carries: "shared memory", "Open MPI 4.1.4".
  virtual std::string name() const = 0;
  virtual int rank() const = 0;
  virtual int size() const = 0;
  /// A text that is the same for ranks on one machine and for no others: host_identity().
  virtual std::string host() const = 0;

  /// Starts to send to another rank. The memory must stay as it is until the transfer is done.
  virtual Transfer send(int to, const void* data, std::size_t bytes, Lane lane) = 0;
  /// Starts to receive from another rank.
  virtual Transfer receive(int from, void* data, std::size_t bytes, Lane lane) = 0;
  /// Moves on what can be moved, and says whether this transfer is done; its number is forgotten then. Throws Error
  /// that names the other rank where it has ended and the transfer can never be done.
  virtual bool done(Transfer transfer) = 0;
  /// Has a rank sent something on this lane that no receive was started for? `never` where it has ended, and all that
  /// it sent has been received.
  virtual Coming coming(int from, Lane lane) = 0;
  /// A rank of which coming(rank, Lane::letters) is `something`; -1 where there is none.
  virtual int letter_from() = 0;
  /// What others do from here on ends the next pause.
  virtual void listen();
  /// Called when no transfer was found done for a time of `waited`, after listen() and a look at what is waited for:
  /// returns when something may have changed, at the latest after 100 ms. Short waits keep the core, longer ones give
  /// it away.
  virtual void pause(std::chrono::nanoseconds waited) = 0;

  /// Null where ranks share no memory. Used by the same thread.
  virtual SharedBlocks* shared_blocks() { return nullptr; }

  /// Other wires between the same ranks, for another thread, which know nothing of these and carry no letters. Null
  /// where the ranks cannot have any.
  virtual std::shared_ptr<Transport> background() = 0;

  /// What this rank is about to do ("allreduce of float32 (1000, 784)"), for who tells of its death; and what another
  /// rank said last, or nothing where that cannot be known.
  virtual void note(const std::string& doing);
  virtual std::string noted(int rank) const;

  /// Has the reason told to the user once, ends all ranks and this process.
  [[noreturn]] virtual void abort(const std::string& why) noexcept = 0;
};

/// The transport of this process, which is made at the first call: by who started the process shared memory, MPI, or
/// the one of a rank alone. Throws Error where the job's other ranks cannot be reached.
CT_API std::shared_ptr<Transport> connect();

/// The name of this machine and the number that its kernel drew when it started, as cloned containers and machines
/// share names. CATENARY_HOST_ID is taken in its place where it is set.
CT_API std::string host_identity();

/// As much of a text as fits into memory that others read, with NUL at the end.
void put_text(char* to, std::size_t capacity, const std::string& text);

namespace transports {
// Null where the process was not started by such a launcher.
std::shared_ptr<Transport> shared_memory();
std::shared_ptr<Transport> mpi();
std::shared_ptr<Transport> alone();
/// The MPI that ranks would use, with its version, and the plugin by which; or why there is none. Begins nothing.
CT_API std::string mpi_info();
}  // namespace transports

}  // namespace catenary::distributed
