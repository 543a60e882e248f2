// Fused programs. A program runs block by block, so that its values stay in the first-level cache, and the blocks run
// on several threads.

#include <algorithm>
#include <atomic>
#include <vector>

#include "catenary/backends/cpu/primitives.h"
#include "catenary/backends/cpu/programs/plan.h"
#include "catenary/core/parallel.h"
#include "catenary/device/segment.h"

namespace catenary::cpu {

template <>
void compute(const Run& p) {
  ops::Program& program = p.program;
  ops::collapse(program);
  const Plan plan(program, -1);
  const std::int64_t size = program.shape.product(), step = plan.step();
  const std::int64_t blocks = (size + step - 1) / step;
  const std::int64_t grain = blocks > 1 ? plan.grain() : 1;
  parallel_for(blocks, grain, [&](std::int64_t begin, std::int64_t end) {
    char* registers = scratch(static_cast<std::size_t>(plan.registers()));
    plan.start(registers);
    for (std::int64_t b = begin; b < end; ++b) plan.block(b * step, std::min(step, size - b * step), registers, -1);
    plan.finish();
  });
}

namespace {

bool any(const void* bools, std::int64_t n) {
  std::uint8_t all = 0;
  for (std::int64_t i = 0; i < n; ++i) all |= static_cast<const std::uint8_t*>(bools)[i];
  return all != 0;
}

}  // namespace

/// The blocks of all segments are divided among the threads.
template <>
void compute(const RunSegments& p) {
  if (p.unless && static_cast<const bool*>(p.unless->handle)[p.unless->offset]) return;
  const std::vector<Segment>& segments = p.segments;
  const int wanted = p.flag ? p.flag->value : -1;
  std::atomic<bool> raised{false};
  std::vector<ops::Program> programs;
  programs.reserve(segments.size());
  std::vector<Plan> plans;
  plans.reserve(segments.size());
  std::vector<std::int64_t> first_block{0};
  for (const Segment& segment : segments) {
    plans.emplace_back(programs.emplace_back(program_over(p.program, segment)), wanted);
    first_block.push_back(first_block.back() + (segment.size + kBlock - 1) / kBlock);
  }
  parallel_for(first_block.back(), kGrain / kBlock, [&](std::int64_t begin, std::int64_t end) {
    std::size_t i = static_cast<std::size_t>(std::upper_bound(first_block.begin(), first_block.end(), begin) -
                                             first_block.begin()) -
                    1;
    for (std::int64_t b = begin; b < end; ++i) {
      char* registers = scratch(static_cast<std::size_t>(plans[i].registers()));
      plans[i].start(registers);
      for (; b < std::min(end, first_block[i + 1]); ++b) {
        const std::int64_t at = (b - first_block[i]) * kBlock;
        const std::int64_t n = std::min(kBlock, segments[i].size - at);
        const void* const values = plans[i].block(at, n, registers, wanted);
        if (values && any(values, n)) raised.store(true, std::memory_order_relaxed);
      }
      plans[i].finish();
    }
  });
  if (raised) static_cast<bool*>(p.flag->at.handle)[p.flag->at.offset] = true;
}

}  // namespace catenary::cpu
