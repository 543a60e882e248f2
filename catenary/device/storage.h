#pragma once
// The memory behind arrays: a reference-counted block on a device, or foreign memory.

#include <atomic>
#include <cstddef>
#include <memory>
#include <utility>

#include "catenary/device/deferred.h"
#include "catenary/device/device.h"

namespace catenary {

/// A smart pointer to an object with add_reference() and release().
template <class T>
class Ref {
 public:
  Ref() = default;
  explicit Ref(T* object) : object_(object) {
    if (object_) object_->add_reference();
  }
  Ref(const Ref& other) : Ref(other.object_) {}
  Ref(Ref&& other) noexcept : object_(std::exchange(other.object_, nullptr)) {}
  Ref& operator=(Ref other) noexcept {
    std::swap(object_, other.object_);
    return *this;
  }
  ~Ref() {
    if (object_) object_->release();
  }
  T* get() const { return object_; }
  T* operator->() const { return object_; }
  T& operator*() const { return *object_; }
  explicit operator bool() const { return object_ != nullptr; }
  friend bool operator==(const Ref& a, const Ref& b) { return a.object_ == b.object_; }

 private:
  T* object_ = nullptr;
};

/// A block of device memory. Before changing its contents, run the deferred work on it (array/lazy.h).
class CT_API Storage {
 public:
  /// Allocates new, uninitialised memory from the device's pool.
  Storage(const Device& device, std::size_t bytes);
  /// Refers to foreign memory, which `owner` keeps alive.
  Storage(const Device& device, void* handle, std::size_t bytes, std::shared_ptr<void> owner);
  Storage(const Storage&) = delete;
  Storage& operator=(const Storage&) = delete;

  const Device& device() const { return device_; }
  void* handle() const { return handle_; }
  std::size_t bytes() const { return bytes_; }

  void add_reference() { references_.fetch_add(1, std::memory_order_relaxed); }
  void release() {
    if (references() == 1 || references_.fetch_sub(1, std::memory_order_acq_rel) == 1) delete this;
  }
  int references() const { return references_.load(std::memory_order_acquire); }
  /// Returns whether the memory is foreign. Its deleter may do anything.
  bool has_owner() const { return owner_ != nullptr; }

  /// True if the memory is known outside the library (by an address, a capsule, a host view). Work on it is then not
  /// deferred.
  std::atomic<bool> exported{false};
  /// The number of deferred readers, and the deferred work that will write it.
  std::atomic<int> pending_readers{0};
  std::atomic<DeferredWork*> pending_writer{nullptr};

 private:
  ~Storage();

  std::atomic<int> references_{0};
  Device device_;
  void* handle_;
  std::size_t bytes_;
  std::shared_ptr<void> owner_;
};

}  // namespace catenary
