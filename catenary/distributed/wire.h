#pragma once
// Private: transfers with a time limit, and frames sent ahead of the data, so that ranks that call different operations
// get an error that names both.

#include <array>
#include <chrono>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "catenary/distributed/transport.h"

namespace catenary::distributed {

/// Size and type of a message, which a receiver needs before it can allocate memory.
struct Head {
  std::uint64_t bytes = 0;
  std::uint64_t type = 0;   ///< for an object, the hash of its C++ type; 0 for an array
  std::int32_t dtype = -1;  ///< for an array
  std::int32_t ndim = 0;
  std::array<std::int64_t, 16> shape = {};
};

/// Precedes a letter, or describes the sender's operation in a collective.
struct Frame {
  std::uint32_t group = 0;
  std::uint32_t number = 0;   ///< number of the collective
  std::int32_t tag = 0;       ///< tag of the letter
  std::int32_t vote = 0;      ///< largest vote that the sender knows
  std::uint32_t letters = 0;  ///< number of letters that the sender has sent before to the receiver of this agreement
  Head head = {};
  char doing[192] = {};
  char difference[512] = {};  ///< two ranks with different operations
};

/// A message from one rank to another, kept until it is requested.
struct Letter {
  Frame frame = {};
  std::shared_ptr<std::byte[]> bytes;
};

/// The connections of this process; ranks are the job's. Letters have a separate lane, and every wait also receives
/// incoming letters. A letter of any size therefore arrives whichever call its receiver is in.
class Wire {
 public:
  /// Makes a wire with letters, or without them for a background thread.
  Wire(std::shared_ptr<Transport> transport, bool letters);
  /// Returns the wire of connect()'s transport.
  static const std::shared_ptr<Wire>& job();
  /// Returns the wire of that transport's background(), or null if there is none.
  static const std::shared_ptr<Wire>& background();

  Transport& transport() const { return *transport_; }
  /// To be held while sending and receiving, which only one thread may do at a time.
  std::mutex& mutex() { return mutex_; }
  /// Time limit of all wires of this process.
  static std::chrono::nanoseconds limit();
  /// Returns infinity if there is no limit.
  static double limit_in_minutes();
  static void set_limit(double minutes);

  /// Sets the name of the current operation, for messages.
  void begin(const std::string& doing);
  const std::string& doing() const { return doing_; }

  /// Starts transfers, in pieces of at most Transport::max_bytes.
  void send(int to, const void* data, std::size_t bytes);
  void receive(int from, void* data, std::size_t bytes);
  /// Waits for all started transfers. Ends the job if nothing arrives within the limit or if another rank has exited.
  void finish();

  /// Announces one completed step in the transport's shared blocks to these ranks.
  void tell(const std::vector<int>& ranks);
  /// Waits like finish() until each of these ranks has announced `steps` steps more than were counted in `since`.
  void await_steps(const std::vector<int>& ranks, const std::vector<std::uint64_t>& since, std::uint64_t steps);
  /// Returns the number of steps completed together with each rank of the job.
  const std::vector<std::uint64_t>& steps() const { return steps_; }

  /// Sends a frame that begins an agreement.
  void send_agreement(int to, Frame& frame);
  Frame next_agreement(int from);
  /// Sends a letter. Returns when its memory may change.
  void post(int to, const Frame& frame, const void* data);
  /// Returns the next letter of a rank for a group and a tag, or any tag, and keeps earlier letters. Ends the job if
  /// the letter cannot arrive because that rank has exited or is in a collective.
  Letter next_letter(int from, std::uint32_t group, std::optional<std::int32_t> tag);

  /// Ends the job. Prefixes `why` with this rank's name and its operation.
  [[noreturn]] void abort(const std::string& why) const noexcept { abort(doing_, why); }
  /// Ends the job for an operation that runs beside others. Callable from any thread.
  [[noreturn]] void abort(const std::string& doing, const std::string& why) const noexcept;
  std::string name_of(int rank) const;

 private:
  struct Started {
    Transfer transfer;
    int peer;
  };
  enum class Progress { none, some, all };
  /// A letter being received: its frame first, then its bytes.
  struct Incoming {
    enum { nothing, frame, bytes } stage = nothing;
    Letter letter = {};
    std::vector<Started> started = {};
  };
  void start_send(int to, const void* data, std::size_t bytes, Lane lane, std::vector<Started>& started);
  void start_receive(int from, void* data, std::size_t bytes, Lane lane, std::vector<Started>& started);
  /// Makes progress on transfers and removes those that are done.
  Progress look_after(std::vector<Started>& started);
  /// Repeats `look` until all is done. `peers` returns the ranks that it still waits for.
  void wait(const std::function<Progress()>& look, const std::function<std::vector<int>()>& peers);
  void wait_for(std::vector<Started>& started);
  /// Receives letters that have arrived. Returns whether there was any progress.
  bool take_letters();
  bool move_on(int from, Incoming& incoming);
  [[noreturn]] void out_of_time(std::vector<int> silent) const;

  std::shared_ptr<Transport> transport_;
  std::mutex mutex_;
  std::string doing_;
  std::vector<Started> started_;
  bool has_letters_;
  // by rank:
  std::vector<Incoming> incoming_;
  std::vector<std::deque<Letter>> letters_;       // letters that have arrived
  std::vector<std::deque<Frame>> agreements_;     // agreements that arrived while waiting for a letter
  std::vector<std::uint32_t> posted_, received_;  // numbers of letters
  std::vector<std::uint64_t> steps_;
};

}  // namespace catenary::distributed
