#pragma once
// backends/gpu/: one Backend for every GPU, upon a Driver that knows how to allocate, copy, compile and launch and
// knows no kernel. What is computed stands in kernels/ and in the generator (codegen.h); drivers/ has one file a
// vendor's interface.

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

/// The arguments of a launch, in order: buffers (handles), numbers and structures, copied.
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
  /// An integer in the index type of the kernel.
  Args& index(std::int64_t value, bool wide) { return wide ? add(value) : add(static_cast<std::int32_t>(value)); }

  int count() const { return count_; }
  /// Of all together.
  std::size_t bytes() const { return bytes_; }
  const void* data(int i) const { return &values_[places_[static_cast<std::size_t>(i)]]; }
  std::size_t size(int i) const { return sizes_[static_cast<std::size_t>(i)]; }

 private:
  static constexpr int kMostWords = 832;  // kMost, and a structure of 4096 bytes
  static int check(int i, int most);      // throws when there are too many

  alignas(16) std::array<std::uint64_t, kMostWords> values_;
  std::array<std::uint16_t, kMost> sizes_;
  std::array<std::uint16_t, kMost> places_;
  int count_ = 0, words_ = 0;
  std::size_t bytes_ = 0;
};

using Binary = std::vector<std::byte>;

/// A vendor's interface. What is submitted goes to the calling thread's stream of the device, and happens in order
/// there. Throws DeviceError where not said otherwise.
class Driver : public DeviceStreams {
 public:
  Driver();
  /// "cuda", "hip" or "opencl": the name of the backend, and of the prelude of its kernels.
  virtual const char* name() const = 0;
  virtual int device_count() const = 0;
  virtual const DeviceInfo& info(int device) const = 0;
  /// Why there is no device, or fewer than one may expect; empty where all is well.
  virtual std::string reason() const = 0;
  /// What the kernels' preludes are told of a device, as lines of #define.
  virtual std::string defines(int device) const = 0;

  /// Null when there is no memory left.
  virtual void* allocate(int device, std::size_t bytes) = 0;
  virtual void free(int device, void* handle) noexcept = 0;
  /// A handle for a part of an allocation; the offset is a multiple of the device's alignment.
  virtual void* part(int device, void* handle, std::size_t offset, std::size_t bytes) = 0;
  virtual void free_part(void* part) noexcept = 0;
  /// Memory of the host that the device copies from and to by itself; lives as long as the process.
  virtual void* allocate_host(int device, std::size_t bytes) = 0;
  /// Host to device and device to host; the host's memory is used until the stream has come so far.
  virtual void write(int device, void* handle, std::size_t offset, const void* from, std::size_t bytes) = 0;
  virtual void read(int device, void* to, void* handle, std::size_t offset, std::size_t bytes) = 0;
  virtual void copy(int device, void* to, std::size_t to_offset, void* from, std::size_t from_offset,
                    std::size_t bytes) = 0;
  /// Can it copy between two devices without the host? Then from another device, in the stream of the one that gets it.
  virtual bool has_peers() const { return false; }
  virtual void copy_from_peer(int, void* /*to*/, std::size_t /*to_offset*/, int /*from_device*/, void* /*from*/,
                              std::size_t /*from_offset*/, std::size_t /*bytes*/) {}

  /// A binary for this device, and the module loaded from it where the compiler leaves one. An empty binary is one that
  /// cannot be kept. Throws DeviceError with the compiler's words.
  struct Compiled {
    Binary binary;
    void* module = nullptr;
  };
  virtual Compiled compile(int device, const std::string& text) = 0;
  /// Loads a binary, for ever. Throws when it is not one for this device.
  virtual void* load(int device, const Binary& binary) = 0;
  virtual void* function(int device, void* module, const std::string& name) = 0;
  /// The memory of a variable of a module, and its bytes. Throws where the vendor's modules have none.
  virtual std::pair<void*, std::size_t> variable(int device, void* module, const std::string& name);
  /// KernelLauncher::attributes of a function.
  virtual std::map<std::string, std::int64_t> attributes(int device, void* function) = 0;
  virtual void launch(int device, void* function, const LaunchShape& shape, const Args& args) = 0;

  /// Waits for all streams.
  virtual void synchronize(int device) = 0;

  /// What the calling thread's work is submitted to, by the driver and by libraries of the vendor's: its stream of the
  /// device, which becomes current for the thread (CUDA, HIP); OpenCL's command queue. It waits for what it has to, and
  /// the host with it where it is too far ahead.
  void* queue(int device);

  void* create_stream(int device, bool blocking) final;
  void destroy_stream(int device, void* stream) noexcept final;
  void synchronize_stream(int device, void* stream) final;
  void use_stream(int device, void* stream) final;
  void* stream(int device) const final;
  void* handle(int device) final { return queue(device); }
  /// What `waiting` is told from now on happens after what `first` was told.
  void follow(int device, void* waiting, void* first);

 protected:
  virtual void* new_stream(int device) = 0;
  virtual void end_stream(int device, void* stream) noexcept = 0;
  /// The vendor's handle of a stream, or of the device's own; the device becomes current for the thread.
  virtual void* handle_of(int device, void* stream) = 0;
  /// Waits for a stream, or the device's own.
  virtual void finish(int device, void* stream) = 0;

 private:
  /// A blocking stream. All streams of CUDA and HIP are made non-blocking, as OpenCL has no others: the order with the
  /// null stream is kept by events, for all three alike.
  struct Blocking {
    int device;
    void* stream;
    bool is_behind = true;  // the null stream may have been told something since this one waited for it
    bool has_work = false;  // and the other way round
  };
  void keep_order(int device, void* stream);

  const int number_;  // of the driver, for the threads' tables
  std::atomic<int> blocking_count_{0};
  std::mutex blocking_mutex_;
  std::vector<Blocking> blocking_;

  /// By device and stream; null is the device's own.
  Ahead& ahead_of(int device, void* stream);
  std::mutex ahead_mutex_;
  std::map<std::pair<int, void*>, std::unique_ptr<Ahead>> ahead_;
};

/// CATENARY_SYNC=1: each operation is waited for.
bool is_synchronous();

/// What the calling thread launched last, as a part of a message about a kernel that failed unseen.
std::string last_launches();

/// CATENARY_NO_FLOAT64=1 (for tests): no device has float64.
bool float64_is_off();

/// The drivers; each looks for its library once, and has no devices where it is not found.
Driver& cuda_driver();
Driver& hip_driver();
Driver& opencl_driver();

}  // namespace catenary::gpu
