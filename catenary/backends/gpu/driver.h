#pragma once
// backends/gpu/: one Backend for all GPUs, on top of a Driver that allocates, copies, compiles and launches, and knows
// no kernels. Kernels are in kernels/ and in the generator (codegen.h). drivers/ has one file for each vendor's
// interface.

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "catenary/backends/gpu/ahead.h"
#include "catenary/device/device_info.h"
#include "catenary/device/device_streams.h"
#include "catenary/device/launch_shape.h"

namespace catenary::gpu {

/// The arguments of a launch in order: buffers (handles), numbers and structures, by value.
class Args {
 public:
  static constexpr int kMost = 320;

  template <class T>
  requires std::is_trivially_copyable_v<T> Args& add(const T& value) { return add(&value, sizeof(T)); }
  Args& add(const void* bytes, std::size_t size) {
    constexpr std::size_t kWord = sizeof(std::uint64_t);
    const auto i = static_cast<std::size_t>(check(count_, kMost));
    const int words = std::max(1, static_cast<int>((size + kWord - 1) / kWord));
    check(words_ + words - 1, kMostWords);
    std::memcpy(&values_[static_cast<std::size_t>(words_)], bytes, size);
    sizes_[i] = static_cast<std::uint16_t>(size);
    places_[i] = static_cast<std::uint16_t>(words_);
    words_ += words;
    ++count_;
    bytes_ += size;
    return *this;
  }
  /// Adds an integer in the kernel's index type.
  Args& index(std::int64_t value, bool wide) { return wide ? add(value) : add(static_cast<std::int32_t>(value)); }

  int count() const { return count_; }
  /// Returns the total size.
  std::size_t bytes() const { return bytes_; }
  const void* data(int i) const { return &values_[places_[static_cast<std::size_t>(i)]]; }
  std::size_t size(int i) const { return sizes_[static_cast<std::size_t>(i)]; }

 private:
  static constexpr int kMostWords = 832;  // room for kMost arguments and a structure of 4096 bytes
  static int check(int i, int most);      // throws if there are too many

  alignas(16) std::array<std::uint64_t, kMostWords> values_;
  std::array<std::uint16_t, kMost> sizes_;
  std::array<std::uint16_t, kMost> places_;
  int count_ = 0, words_ = 0;
  std::size_t bytes_ = 0;
};

using Binary = std::vector<std::byte>;

/// A vendor's interface. Work goes to the calling thread's stream of the device and runs in order there. Functions
/// throw DeviceError unless they say otherwise.
class Driver : public DeviceStreams {
 public:
  Driver();
  /// Returns "cuda", "hip" or "opencl": the name of the backend, and of its kernels' prelude.
  virtual const char* name() const = 0;
  virtual int device_count() const = 0;
  virtual const DeviceInfo& info(int device) const = 0;
  /// Returns the reason why there is no device, or fewer than expected; "" if all is well.
  virtual std::string reason() const = 0;
  /// Returns a device's definitions for the kernels' preludes, as lines of #define.
  virtual std::string defines(int device) const = 0;

  /// Returns null if there is no memory left.
  virtual void* allocate(int device, std::size_t bytes) = 0;
  virtual void free(int device, void* handle) noexcept = 0;
  /// Returns a handle for a part of an allocation. The offset is a multiple of the device's alignment.
  virtual void* part(int device, void* handle, std::size_t offset, std::size_t bytes) = 0;
  virtual void free_part(void* part) noexcept = 0;
  /// Allocates host memory that the device can access directly. It is never freed.
  virtual void* allocate_host(int device, std::size_t bytes) = 0;
  /// Copy from host to device, and back. The host's memory is in use until the stream has reached the copy.
  virtual void write(int device, void* handle, std::size_t offset, const void* from, std::size_t bytes) = 0;
  virtual void read(int device, void* to, void* handle, std::size_t offset, std::size_t bytes) = 0;
  virtual void copy(int device, void* to, std::size_t to_offset, void* from, std::size_t from_offset,
                    std::size_t bytes) = 0;
  /// Returns whether devices can copy to each other without the host. copy_from_peer() runs in the destination's
  /// stream.
  virtual bool has_peers() const { return false; }
  virtual void copy_from_peer(int, void* /*to*/, std::size_t /*to_offset*/, int /*from_device*/, void* /*from*/,
                              std::size_t /*from_offset*/, std::size_t /*bytes*/) {}

  /// A binary for this device, and the loaded module if the compiler produces one. An empty binary cannot be cached.
  /// Throws DeviceError with the compiler's output.
  struct Compiled {
    Binary binary;
    void* module = nullptr;
  };
  virtual Compiled compile(int device, const std::string& text) = 0;
  /// Loads a binary permanently. Throws if it is not for this device.
  virtual void* load(int device, const Binary& binary) = 0;
  virtual void* function(int device, void* module, const std::string& name) = 0;
  /// Returns the memory and size of a module's variable. Throws if the vendor's modules have no variables.
  virtual std::pair<void*, std::size_t> variable(int device, void* module, const std::string& name);
  /// Returns KernelLauncher::attributes of a function.
  virtual std::map<std::string, std::int64_t> attributes(int device, void* function) = 0;
  virtual void launch(int device, void* function, const LaunchShape& shape, const Args& args) = 0;

  /// Waits for all streams.
  virtual void synchronize(int device) = 0;

  /// Returns the queue for the calling thread's work, for the driver and vendor's libraries: its stream of the device,
  /// which becomes current for the thread (CUDA, HIP), or OpenCL's command queue. Makes the queue wait for required
  /// events, and the host too if it is too far ahead.
  void* queue(int device);

  void* create_stream(int device, bool blocking) final;
  void destroy_stream(int device, void* stream) noexcept final;
  void synchronize_stream(int device, void* stream) final;
  void use_stream(int device, void* stream) final;
  void* stream(int device) const final;
  void* handle(int device) final { return queue(device); }
  /// Orders future work of stream `waiting` after the work so far of stream `first`.
  void follow(int device, void* waiting, void* first);

 protected:
  virtual void* new_stream(int device) = 0;
  virtual void end_stream(int device, void* stream) noexcept = 0;
  /// Returns the vendor's handle of a stream, or of the device's default stream. Makes the device current for the
  /// thread.
  virtual void* handle_of(int device, void* stream) = 0;
  /// Waits for a stream, or the device's default stream.
  virtual void finish(int device, void* stream) = 0;

 private:
  /// A blocking stream. All streams of CUDA and HIP are created non-blocking, as in OpenCL. Events keep the order with
  /// the null stream in the same way for all three.
  struct Blocking {
    int device;
    void* stream;
    bool is_behind = true;  // whether the null stream may have new work since this stream waited for it
    bool has_work = false;  // whether this stream may have new work since the null stream waited for it
  };
  void keep_order(int device, void* stream);

  const int number_;  // the driver's number, for the threads' tables
  std::atomic<int> blocking_count_{0};
  std::mutex blocking_mutex_;
  std::vector<Blocking> blocking_;

  /// Keyed by device and stream, where null is the default stream.
  Ahead& ahead_of(int device, void* stream);
  std::mutex ahead_mutex_;
  std::map<std::pair<int, void*>, std::unique_ptr<Ahead>> ahead_;
};

/// CATENARY_SYNC=1: wait for each operation.
bool is_synchronous();

/// Returns the calling thread's last launches, for messages about a kernel that failed earlier.
std::string last_launches();

/// CATENARY_NO_FLOAT64=1 (for tests): no device has float64.
bool float64_is_off();

/// The drivers. Each searches for its library once, and has no devices if the library is missing.
Driver& cuda_driver();
Driver& hip_driver();
Driver& opencl_driver();

}  // namespace catenary::gpu
