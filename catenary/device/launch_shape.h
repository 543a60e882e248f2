#pragma once
// The size of a kernel launch.

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>

#include "catenary/core/export.h"

namespace catenary {

/// The thread blocks of a launch and the work-items of each, along up to three axes, x first (CUDA's grid and block),
/// and the bytes of shared memory for each block in addition to the kernel's declarations (CUDA's dynamic shared
/// memory). On OpenCL, if the bytes are not 0, they are the kernel's last parameter, a pointer to __local memory.
struct LaunchShape {
  LaunchShape(std::int64_t groups, int group_size) : groups{groups, 1, 1}, group_size{group_size, 1, 1} {}
  LaunchShape(std::array<std::int64_t, 3> groups, std::array<int, 3> group_size, std::size_t local_bytes = 0)
      : groups(groups), group_size(group_size), local_bytes(local_bytes) {}

  std::array<std::int64_t, 3> groups;
  std::array<int, 3> group_size;
  std::size_t local_bytes = 0;

  /// Return the totals over all axes.
  std::int64_t group_count() const { return groups[0] * groups[1] * groups[2]; }
  int items_of_group() const { return group_size[0] * group_size[1] * group_size[2]; }
  /// Returns the number of axes with more than one work-item, at least 1.
  int ndim() const {
    const auto several = [&](std::size_t k) { return groups[k] != 1 || group_size[k] != 1; };
    return several(2) ? 3 : several(1) ? 2 : 1;
  }
  /// Returns a description: "6 groups of 64", "3 x 2 groups of 16 x 4, with 512 bytes each".
  CT_API std::string text() const;
};

}  // namespace catenary
