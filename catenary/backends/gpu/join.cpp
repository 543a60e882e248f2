// Joins arrays: one launch for as many parts as its arguments have room for, as in RunSegments.

#include <algorithm>
#include <numeric>
#include <vector>

#include "catenary/backends/gpu/codegen.h"
#include "catenary/backends/gpu/grid.h"
#include "catenary/backends/gpu/primitives.h"
#include "catenary/core/format.h"
#include "catenary/core/memory_order.h"

namespace catenary::gpu {

template <>
void compute(Context& context, const Copy& p);

namespace {

constexpr const char kText[] = "join";
constexpr std::size_t kParts = 32;  // maximum per launch
constexpr int kGroup = 256;
constexpr std::int64_t kBlock = 8192, kBlockOfGroup = 8 * kGroup;  // words per unit of work

/// A part of a result of `rows` rows of `stride` words: the words from `start` on in each row. The part is contiguous.
struct Part {
  void* handle;
  std::int64_t offset, run, start;
};

/// A unit of work is a block of one part. Part k has the units from first_k on.
std::string text(std::size_t count, Dtype word, bool wide, bool loops) {
  const std::int64_t block = loops ? kBlock : kBlockOfGroup;
  std::string parameters, which = "GLOBAL const MEM* x = x_0 + at_0;\nidx run = run_0, start = start_0, first = 0;\n";
  for (std::size_t k = 0; k < count; ++k) {
    parameters += fmt::format("GLOBAL const MEM* x_{0}, idx at_{0}, idx run_{0}, idx start_{0}, idx first_{0}, ", k);
    if (k > 0)
      which += fmt::format(
          "if (unit >= first_{0}) {{\nx = x_{0} + at_{0}; run = run_{0}; start = start_{0}; first = first_{0};\n}}\n",
          k);
  }
  const char* const move = loops ? "for (idx i = begin; i < end;) {\n"
                                   "const idx row = i / run, column = i % run;\n"
                                   "const idx n = run - column < end - i ? run - column : end - i;\n"
                                   "GLOBAL const MEM* RESTRICT from = x + i;\n"
                                   "GLOBAL MEM* RESTRICT to = out + out_at + row * stride + start + column;\n"
                                   "for (idx j = 0; j < n; ++j) to[j] = from[j];\n"
                                   "i += n;\n}\n"
                                 : "for (idx i = begin + LOCAL_ID; i < end; i += LOCAL_SIZE)\n"
                                   "out[out_at + i / run * stride + start + i % run] = x[i];\n";
  const char* const units =
      loops ? "for (idx unit = (idx)((i64)units * GROUP_ID / NUM_GROUPS), last = (idx)((i64)units * (GROUP_ID + 1) / "
              "NUM_GROUPS); unit < last; ++unit) {\n"
            : "for (idx unit = GROUP_ID; unit < units; unit += NUM_GROUPS) {\n";
  return fmt::format(
      "typedef {} idx;\ntypedef {} MEM;\n"
      "KERNEL REQD({}) join({}GLOBAL MEM* out, idx out_at, idx rows, idx stride, idx units) {{\n{}{}"
      "const idx begin = (unit - first) * {}, size = rows * run, end = size - begin < {} ? size : begin + "
      "{};\n{}}}\n}}\n",
      wide ? "i64" : "i32", memory_type(word), loops ? 1 : kGroup, parameters, units, which, block, block, block, move);
}

void launch(Context& context, const std::vector<Part>& parts, void* out, std::int64_t out_at, Dtype word,
            std::int64_t rows, std::int64_t stride) {
  const std::int64_t block = context.loops ? kBlock : kBlockOfGroup;
  for (std::size_t begin = 0, end; begin < parts.size(); begin = end) {
    std::int64_t largest = out_at + rows * stride + block;
    end = std::min(parts.size(), begin + kParts);
    while (end - begin > 1 && (end - begin) * 40 + 64 > context.info.argument_bytes) --end;
    for (std::size_t k = begin; k < end; ++k)
      largest = std::max(largest, parts[k].offset + rows * parts[k].run + block);
    const bool wide = needs_wide({largest});
    Args args;
    std::int64_t units = 0;
    for (std::size_t k = begin; k < end; ++k) {
      const Part& part = parts[k];
      args.add(part.handle).index(part.offset, wide).index(part.run, wide).index(part.start, wide).index(units, wide);
      units += ceil_div(rows * part.run, block);
    }
    args.add(out).index(out_at, wide).index(rows, wide).index(stride, wide).index(units, wide);
    KernelKey key(KernelKey::Kind::text);
    key.add(kText).add(end - begin).add(static_cast<std::uint64_t>(word)).add(wide);
    const std::size_t count = end - begin;
    const Kernel& kernel = context.generated(key, "join", [&] {
      return GeneratedText{text(count, word, wide, context.loops), "join"};
    });
    context.launch(kernel, groups_over(context, units), context.loops ? 1 : kGroup, args);
  }
}

}  // namespace

template <>
void compute(Context& context, const Join& p) {
  if (p.out.size() == 0) return;
  const int ndim = p.out.shape.size();
  const Strides* const of_out = &p.out.strides;
  const Axes order = memory_order(ndim, {&of_out, 1});
  const auto has_no_gaps = [&](const View& view) {
    const Strides dense = strides_in_order(view.shape, order);
    for (int axis = 0; axis < ndim; ++axis)
      if (view.shape[axis] != 1 && view.strides[axis] != dense[axis]) return false;
    return true;
  };
  std::int64_t rows = 1, beside = 1;  // sizes outside and inside the axis, in memory order
  for (bool outside = true; const std::int64_t axis : order) {
    if (axis == p.axis)
      outside = false;
    else
      (outside ? rows : beside) *= p.out.shape[static_cast<int>(axis)];
  }
  // Copy parts with gaps one by one, and all others together in the largest words that fit all of them.
  const auto size = static_cast<std::int64_t>(itemsize(p.out.dtype));
  const bool whole = has_no_gaps(p.out);
  std::vector<Part> together;
  std::int64_t bytes = std::gcd<std::int64_t>(8, p.out.offset * size), start = 0;
  for (const View& part : p.parts) {
    const std::int64_t run = part.shape[p.axis] * beside;
    if (whole && part.size() > 0 && has_no_gaps(part)) {
      together.push_back({part.handle, part.offset * size, run * size, start * beside * size});
      for (const std::int64_t n : {part.offset * size, run * size, start * beside * size}) bytes = std::gcd(bytes, n);
    } else if (part.size() > 0) {
      View to = p.out;
      to.shape = part.shape;
      to.offset += start * p.out.strides[p.axis];
      compute(context, Copy{to, part});
    }
    start += part.shape[p.axis];
  }
  const std::int64_t stride = start * beside * size;
  bytes = std::gcd(bytes, stride);
  for (Part& part : together) {
    part.offset /= bytes;
    part.run /= bytes;
    part.start /= bytes;
  }
  if (together.empty()) return;
  launch(context, together, p.out.handle, p.out.offset * size / bytes, word_of(bytes), rows, stride / bytes);
}

}  // namespace catenary::gpu
