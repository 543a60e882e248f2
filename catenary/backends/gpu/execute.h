#pragma once
// Fused programs on a GPU: elementwise and reductions. See Backend.

#include "catenary/backends/gpu/context.h"
#include "catenary/device/backend.h"

namespace catenary::gpu {

void run(Context& context, ops::Program& program);
void run_segments(Context& context, const ops::Program& program, const std::vector<Segment>& segments);
void reduce(Context& context, ops::Program& program, const ReduceSpec& spec);
/// to = from, cast; they may overlap.
void copy(Context& context, const View& to, const View& from);

}  // namespace catenary::gpu
