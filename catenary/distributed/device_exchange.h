#pragma once
// Private: pure_nccl's way: gradients go from card to card, by the library of the cards' maker.

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "catenary/autograd/parameter.h"
#include "catenary/device/collectives.h"
#include "catenary/device/stream.h"

namespace catenary::distributed {

class Bucket;
class BucketExchange;
class Group;
class Wire;

/// The cards of one communicator's ranks. They find each other at the first exchange on a device, which takes place in
/// a stream of its own; a thread looks that none takes longer than the time limit.
class DeviceExchange {
 public:
  DeviceExchange();
  DeviceExchange(const DeviceExchange&) = delete;
  DeviceExchange& operator=(const DeviceExchange&) = delete;
  /// Without leave() before it waits for what is under way and two seconds for the others, and then leaves the groups
  /// alone; after an exception at once.
  ~DeviceExchange();

  /// Has this device a library for it? Where not, rank 0 says once that gradients go through the host.
  static bool takes(const Device& device, int rank);
  /// Begins to give a bucket's parameters, which are on one device, the mean of all ranks' gradients. Called by all
  /// ranks. Throws ValueError on all where they do different things, DeviceError on all where the library cannot be
  /// used by all, or two ranks have one card. What fails later ends the job.
  std::unique_ptr<BucketExchange> begin_mean(Group& group, const std::shared_ptr<Bucket>& bucket,
                                             const std::vector<Array>& gradients);
  /// Gives rank 0's values to all ranks' arrays, which lie on devices. Errors as begin_mean's.
  void bcast(Group& group, const std::string& doing, const Array& array);
  /// Called by all ranks: waits for what is under way, and leaves the groups.
  void leave(Group& group);

 private:
  class Watch;
  struct Member;
  /// Agrees that all ranks are about to do this, and gives what belongs to the device, new at the first time.
  Member& agree(Group& group, const std::string& doing, const Device& device);
  std::unique_ptr<Member> join(Group& group, const Device& device);
  /// Returns when the library has taken its last task.
  static void settle(const Wire& wire, const Member& member, const std::string& doing);
  /// Submits a task to the member's stream, after what this thread's stream has. Gives its end.
  Event submit(Group& group, Member& member, const std::string& doing, const std::function<void()>& task);

  std::map<std::string, std::unique_ptr<Member>> members_;  // by device
  int joined_ = 0;
  std::unique_ptr<Watch> watch_;
};

}  // namespace catenary::distributed
