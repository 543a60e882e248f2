#include "catenary/backends/gpu/grid.h"

#include <algorithm>

#include "catenary/backends/gpu/codegen.h"
#include "catenary/core/error.h"
#include "catenary/core/format.h"

namespace catenary::gpu {

namespace {

constexpr int kGroup = 256;
// Below 2^31 by more than a grid's work-items, because a loop's index exceeds its end by up to one grid.
constexpr std::int64_t kNarrow = (std::int64_t{1} << 31) - (std::int64_t{1} << 25);

}  // namespace

bool needs_wide(std::initializer_list<std::int64_t> numbers) {
  return std::any_of(numbers.begin(), numbers.end(), [](std::int64_t n) { return n >= kNarrow || n <= -kNarrow; });
}

Defines grid_defines(const Context& context, bool wide, const Defines& more) {
  Defines defines{{"idx", wide ? "i64" : "i32"}};
  if (context.loops) defines.emplace_back("LOOPS", "");
  defines.emplace_back("GROUP", context.loops ? 1 : kGroup);
  defines.emplace_back("FOR_UNITS(i, n)", kernels::for_units(context.loops));
  defines.emplace_back("SEGMENT", context.loops ? 512 : 1);
  defines.emplace_back("FOR_SEGMENTS(line, from, to, columns, n)", kernels::for_segments(context.loops));
  defines.insert(defines.end(), more.begin(), more.end());
  return defines;
}

std::int64_t loops_over(const Context& context, std::int64_t units) {
  return std::min<std::int64_t>(units, context.info.compute_units * 4);
}

std::int64_t groups_over(const Context& context, std::int64_t units) {
  return context.loops ? loops_over(context, units) : std::min(units, kMostGroups);
}

void launch_units(Context& context, const Kernel& kernel, std::int64_t units, bool wide, Args& args) {
  args.index(units, wide);
  if (context.loops) {
    context.launch(kernel, loops_over(context, units), 1, args);
  } else {
    context.launch(kernel, context.groups_for(units, kGroup), kGroup, args);
  }
}

void launch_groups(Context& context, const Kernel& kernel, std::int64_t units, bool wide, Args& args) {
  if (context.loops) return launch_units(context, kernel, units, wide, args);
  args.index(units, wide);
  context.launch(kernel, context.groups_for(units * kGroup, kGroup), kGroup, args);
}

Defines dtype_defines(const Context& context, Dtype dtype) {
  context.check_dtype(dtype, "a kernel");
  return {{"MEM", memory_type(dtype)},
          {"T", register_type(ops::register_of(dtype))},
          {"LOAD", "LOAD_", dtype_name(dtype)},
          {"STORE", "STORE_", dtype_name(dtype)}};
}

Dtype word_of(std::int64_t bytes) {
  return bytes == 1   ? Dtype::uint8
         : bytes == 2 ? Dtype::uint16
         : bytes == 4 ? Dtype::uint32
         : bytes == 8 ? Dtype::uint64
                      : Dtype::complex128;
}

}  // namespace catenary::gpu
