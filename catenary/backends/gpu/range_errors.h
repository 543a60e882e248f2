#pragma once
// Out-of-range values that kernels find while the host does not wait. Each stream has a record in device memory. The
// first kernel that finds an error writes it there, and the host reads it at the next synchronization of the stream and
// throws. Until then, scatters on that stream write nothing.

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <unordered_map>
#include <vector>

#include "catenary/backends/gpu/driver.h"
#include "catenary/backends/gpu/kernel_key.h"
#include "catenary/device/range.h"

namespace catenary::gpu {

class RangeErrors {
 public:
  RangeErrors(Driver& driver, int device) : driver_(driver), device_(device) {}

  /// Adds two arguments for a kernel that checks: the record of the calling thread's stream, and the number of the
  /// range.
  void add_arguments(Args& args, const Range& range);
  /// Returns the record, for a kernel that does nothing after an error.
  void* record();
  /// Must be called after the launch. With CATENARY_SYNC, throws the error found.
  void launched();

  /// Throws the error found on a stream that the host has waited for.
  void raise(void* stream);
  /// Throws the error found on any stream.
  void raise();

 private:
  struct Record {
    void* memory = nullptr;
    std::atomic<bool> unread{false};  ///< whether a kernel may have written the record
  };
  Record& record_of(void* stream);
  std::uint32_t number_of(const Range& range);

  Driver& driver_;
  const int device_;
  std::mutex mutex_;
  std::unordered_map<void*, std::unique_ptr<Record>> records_;
  std::vector<std::unique_ptr<const Range>> ranges_;  // indexed by number, from 1
  std::unordered_map<KernelKey, std::uint32_t, KernelKey::Hash> numbers_;
};

}  // namespace catenary::gpu
