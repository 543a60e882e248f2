#pragma once
// Private to the library: what a backend can do whose devices exchange data with those of other processes by
// themselves (Backend::collectives). Only the ranks of a job (distributed/) ask for it.

#include <array>
#include <cstddef>
#include <memory>
#include <string>

#include "catenary/core/export.h"
#include "catenary/device/primitives.h"

namespace catenary {

/// By it the processes of a group find each other: one makes it and gives it to the others.
using CollectivesId = std::array<std::byte, 128>;

/// One rank's place in a group of devices, one for each process. A call gives a task to the library and returns at
/// once; before the next one `ready` must have said that it was taken. DeviceError tells that the library refused, in
/// its words: the group is of no use then, on any rank. For one thread at a time, but `ready` and `abort`, which
/// another one may call too.
class CT_API DeviceGroup {
 public:
  DeviceGroup() = default;
  DeviceGroup(const DeviceGroup&) = delete;
  DeviceGroup& operator=(const DeviceGroup&) = delete;
  virtual ~DeviceGroup();

  /// Was the last task taken? Throws DeviceError also for what has gone wrong since, on the way to another rank say.
  virtual bool ready() = 0;
  /// data = the sum of all ranks' data, of one size and dtype, in the calling thread's stream of the device. The data
  /// lie without gaps. Throws DeviceError for bool and for integers of 16 bits, of which these libraries know nothing.
  virtual void allreduce(const View& data) = 0;
  /// Gives all ranks the root's data, of any dtype, likewise.
  virtual void bcast(const View& data, int root) = 0;
  /// Leaves the group when what was submitted has happened; called by all ranks. `ready` says when all have come.
  virtual void finish() = 0;
  /// Gives up what is under way, here alone, and the group with it. It may take for ever.
  virtual void abort() noexcept = 0;
};

/// A library by which a backend's devices exchange data: NCCL, RCCL.
class CT_API DeviceCollectives {
 public:
  virtual ~DeviceCollectives();
  /// "NCCL".
  virtual const char* name() const = 0;
  /// Its version and file; empty, with the reason in `why`, where there is none that can be used.
  virtual std::string library(std::string& why) = 0;
  // Both throw DeviceError where there is no library, or it refuses.
  virtual CollectivesId make_id(int device) = 0;
  /// Begins to join the group of an id, with a device. `ready` says when all ranks have come.
  virtual std::unique_ptr<DeviceGroup> join(int device, const CollectivesId& id, int rank, int size) = 0;
};

}  // namespace catenary
