#pragma once
// Loops of the texts in kernels/: `FOR_UNITS(i, n) { … }` visits each i < n once. On a GPU, work-items iterate over a
// grid. With kernels as plain loops (Context::loops, which defines LOOPS), each group has one work-item, which takes a
// range.

#include <cstdint>
#include <initializer_list>

#include "catenary/backends/gpu/context.h"
#include "catenary/device/backend.h"

namespace catenary::gpu {

/// Returns a / b rounded up, for a >= 0 and b > 0.
inline std::int64_t ceil_div(std::int64_t a, std::int64_t b) { return (a + b - 1) / b; }

/// Returns whether one of these numbers needs more than 32 bits in a kernel's index type, `idx`.
bool needs_wide(std::initializer_list<std::int64_t> numbers);
/// Defines idx, GROUP (for REQD), FOR_UNITS and LOOPS if needed, followed by `more`.
Defines grid_defines(const Context& context, bool wide, const Defines& more = {});
/// Maximum number of groups in a launch. Groups loop over the units beyond it.
constexpr std::int64_t kMostGroups = std::int64_t{1} << 20;
/// Returns the number of work-items for so many units on a device whose kernels are loops.
std::int64_t loops_over(const Context& context, std::int64_t units);
/// Returns the number of work-groups for so many units, one unit per group at a time. With kernels as loops, a group is
/// one work-item.
std::int64_t groups_over(const Context& context, std::int64_t units);
/// Launches a kernel with these defines. Appends the number of units as its last argument.
void launch_units(Context& context, const Kernel& kernel, std::int64_t units, bool wide, Args& args);
/// Launches a kernel in which a whole group of GROUP work-items handles a unit.
void launch_groups(Context& context, const Kernel& kernel, std::int64_t units, bool wide, Args& args);
/// Defines MEM (an element in memory), T (in a register), LOAD and STORE. Throws DeviceError if the device lacks the
/// type.
Defines dtype_defines(const Context& context, Dtype dtype);

/// Returns the unsigned integer dtype of this size, for elements that are only moved.
Dtype word_of(std::int64_t bytes);

}  // namespace catenary::gpu
