#pragma once
// device/: devices, the memory on them and what every backend must be able to do. Backends implement device/backend.h;
// arrays know only this room, never a backend.

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "catenary/core/export.h"
#include "catenary/device/device_info.h"

namespace catenary {

class Backend;

/// A place where arrays live and computations run: "cpu", "cuda:0", "hip:0", "opencl:0". A small value; copies
/// name the same device.
class CT_API Device {
 public:
  /// The CPU.
  Device();
  Device(Backend& backend, int index) : backend_(&backend), index_(index) {}

  Backend& backend() const { return *backend_; }
  int index() const { return index_; }
  /// "cpu", or "<backend>:<index>".
  std::string name() const;
  /// Is it the CPU itself? Whether the host can read a device's memory is Backend::host_addressable.
  bool is_cpu() const;
  /// What its driver says of it.
  DeviceInfo info() const;
  /// Makes this the device of the calling thread's new arrays.
  void use() const;
  /// Waits until all that was submitted to the device has happened. Throws DeviceError for what went wrong meanwhile.
  void synchronize() const;

  friend bool operator==(const Device& a, const Device& b) { return a.backend_ == b.backend_ && a.index_ == b.index_; }

 private:
  Backend* backend_;
  int index_;
};

/// Device of a name: "cpu", "-1", "@numpy" and "native" are the CPU; "cuda:0", "hip:0", "opencl:0", "gpu:0", "0" and
/// "@cupy:0" are GPUs. `gpu:N` counts real GPUs only, the integrated ones last: neither drivers for the processor
/// (unless CATENARY_GPU_INCLUDE_CPU=1) nor simulated ones. Throws DeviceError that says why when the device cannot be
/// had; nothing falls back. (chainer.get_device)
CT_API Device get_device(std::string_view name);
/// The device of the calling thread's new arrays: the last one used, the CPU at first.
CT_API Device current_device();
/// All devices that can be had, the CPU first.
CT_API std::vector<Device> devices();
/// What `gpu:N` counts: each real GPU once, the integrated ones last.
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
