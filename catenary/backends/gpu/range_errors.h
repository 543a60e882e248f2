#pragma once
// Values that are out of range, found by kernels while nobody waits. Each stream has a record in the device's memory,
// into which the first kernel that finds one writes it; the host reads it after it has waited for the stream anyway,
// and throws. Until then scatters on that stream write nothing.

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

  /// Two arguments of a kernel that checks: the record of the calling thread's stream, and the number of the range.
  void add_arguments(Args& args, const Range& range);
  /// The record alone, for a kernel that does nothing after an error.
  void* record();
  /// After the launch. With CATENARY_SYNC throws what it found.
  void launched();

  /// Throws what was found on a stream, which the host has waited for.
  void raise(void* stream);
  /// The same for all streams.
  void raise();

 private:
  struct Record {
    void* memory = nullptr;
    std::atomic<bool> unread{false};  ///< has a kernel been launched that may have written it?
  };
  Record& record_of(void* stream);
  std::uint32_t number_of(const Range& range);

  Driver& driver_;
  const int device_;
  std::mutex mutex_;
  std::unordered_map<void*, std::unique_ptr<Record>> records_;
  std::vector<std::unique_ptr<const Range>> ranges_;  // by number, from 1
  std::unordered_map<KernelKey, std::uint32_t, KernelKey::Hash> numbers_;
};

}  // namespace catenary::gpu
