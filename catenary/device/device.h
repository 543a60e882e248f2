#pragma once
// device/: devices, their memory and the interface of backends. Backends implement device/backend.h. Arrays use only
// this folder, never a backend.

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "catenary/core/export.h"
#include "catenary/device/device_info.h"

namespace catenary {

class Backend;

/// A device on which arrays live and computations run: "cpu", "cuda:0", "hip:0", "opencl:0". Copies are cheap and refer
/// to the same device.
class CT_API Device {
 public:
  /// Makes the CPU.
  Device();
  Device(Backend& backend, int index) : backend_(&backend), index_(index) {}

  Backend& backend() const { return *backend_; }
  int index() const { return index_; }
  /// Returns "cpu", or "<backend>:<index>".
  std::string name() const;
  /// Returns whether it is the CPU itself. Use Backend::host_addressable to ask if the host can read a device's memory.
  bool is_cpu() const;
  /// Returns the driver's description of the device.
  DeviceInfo info() const;
  /// Makes this the device of the calling thread's new arrays.
  void use() const;
  /// Waits until all submitted work of the device is done. Throws DeviceError for errors in that work.
  void synchronize() const;

  friend bool operator==(const Device& a, const Device& b) { return a.backend_ == b.backend_ && a.index_ == b.index_; }

 private:
  Backend* backend_;
  int index_;
};

/// Returns the device with a name. "cpu", "-1", "@numpy" and "native" are the CPU; "cuda:0", "hip:0", "opencl:0",
/// "gpu:0", "0" and "@cupy:0" are GPUs. `gpu:N` counts only real GPUs, integrated ones last: no simulated GPUs, and no
/// drivers for the CPU unless CATENARY_GPU_INCLUDE_CPU=1. Throws DeviceError with the reason if the device is not
/// available. There is no fallback. (chainer.get_device)
CT_API Device get_device(std::string_view name);
/// Returns the device of the calling thread's new arrays: the last one used, initially the CPU.
CT_API Device current_device();
/// Returns all available devices, the CPU first.
CT_API std::vector<Device> devices();
/// Returns the devices that `gpu:N` counts: each real GPU once, integrated ones last.
CT_API std::vector<Device> gpus();

/// Uses a device until the end of the scope.
class CT_API DeviceScope {
 public:
  explicit DeviceScope(const Device& device) : before_(current_device()) { device.use(); }
  ~DeviceScope() { before_.use(); }
  DeviceScope(const DeviceScope&) = delete;
  DeviceScope& operator=(const DeviceScope&) = delete;

 private:
  Device before_;
};

}  // namespace catenary
