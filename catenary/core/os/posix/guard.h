#pragma once
// Private to core/os/posix: a process that kills other processes when the one it guards dies.

#include <sys/types.h>

#include <span>
#include <string>

#include "catenary/core/os/posix/detail.h"

namespace catenary::os {

/// A process group to kill.
struct Guarded {
  pid_t group;  ///< a process group
  int leader;   ///< a handle of its first process, or -1
};

/// Runs in a child of the guarded process, which is the only holder of the other end of the pipe `life`. When that end
/// closes, kills the groups and every process of this user with `mark` in its environment. A group whose first process
/// has already ended is killed only through the mark, because its number may have been reused. Does not return.
[[noreturn]] void guard(int life, std::span<const Guarded> groups, const std::string& mark);

}  // namespace catenary::os
