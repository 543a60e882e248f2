#pragma once
// How large a launch of a kernel is.

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>

#include "catenary/core/export.h"

namespace catenary {

/// The groups of a launch and the work-items of each, along up to three axes, x first (CUDA's grid and block), and the
/// bytes of memory that each group gets beside what the kernel declares (CUDA's dynamic shared memory; on OpenCL the
/// kernel's last parameter, a pointer to __local memory, where they are not 0).
struct LaunchShape {
  LaunchShape(std::int64_t groups, int group_size) : groups{groups, 1, 1}, group_size{group_size, 1, 1} {}
  LaunchShape(std::array<std::int64_t, 3> groups, std::array<int, 3> group_size, std::size_t local_bytes = 0)
      : groups(groups), group_size(group_size), local_bytes(local_bytes) {}

  std::array<std::int64_t, 3> groups;
  std::array<int, 3> group_size;
  std::size_t local_bytes = 0;

  /// Of all axes together.
  std::int64_t group_count() const { return groups[0] * groups[1] * groups[2]; }
  int items_of_group() const { return group_size[0] * group_size[1] * group_size[2]; }
  /// The axes along which there is more than one work-item; 1 where there is none.
  int ndim() const {
    const auto several = [&](std::size_t k) { return groups[k] != 1 || group_size[k] != 1; };
    return several(2) ? 3 : several(1) ? 2 : 1;
  }
  /// "6 groups of 64", "3 x 2 groups of 16 x 4, with 512 bytes each".
  CT_API std::string text() const;
};

}  // namespace catenary
