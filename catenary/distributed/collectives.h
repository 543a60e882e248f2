#pragma once
// Private: what a group of ranks does together, on bytes of the host's memory: one set of algorithms for all
// transports.

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "catenary/core/dtype.h"
#include "catenary/distributed/wire.h"

namespace catenary::distributed {

/// What one rank has for another: bytes, and what they are. Whoever sends it keeps them.
struct Part {
  Head head;
  const void* data = nullptr;
};

/// The ranks of one communicator. All of them call the same functions in the same order. Each collective begins with an
/// agreement: where ranks are about to do different things, all get a ValueError that names two of them, and can go on.
class Group {
 public:
  /// All ranks of the job.
  static std::shared_ptr<Group> world();
  /// These of them, in this order. All of them call it, and no others. Throws ValueError for a rank that is not there
  /// or named twice, or where this one is not among them.
  static std::shared_ptr<Group> of(const std::vector<int>& ranks);

  int rank() const { return rank_; }
  int size() const { return static_cast<int>(members_.size()); }
  Wire& wire() const { return *wire_; }
  /// Each rank's host.
  const std::vector<std::string>& hosts() const { return hosts_; }
  /// Those that give the same color, in the order of their keys.
  std::shared_ptr<Group> split(int color, int key);

  /// The same ranks on wires of their own, for collectives in another thread that need no order with those of this
  /// group. Null where the transport has none.
  std::shared_ptr<Group> background();

  /// Returns when all ranks have called it with the same text: what a collective does, with all in which ranks must
  /// agree. Gives the largest of the ranks' votes, which ride along.
  int agree(const std::string& doing, int vote = 0);

  /// result = the sum of all ranks' data, divided by `divisor`. Bits depend on the values and the order of ranks only.
  /// The result may lie where the data do.
  void allreduce(const std::string& doing, const void* data, void* result, std::int64_t count, Dtype dtype,
                 int divisor);
  /// Memory for what comes from a rank.
  using Place = std::function<void*(int from, const Head& head)>;
  /// The root's part to all others. `place` is called on them.
  void bcast(const std::string& doing, const Part& part, int root, const Place& place);
  /// Each rank gives every rank a part or nothing (null), and gets one of each that `from` names. One's own goes the
  /// same way.
  void exchange(const std::string& doing, const std::vector<const Part*>& to, const std::vector<bool>& from,
                const Place& place);

  /// From one rank to another. Messages of a rank with one tag come in order; a receiver may take other tags first, or
  /// any.
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
  std::vector<int> members_;  // the job's numbers of our ranks
  std::vector<std::string> hosts_;
  std::uint32_t id_;
  int rank_ = 0;
  std::uint32_t number_ = 0, splits_ = 0;
  std::vector<std::byte> scratch_;
  std::shared_ptr<Group> background_;
};

/// A flag for each rank of a group: one of them, or all where it is -1.
std::vector<bool> flags(const Group& group, int which);
/// For Group::exchange: the same part for some ranks, a part for each rank, and nothing for any.
std::vector<const Part*> copies(const Part& part, const std::vector<bool>& to);
std::vector<const Part*> addresses(const std::vector<Part>& parts);
std::vector<const Part*> nothing(const Group& group);

}  // namespace catenary::distributed
