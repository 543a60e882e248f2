#pragma once
// Private: collective operations of a group of ranks on bytes of host memory. All transports share these algorithms.

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "catenary/core/dtype.h"
#include "catenary/distributed/wire.h"

namespace catenary::distributed {

/// Bytes for another rank with a description of them. The sender keeps the memory.
struct Part {
  Head head;
  const void* data = nullptr;
};

/// The ranks of a communicator. All ranks must call the same functions in the same order. Each collective begins with
/// an agreement: if ranks call different functions, all get a ValueError that names two of them, and the group stays
/// usable.
class Group {
 public:
  /// Returns the group of all ranks of the job.
  static std::shared_ptr<Group> world();
  /// Returns the group of these ranks in this order. Exactly these ranks must call it. Throws ValueError for a rank
  /// that does not exist or is named twice, or if this rank is not in the list.
  static std::shared_ptr<Group> of(const std::vector<int>& ranks);

  int rank() const { return rank_; }
  int size() const { return static_cast<int>(members_.size()); }
  Wire& wire() const { return *wire_; }
  /// Returns each rank's host.
  const std::vector<std::string>& hosts() const { return hosts_; }
  /// Returns the group of the ranks that pass this color, ordered by their keys.
  std::shared_ptr<Group> split(int color, int key);

  /// Returns a group of these ranks with separate wires, for collectives in another thread that run in any order
  /// relative to those of this group. Null if the transport does not support it.
  std::shared_ptr<Group> background();

  /// Returns once all ranks have called it with equal text. The text names the operation and everything that the ranks
  /// must agree on. Returns the maximum of the ranks' votes, which travel with the text.
  int agree(const std::string& doing, int vote = 0);

  /// Computes result = sum of all ranks' data / `divisor`. The bits depend only on the values and the order of ranks.
  /// The result may overlap the data exactly.
  void allreduce(const std::string& doing, const void* data, void* result, std::int64_t count, Dtype dtype,
                 int divisor);
  /// Allocates memory for a message from a rank.
  using Place = std::function<void*(int from, const Head& head)>;
  /// Sends the root's part to all other ranks, which call `place`.
  void bcast(const std::string& doing, const Part& part, int root, const Place& place);
  /// Sends `to[i]` to rank i unless it is null, and receives one part from each rank that `from` marks. Includes this
  /// rank itself.
  void exchange(const std::string& doing, const std::vector<const Part*>& to, const std::vector<bool>& from,
                const Place& place);

  /// Sends a message to one rank. Messages of one rank and tag arrive in order. A receiver may request any tag, or
  /// other tags first.
  void send(const std::string& doing, const Part& part, int to, int tag);
  Letter receive(const std::string& doing, int from, std::optional<int> tag);

 private:
  Group(std::shared_ptr<Wire> wire, std::vector<int> members, std::uint32_t id);
  Group(std::shared_ptr<Wire> wire, const Group& of);
  void begin(const std::string& doing);
  int agree_held(const std::string& doing, int vote = 0);
  struct Sum;
  void allreduce_by_messages(const Sum& sum);
  void allreduce_in_blocks(const Sum& sum);
  int member(int rank) const { return members_[static_cast<std::size_t>(rank)]; }

  std::shared_ptr<Wire> wire_;
  std::vector<int> members_;  // the job's rank numbers of the members
  std::vector<std::string> hosts_;
  std::uint32_t id_;
  int rank_ = 0;
  std::uint32_t number_ = 0, splits_ = 0;
  std::vector<std::byte> scratch_;
  std::shared_ptr<Group> background_;
};

/// Returns a flag for each rank of a group: true for rank `which`, or for all if it is -1.
std::vector<bool> flags(const Group& group, int which);
/// Arguments for Group::exchange: one part for all ranks in `to`, or a separate part for each rank.
std::vector<const Part*> copies(const Part& part, const std::vector<bool>& to);
std::vector<const Part*> addresses(const std::vector<Part>& parts);
std::vector<const Part*> nothing(const Group& group);

}  // namespace catenary::distributed
