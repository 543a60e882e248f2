#pragma once
// Limits the memory of arrays in a part of a program, such as a model from an unknown source.

#include <cstddef>
#include <cstdint>
#include <string>

#include "catenary/core/export.h"

namespace catenary {

/// Limits the memory that the calling thread takes from all pools during the object's life. Returned blocks no longer
/// count. A request beyond `bytes` throws OutOfMemoryError, whose message names `subject`. Scopes may be nested: an
/// inner scope counts for the outer ones too.
class CT_API AllocationLimit {
 public:
  AllocationLimit(std::uint64_t bytes, std::string subject);
  ~AllocationLimit();
  AllocationLimit(const AllocationLimit&) = delete;
  AllocationLimit& operator=(const AllocationLimit&) = delete;

  /// Throws OutOfMemoryError if `bytes` more exceed a limit of the calling thread.
  static void check(std::uint64_t bytes);
  /// Counts bytes that were taken, or returned if negative.
  static void count(std::int64_t bytes) noexcept;

 private:
  const std::uint64_t limit_;
  const std::string subject_;
  std::int64_t used_ = 0;
  AllocationLimit* const outer_;
};

}  // namespace catenary
