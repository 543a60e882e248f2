#pragma once
// Private to the library: the interface of backends whose devices exchange data directly with devices of other
// processes (Backend::collectives). Only the ranks of a job (distributed/) use it.

#include <array>
#include <cstddef>
#include <memory>
#include <string>

#include "catenary/core/export.h"
#include "catenary/device/primitives.h"

namespace catenary {

/// Identifies a group of processes. One process makes it and gives it to the others.
using CollectivesId = std::array<std::byte, 128>;

/// One rank's membership in a group of devices, one for each process. Each call gives the library a task and returns at
/// once. Before the next call, `ready` must have reported that the task was accepted. If the library refuses a task,
/// DeviceError carries its message, and the group is unusable on every rank. Use from one thread at a time, except for
/// `ready` and `abort`.
class CT_API DeviceGroup {
 public:
  DeviceGroup() = default;
  DeviceGroup(const DeviceGroup&) = delete;
  DeviceGroup& operator=(const DeviceGroup&) = delete;
  virtual ~DeviceGroup();

  /// Returns whether the last task was accepted. Also throws DeviceError for later faults, for instance in the network.
  virtual bool ready() = 0;
  /// Replaces `data` by the sum of all ranks' data, in the calling thread's stream of the device. All ranks need equal
  /// sizes and dtypes, and data without gaps. Throws DeviceError for bool and 16-bit integers, which these libraries do
  /// not support.
  virtual void allreduce(const View& data) = 0;
  /// Copies the root's data, of any dtype, to all ranks, under equal conditions.
  virtual void bcast(const View& data, int root) = 0;
  /// Leaves the group after all submitted work. All ranks must call it. `ready` reports when all have.
  virtual void finish() = 0;
  /// Cancels tasks in progress on this rank and leaves the group. It may never return.
  virtual void abort() noexcept = 0;
};

/// A library for data exchange between a backend's devices: NCCL, RCCL.
class CT_API DeviceCollectives {
 public:
  virtual ~DeviceCollectives();
  /// Returns the library's name, such as "NCCL".
  virtual const char* name() const = 0;
  /// Returns its version and file. Empty, with the reason in `why`, if there is no usable library.
  virtual std::string library(std::string& why) = 0;
  // Both throw DeviceError if there is no library, or if it refuses.
  virtual CollectivesId make_id(int device) = 0;
  /// Begins to join a group with a device. `ready` reports when all ranks have joined.
  virtual std::unique_ptr<DeviceGroup> join(int device, const CollectivesId& id, int rank, int size) = 0;
};

}  // namespace catenary
