// Convolutions by our own kernels (kernels/convolution.kernel).

#include <algorithm>
#include <array>
#include <cstdlib>

#include "catenary/backends/gpu/codegen.h"
#include "catenary/backends/gpu/grid.h"
#include "catenary/backends/gpu/primitives.h"

namespace catenary::gpu {

namespace {

using Axes = std::array<std::int64_t, 3>;

constexpr int kBlock = 64;

/// The last entries of a shape or of strides, with `missing` for each axis that it lacks.
template <class List>
Axes three_axes(const List& given, int skip, std::int64_t missing) {
  Axes all{missing, missing, missing};
  const int count = given.size() - skip;
  for (int axis = 0; axis < count; ++axis) all[static_cast<std::size_t>(3 - count + axis)] = given[skip + axis];
  return all;
}

/// An array as kernels see it: three axes behind its channels, which are groups and channels of a group.
struct Grid {
  Grid(const View& v, std::int64_t channels_of_a_group)
      : view(v),
        n(v.strides[0]),
        group(v.strides[1] * channels_of_a_group),
        channel(v.strides[1]),
        strides(three_axes(v.strides, 2, 0)),
        extents(three_axes(v.shape, 2, 1)) {}

  View view;
  std::int64_t n, group, channel;
  Axes strides, extents;
};

/// A convolution over three axes. `rows` are the result's channels of a group (y's for the filter), `depth` those that
/// are summed (x's for the filter).
struct Problem {
  explicit Problem(const Convolution& p)
      : pass(p.pass),
        to_data(p.pass == ConvolutionPass::to_data),
        groups(p.groups),
        rows(to_data ? p.w.shape[1] : p.w.shape[0] / p.groups),
        depth(to_data ? p.w.shape[0] / p.groups : p.w.shape[1]),
        in(to_data ? p.y : p.x, depth),
        out(to_data ? p.x : p.y, rows),
        w(p.w, rows),
        taps(three_axes(p.window.size, 0, 1)),
        stride(three_axes(p.window.stride, 0, 1)),
        pad(three_axes(p.window.pad, 0, 0)),
        dilate(three_axes(p.window.dilate, 0, 1)) {
    // the filter as [rows, groups, depth, taps…]
    w.group = p.w.strides[0] * (p.w.shape[0] / p.groups);
    if (to_data) std::swap(w.n, w.channel);
    if (p.bias) bias = *p.bias;
    flags = (p.accumulate ? 1 : 0) | (p.bias ? 2 : 0) | (p.relu ? 4 : 0);
    // a launch wants buffers, also where nothing is read
    for (View* v : {&in.view, &w.view, &out.view, &bias})
      if (!v->handle) *v = {p.result().handle, 0, p.result().dtype, v->shape, v->strides};
  }

  ConvolutionPass pass;
  bool to_data;
  std::int64_t groups, rows, depth;
  Grid in, out, w;
  Axes taps, stride, pad, dilate;
  View bias;
  int flags = 0;

  std::int64_t taps_count() const { return taps[0] * taps[1] * taps[2]; }
  /// Does a kernel reckon with numbers beyond 32 bits?
  bool wide() const {
    bool result = false;
    for (const Grid* grid : {&in, &out, &w}) {
      std::int64_t reach = grid->view.offset;
      for (int axis = 0; axis < grid->view.shape.size(); ++axis)
        reach += grid->view.shape[axis] * std::abs(grid->view.strides[axis]);
      result = result || needs_wide({reach, grid->view.size()});
    }
    for (std::size_t axis = 0; axis < 3; ++axis)
      result = result || needs_wide({(std::max(in.extents[axis], out.extents[axis]) + pad[axis]) * stride[axis] +
                                     taps[axis] * dilate[axis]});
    return result;
  }
};

void add(Args& args, const Axes& numbers, bool wide) {
  for (const std::int64_t number : numbers) args.index(number, wide);
}

void add(Args& args, const Grid& grid, bool wide) {
  args.add(grid.view.handle).index(grid.view.offset, wide);
  args.index(grid.n, wide).index(grid.group, wide).index(grid.channel, wide);
  add(args, grid.strides, wide);
}

void add_window(Args& args, const Problem& p, bool wide) {
  for (const Axes* numbers : {&p.taps, &p.stride, &p.pad, &p.dilate}) add(args, *numbers, wide);
}

void add_bias(Args& args, const Problem& p, bool wide) {
  args.add(p.bias.handle).index(p.bias.offset, wide).index(p.bias.strides.empty() ? 0 : p.bias.strides[0], wide);
}

Defines convolution_defines(const Context& context, const Problem& p, bool wide, const char* form) {
  Defines defines = grid_defines(context, wide, {{form, ""}});
  const Dtype dtype = p.out.view.dtype;
  for (const auto& define : dtype_defines(context, dtype)) defines.push_back(define);
  defines.emplace_back("MADD(a, b, c)", dtype == Dtype::float64 ? "MAD_F64(a, b, c)" : "MAD_F32(a, b, c)");
  if (p.to_data) defines.emplace_back("TO_DATA", "");
  return defines;
}

void direct(Context& context, const Problem& p) {
  const bool wide = p.wide();
  Defines defines = convolution_defines(context, p, wide, "DIRECT");
  defines.emplace_back("BLOCK", kBlock);
  Args args;
  add(args, p.in, wide);
  add(args, p.in.extents, wide);
  add(args, p.w, wide);
  add(args, p.out, wide);
  add(args, p.out.extents, wide);
  add_bias(args, p, wide);
  add_window(args, p, wide);
  args.index(p.groups, wide).index(p.rows, wide).index(p.depth, wide).add(p.flags);
  const std::int64_t last = std::max<std::int64_t>(1, p.out.extents[2]);
  const std::int64_t units = p.out.view.size() / last * ceil_div(last, context.loops ? kBlock : 1);
  launch_units(context, context.kernel("convolution", "convolution_direct", defines), units, wide, args);
}

/// w (+)= the sums of its parts.
void add_parts(Context& context, const Problem& p, const Scratch& partial, std::int64_t parts, bool wide) {
  Args args;
  args.add(partial.handle());
  add(args, p.w, wide);
  add(args, p.taps, wide);
  args.index(p.rows, wide).index(p.depth, wide).index(parts, wide).add(p.flags);
  launch_units(context, context.kernel("convolution", "add_parts", convolution_defines(context, p, wide, "ADD_PARTS")),
               p.w.view.size(), wide, args);
}

void filter_direct(Context& context, const Problem& p) {
  // cut by shape, so that each element is the same sum whatever runs it
  const std::int64_t elements = p.w.view.size(), lines = p.out.view.shape[0] * p.out.extents[0] * p.out.extents[1];
  const std::int64_t length = std::max<std::int64_t>(8, ceil_div(lines * elements, 1 << 16));
  const std::int64_t parts = ceil_div(lines, length);
  const bool wide = p.wide() || needs_wide({parts * elements, lines + length});
  const Dtype sums = is_16bit_float(p.w.view.dtype) ? Dtype::float32 : p.w.view.dtype;
  const Scratch partial(context,
                        std::max<std::int64_t>(1, parts * elements) * static_cast<std::int64_t>(itemsize(sums)));
  if (parts > 0) {
    Args args;
    add(args, p.in, wide);
    add(args, p.in.extents, wide);
    add(args, p.out, wide);
    add(args, p.out.extents, wide);
    args.add(partial.handle());
    add_window(args, p, wide);
    for (const std::int64_t number : {p.groups, p.rows, p.depth, lines, length}) args.index(number, wide);
    launch_units(context,
                 context.kernel("convolution", "filter_direct", convolution_defines(context, p, wide, "FILTER_DIRECT")),
                 parts * elements, wide, args);
  }
  add_parts(context, p, partial, parts, wide);
}

}  // namespace

template <>
void compute(Context& context, const Convolution& convolution) {
  if (convolution.result().size() == 0) return;
  const Problem p(convolution);
  if (p.pass == ConvolutionPass::to_filter) return filter_direct(context, p);
  direct(context, p);
}

}  // namespace catenary::gpu
