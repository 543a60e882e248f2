#include <algorithm>

#include "catenary/backends/gpu/primitives.h"

namespace catenary::gpu {

template <>
void compute(Context& context, const RandomBits& p) {
  const auto& [seed, call, out] = p;
  const std::int64_t n = out.size();
  const int group = context.loops ? 1 : 256, lanes = context.loops ? 16 : 1;
  const Kernel& kernel = context.kernel("random", "philox", {{"GROUP", group}, {"LANES", lanes}});
  const std::int64_t units = (n + 4 * lanes - 1) / (4 * lanes);
  Args args;
  args.add(out.handle).add(out.offset).add(n).add(seed).add(call);
  context.launch(kernel, std::min(context.groups_for(units, group), units), group, args);
}

}  // namespace catenary::gpu
