#pragma once
// Private to core/os: a process that ends others when the one beside it dies.

#include <sys/types.h>

#include <span>
#include <string>

#include "catenary/core/os/detail.h"

namespace catenary::os {

/// What is to be killed.
struct Guarded {
  pid_t group;  ///< a process group
  int leader;   ///< a handle of its first process, or -1
};

/// Runs in a child of the process that it guards, which alone holds the other end of the pipe `life`. Once that is
/// closed, kills the groups and every process of this user with `mark` in its environment; a group whose first process
/// had ended before goes by the mark alone, as its number may belong to others by now. Does not return.
[[noreturn]] void guard(int life, std::span<const Guarded> groups, const std::string& mark);

}  // namespace catenary::os
