#pragma once
// How the texts in kernels/ walk what they work on: `FOR_UNITS(i, n) { … }` takes each i < n once. On a GPU the
// work-items step over a grid; where kernels are plain loops (Context::loops, which defines LOOPS) each group has one
// work-item and takes a range.

#include <cstdint>
#include <initializer_list>

#include "catenary/backends/gpu/context.h"
#include "catenary/device/backend.h"

namespace catenary::gpu {

/// a / b, rounded up; both positive, or a zero.
inline std::int64_t ceil_div(std::int64_t a, std::int64_t b) { return (a + b - 1) / b; }

/// Whether a number among these needs more than 32 bits in a kernel's index type, `idx`.
bool needs_wide(std::initializer_list<std::int64_t> numbers);
/// Defines of idx, GROUP (for REQD), FOR_UNITS and perhaps LOOPS, followed by `more`.
Defines grid_defines(const Context& context, bool wide, const Defines& more = {});
/// A launch has no more groups; they take what is beyond in turn.
constexpr std::int64_t kMostGroups = std::int64_t{1} << 20;
/// How many work-items loop over so many units, where the device's kernels are loops.
std::int64_t loops_over(const Context& context, std::int64_t units);
/// How many groups take so many units, each a whole one at a time: a group is one work-item where kernels are loops.
std::int64_t groups_over(const Context& context, std::int64_t units);
/// Launches a kernel with these defines whose last argument, added here, is the number of units.
void launch_units(Context& context, const Kernel& kernel, std::int64_t units, bool wide, Args& args);
/// The same where a whole group of GROUP work-items takes a unit.
void launch_groups(Context& context, const Kernel& kernel, std::int64_t units, bool wide, Args& args);
/// Defines of MEM (an element in memory), T (in a register), LOAD and STORE. Throws DeviceError where the device lacks
/// the type.
Defines dtype_defines(const Context& context, Dtype dtype);

/// An unsigned integer of this many bytes, for elements that are only moved.
Dtype word_of(std::int64_t bytes);

}  // namespace catenary::gpu
