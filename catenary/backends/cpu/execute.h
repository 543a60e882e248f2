#pragma once
// Private: fused programs on the CPU. A program runs block by block, so that its values stay in the first-level cache,
// and the blocks run on several threads.

#include "catenary/device/backend.h"

namespace catenary::cpu {

/// Runs all nodes and stores of the program.
void run(ops::Program& program);
/// Runs the program once for each segment, all blocks of all segments sharing the threads.
void run_segments(const ops::Program& program, const std::vector<Segment>& segments);
/// Runs the program and reduces one of its nodes. The order of a reduction depends on the shape only.
void reduce(ops::Program& program, const ReduceSpec& spec);

}  // namespace catenary::cpu
