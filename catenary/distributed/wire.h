#pragma once
// Private: transfers that are waited for under the time limit, and the frames that go ahead of what is sent, so that
// ranks which do different things get an error that names both sides.

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

/// What a receiver must know before it can make room: bytes, and what they are.
struct Head {
  std::uint64_t bytes = 0;
  std::uint64_t type = 0;   ///< of an object: a number of its C++ type; 0: an array
  std::int32_t dtype = -1;  ///< of an array
  std::int32_t ndim = 0;
  std::array<std::int64_t, 16> shape = {};
};

/// Goes ahead of a letter, or tells in a collective what its sender is doing.
struct Frame {
  std::uint32_t group = 0;
  std::uint32_t number = 0;   ///< of the collective
  std::int32_t tag = 0;       ///< of the letter
  std::int32_t vote = 0;      ///< the largest that the sender knows of
  std::uint32_t letters = 0;  ///< that the sender of an agreement has sent to its receiver before
  Head head = {};
  char doing[192] = {};
  char difference[512] = {};  ///< two ranks that do not do the same
};

/// A message from one rank to another, kept until it is asked for.
struct Letter {
  Frame frame = {};
  std::shared_ptr<std::byte[]> bytes;
};

/// The wires of this process. Ranks are the job's. Letters have a lane of their own, and who waits, for whatever, takes
/// in those that come meanwhile: so a letter of any size arrives where its receiver is in any call.
class Wire {
 public:
  /// With letters, or for a thread in the background.
  Wire(std::shared_ptr<Transport> transport, bool letters);
  /// Those of connect().
  static const std::shared_ptr<Wire>& job();
  /// Those of its transport's background(); null where that is.
  static const std::shared_ptr<Wire>& background();

  Transport& transport() const { return *transport_; }
  /// Held by who sends and receives: one at a time.
  std::mutex& mutex() { return mutex_; }
  /// Of all wires of this process.
  static std::chrono::nanoseconds limit();
  /// Infinity where there is none.
  static double limit_in_minutes();
  static void set_limit(double minutes);

  /// Says what is being done, for messages.
  void begin(const std::string& doing);
  const std::string& doing() const { return doing_; }

  /// Start transfers, in pieces that the transport takes.
  void send(int to, const void* data, std::size_t bytes);
  void receive(int from, void* data, std::size_t bytes);
  /// Waits for all that was started. Ends the job where nothing comes within the limit, or another rank has ended.
  void finish();

  /// One step done in the transport's shared blocks, for these ranks to know of.
  void tell(const std::vector<int>& ranks);
  /// Waits as finish() does until these ranks have told of so many steps more than were done together before `since`.
  void await_steps(const std::vector<int>& ranks, const std::vector<std::uint64_t>& since, std::uint64_t steps);
  /// How many steps were done together with each rank of the job.
  const std::vector<std::uint64_t>& steps() const { return steps_; }

  /// Sends a frame that begins an agreement.
  void send_agreement(int to, Frame& frame);
  Frame next_agreement(int from);
  /// Sends a letter, and returns when its bytes need not stay as they are.
  void post(int to, const Frame& frame, const void* data);
  /// The next letter of a rank for a group and a tag, or any; others before it are kept. Ends the job where it cannot
  /// come, as that rank has ended, or is in a collective.
  Letter next_letter(int from, std::uint32_t group, std::optional<std::int32_t> tag);

  /// Ends the job; `why` gets this rank's name and what it was doing in front.
  [[noreturn]] void abort(const std::string& why) const noexcept { abort(doing_, why); }
  /// The same for what goes on beside, in whatever thread.
  [[noreturn]] void abort(const std::string& doing, const std::string& why) const noexcept;
  std::string name_of(int rank) const;

 private:
  struct Started {
    Transfer transfer;
    int peer;
  };
  enum class Progress { none, some, all };
  /// A letter on its way: its frame first, then its bytes.
  struct Incoming {
    enum { nothing, frame, bytes } stage = nothing;
    Letter letter = {};
    std::vector<Started> started = {};
  };
  void start_send(int to, const void* data, std::size_t bytes, Lane lane, std::vector<Started>& started);
  void start_receive(int from, void* data, std::size_t bytes, Lane lane, std::vector<Started>& started);
  /// Looks after transfers; those that are done are taken out.
  Progress look_after(std::vector<Started>& started);
  /// Looks until all is done, which `peers` are waited for otherwise.
  void wait(const std::function<Progress()>& look, const std::function<std::vector<int>()>& peers);
  void wait_for(std::vector<Started>& started);
  /// Takes in what has come of letters. Did anything?
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
  std::vector<std::deque<Letter>> letters_;       // that have come
  std::vector<std::deque<Frame>> agreements_;     // that came while a letter was waited for
  std::vector<std::uint32_t> posted_, received_;  // letters
  std::vector<std::uint64_t> steps_;
};

}  // namespace catenary::distributed
