#pragma once
// Private: the gradient exchange of pure_nccl, from card to card by the vendor's library.

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

/// Connects the cards of a communicator's ranks at the first exchange on a device. Exchanges run on a separate stream,
/// and a watchdog thread enforces the time limit.
class DeviceExchange {
 public:
  DeviceExchange();
  DeviceExchange(const DeviceExchange&) = delete;
  DeviceExchange& operator=(const DeviceExchange&) = delete;
  /// Without a preceding leave(), waits for pending exchanges, then up to two seconds for the other ranks, and abandons
  /// the groups. After an exception, abandons them at once.
  ~DeviceExchange();

  /// Returns whether there is a library for this device. If not, rank 0 prints once that gradients travel through the
  /// host.
  static bool takes(const Device& device, int rank);
  /// Begins to replace the gradients of a bucket, which is on one device, by their means over all ranks. All ranks must
  /// call it. Throws on all ranks: ValueError if they call different functions, DeviceError if some rank cannot use the
  /// library or if two ranks share a card. Later failures end the job.
  std::unique_ptr<BucketExchange> begin_mean(Group& group, const std::shared_ptr<Bucket>& bucket,
                                             const std::vector<Array>& gradients);
  /// Copies rank 0's values to all ranks' arrays on devices. Throws the errors of begin_mean().
  void bcast(Group& group, const std::string& doing, const Array& array);
  /// Waits for pending exchanges and leaves the groups. All ranks must call it.
  void leave(Group& group);

 private:
  class Watch;
  struct Member;
  /// Agrees with all ranks on the operation and returns the device's member, created on first use.
  Member& agree(Group& group, const std::string& doing, const Device& device);
  std::unique_ptr<Member> join(Group& group, const Device& device);
  /// Returns when the library has accepted its last task.
  static void settle(const Wire& wire, const Member& member, const std::string& doing);
  /// Submits a task to the member's stream, ordered after the work in this thread's stream. Returns an event for its
  /// end.
  Event submit(Group& group, Member& member, const std::string& doing, const std::function<void()>& task);

  std::map<std::string, std::unique_ptr<Member>> members_;  // by device
  int joined_ = 0;
  std::unique_ptr<Watch> watch_;
};

}  // namespace catenary::distributed
