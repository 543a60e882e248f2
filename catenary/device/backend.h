#pragma once
// The interface that every device must implement: memory, and the primitives of device/primitives.h.

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "catenary/device/device_info.h"
#include "catenary/device/device_streams.h"
#include "catenary/device/pool.h"
#include "catenary/device/primitives.h"

namespace catenary {

class Device;
class DeviceCollectives;
class KernelLauncher;
enum class ComputationKind : std::uint8_t;
struct Computation;
struct LibraryInfo;

/// A kind of device.
class CT_API Backend {
 public:
  Backend();
  virtual ~Backend();
  virtual const char* name() const = 0;
  virtual int device_count() const = 0;
  virtual DeviceInfo info(int device) const = 0;
  /// Returns why there is no device, or fewer than expected. Empty if there is no problem.
  virtual std::string reason() const = 0;

  // Memory. Handles come from the pool. An allocation of 0 bytes gives a null handle.
  virtual MemoryPool& pool(int device) = 0;
  virtual void copy_from_host(int device, void* handle, std::size_t offset, const void* from, std::size_t bytes) = 0;
  virtual void copy_to_host(int device, void* to, void* handle, std::size_t offset, std::size_t bytes) = 0;
  /// Copies between two devices of this backend without the host. Does nothing and returns false if it cannot.
  virtual bool copy_between(int to_device, void* to, std::size_t to_offset, int from_device, void* from,
                            std::size_t from_offset, std::size_t bytes);
  virtual void synchronize(int device) = 0;
  /// Throws the errors that primitives found in their operands' values after their submission to a stream, which must
  /// have been waited for. synchronize and copy_to_host call it.
  virtual void raise_errors(int device, void* stream);
  /// Returns whether handles are addresses that the host may read and write.
  virtual bool host_addressable() const = 0;

  /// Checks a primitive, reports it to CATENARY_TRACE, and computes it.
  void compute(int device, const Primitive& primitive);

  // Optional features of a backend.
  /// Returns null if all work happens at once, in order.
  virtual DeviceStreams* streams() { return nullptr; }
  /// Returns null if there is no compiler for user-written kernels.
  virtual KernelLauncher* launcher() { return nullptr; }
  /// Returns null if its devices cannot exchange data with devices of other processes (device/collectives.h).
  virtual DeviceCollectives* collectives() { return nullptr; }
  /// Returns the libraries for a device; see device/libraries.h. Empty if the backend uses no library.
  virtual std::vector<LibraryInfo> libraries(int device, std::string_view kind);
  /// Returns the calling thread's last computation on a device, for last_computation. Null if there is none or the
  /// backend does not record it.
  virtual const Computation* last_computation(int device, ComputationKind kind);
  /// Returns whether convolutions convert images to channels-last first. Their results are then channels-last, too, so
  /// only the first convolution of a network pays for the conversion.
  virtual bool convolves_channels_last(int /*device*/, Dtype) const { return false; }
  /// Returns whether Matmul and a forward Convolution take operands of this dtype with a float32 result, faster than in
  /// float32.
  virtual bool multiplies_into_float32(int /*device*/, Dtype) const { return false; }

 protected:
  virtual void do_compute(int device, const Primitive& primitive) = 0;
};

/// Computes a primitive on a device.
CT_API void compute(const Device& device, const Primitive& primitive);

/// Returns the backends in the order in which `gpu:0` searches them. The CPU's is first. (registry.cpp)
CT_API const std::vector<Backend*>& backends();

}  // namespace catenary
