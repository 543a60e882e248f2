#include "catenary/device/allocation_limit.h"

#include <algorithm>
#include <utility>

#include "catenary/core/format.h"
#include "catenary/device/pool.h"

namespace catenary {

namespace {
thread_local AllocationLimit* innermost_limit = nullptr;
}

AllocationLimit::AllocationLimit(std::uint64_t bytes, std::string subject)
    : limit_(bytes), subject_(std::move(subject)), outer_(std::exchange(innermost_limit, this)) {}

AllocationLimit::~AllocationLimit() { innermost_limit = outer_; }

void AllocationLimit::check(std::uint64_t bytes) {
  for (const AllocationLimit* scope = innermost_limit; scope; scope = scope->outer_)
    if (const auto used = static_cast<std::uint64_t>(scope->used_);
        bytes > scope->limit_ || used > scope->limit_ - bytes)
      fail<OutOfMemoryError>("{} bytes are needed, but {} may use at most {} bytes, of which {} are in use", bytes,
                             scope->subject_, scope->limit_, used);
}

void AllocationLimit::count(std::int64_t bytes) noexcept {
  // blocks from before the scope may be returned in it
  for (AllocationLimit* scope = innermost_limit; scope; scope = scope->outer_)
    scope->used_ = std::max<std::int64_t>(scope->used_ + bytes, 0);
}

}  // namespace catenary
