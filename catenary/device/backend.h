#pragma once
// What every device must do: memory, and the primitives of device/primitives.h.

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "catenary/core/quantization.h"
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
  /// Why there is no device, or fewer than one may expect; empty where all is well.
  virtual std::string reason() const = 0;

  // Memory. Handles come from the pool; 0 bytes give a null handle.
  virtual MemoryPool& pool(int device) = 0;
  virtual void copy_from_host(int device, void* handle, std::size_t offset, const void* from, std::size_t bytes) = 0;
  virtual void copy_to_host(int device, void* to, void* handle, std::size_t offset, std::size_t bytes) = 0;
  /// Copies between two devices of this backend without the host; false, and nothing has happened, where it cannot.
  virtual bool copy_between(int to_device, void* to, std::size_t to_offset, int from_device, void* from,
                            std::size_t from_offset, std::size_t bytes);
  virtual void synchronize(int device) = 0;
  /// Throws what primitives found wrong with their operands' values after they had been submitted to a stream, which
  /// has been waited for. synchronize and copy_to_host do so themselves.
  virtual void raise_errors(int device, void* stream);
  /// True where handles are addresses that the host may read and write.
  virtual bool host_addressable() const = 0;

  /// Checks a primitive, tells CATENARY_TRACE of it, and computes it.
  void compute(int device, const Primitive& primitive);

  // What a backend may also be able to do.
  /// Null where everything happens in order at once.
  virtual DeviceStreams* streams() { return nullptr; }
  /// Null where it has no compiler for kernels of users.
  virtual KernelLauncher* launcher() { return nullptr; }
  /// Null where its devices exchange no data with those of other processes (device/collectives.h).
  virtual DeviceCollectives* collectives() { return nullptr; }
  /// See device/libraries.h; none where it asks no library.
  virtual std::vector<LibraryInfo> libraries(int device, std::string_view kind);
  /// The calling thread's last one on a device, for last_computation; null for none, or where that is not told.
  virtual const Computation* last_computation(int device, ComputationKind kind);
  /// Must its convolutions bring images of another order into channels-last first? Then their results lie so, which
  /// spares it those of a network but the first.
  virtual bool convolves_channels_last(int /*device*/, Dtype) const { return false; }
  /// Do Matmul and a forward Convolution take operands of this dtype and a float32 result, in less time than float32's?
  virtual bool multiplies_into_float32(int /*device*/, Dtype) const { return false; }
  /// Does QuantizedProduct, where config.int8_products lets it round x, take less time than a product of dequantised
  /// weights, however many rows x has?
  virtual bool multiplies_rounded(int /*device*/, Quantization) const { return false; }

 protected:
  virtual void do_compute(int device, const Primitive& primitive) = 0;
};

/// Computes a primitive on a device.
CT_API void compute(const Device& device, const Primitive& primitive);

/// Backends in the order in which `gpu:0` looks for one; the CPU's is first. (registry.cpp)
CT_API const std::vector<Backend*>& backends();

}  // namespace catenary
