// Convolutions: as a product of matrices if possible, by a vendor's library (dnn/), or by our own kernels
// (kernels/convolution.kernel).

#include <algorithm>
#include <array>
#include <cstdlib>
#include <numeric>
#include <optional>

#include "catenary/backends/gpu/codegen.h"
#include "catenary/backends/gpu/dnn/provider.h"
#include "catenary/backends/gpu/grid.h"
#include "catenary/backends/gpu/micro.h"
#include "catenary/backends/gpu/own_computations.h"
#include "catenary/backends/gpu/primitives.h"
#include "catenary/core/config.h"

namespace catenary::gpu {

namespace {

using Axes = std::array<std::int64_t, 3>;

constexpr int kBlock = 64;
// Minimum rows of a result for a tile or a panel. With fewer, kernels compute single elements.
constexpr std::int64_t kLeastRows = 8, kLeastRowsOfPanel = 4;

/// Returns the last entries of a shape or strides, with `missing` for each absent axis.
template <class List>
Axes three_axes(const List& given, int skip, std::int64_t missing) {
  Axes all{missing, missing, missing};
  const int count = given.size() - skip;
  for (int axis = 0; axis < count; ++axis) all[static_cast<std::size_t>(3 - count + axis)] = given[skip + axis];
  return all;
}

/// An array as kernels see it: channels divided into groups and channels of a group, then three axes.
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

/// A convolution over three axes. `rows` are the result's channels per group (y's for the filter), `depth` the summed
/// channels (x's for the filter).
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
    // a launch needs buffers even if nothing is read
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
  /// Returns whether a kernel needs numbers beyond 32 bits.
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

Dtype type_of_sums(const Problem& p) { return p.out.view.dtype == Dtype::float64 ? Dtype::float64 : Dtype::float32; }

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
  const Dtype dtype = p.in.view.dtype;
  for (const auto& define : dtype_defines(context, dtype)) defines.push_back(define);
  defines.emplace_back("MADD(a, b, c)", dtype == Dtype::float64 ? "MAD_F64(a, b, c)" : "MAD_F32(a, b, c)");
  if (p.to_data) defines.emplace_back("TO_DATA", "");
  return defines;
}

OwnKernel direct(Context& context, const Problem& p) {
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
  return OwnKernel::convolution_direct;
}

/// w (+)= the sums of the parts.
void add_parts(Context& context, const Problem& p, const Scratch& partial, std::int64_t parts, bool wide) {
  Args args;
  args.add(partial.handle());
  add(args, p.w, wide);
  add(args, p.taps, wide);
  args.index(p.depth, wide).index(parts, wide).add(p.flags);
  launch_units(context, context.kernel("convolution", "add_parts", convolution_defines(context, p, wide, "ADD_PARTS")),
               p.w.view.size(), wide, args);
}

OwnKernel filter_direct(Context& context, const Problem& p) {
  // divide by shape only, so that sums do not depend on the device
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
  return OwnKernel::filter_direct;
}

/// The tiles of a work-group on cards.
struct Tile {
  Tile(const Context& context, Dtype dtype, std::int64_t rows, std::int64_t columns, std::int64_t copies) {
    // llvmpipe cannot keep 64 sums in registers
    if (context.is_llvmpipe || dtype == Dtype::float64) return;
    eight = true;
    if (rows <= 32) {
      m = 32;
      n = 128;
    } else if (copies * ceil_div(rows, 128) * ceil_div(columns, 128) >= context.info.compute_units) {
      m = n = 128;  // enough tiles for the whole device
    }
    items = static_cast<int>(m * n / 64);
  }
  void define(Defines& defines) const {
    if (eight) defines.emplace_back("EIGHT", "");
    defines.insert(defines.end(), {{"TILE_M", m}, {"TILE_N", n}, {"ITEMS", items}});
  }

  bool eight = false;  // 8 × 8 sums in each work-item, otherwise 4 × 4
  std::int64_t m = 64, n = 64;
  int items = 256;
};

/// The steps of an axis's elements through its phases (kernels/convolution.kernel).
struct Steps {
  explicit Steps(const Problem& p) {
    for (std::size_t axis = 0; axis < 3; ++axis) {
      const std::int64_t stride = p.stride[axis], extent = p.out.extents[axis];
      step[axis] = p.to_data ? stride / std::gcd(stride, p.dilate[axis]) : 1;
      move[axis] = p.to_data ? -(step[axis] * p.dilate[axis] / stride) : p.dilate[axis];
      jump[axis] = p.to_data ? 1 : stride;
      count[axis] = p.to_data ? ceil_div(extent, stride) : extent;
      phases[axis] = p.to_data ? std::min(stride, extent) : 1;
    }
  }

  Axes step, move, jump, count, phases;
};

/// Reorders the filter for the gathering kernels: for each group [rows, taps and depth] or, transposed, by columns.
/// Panels need the dtype `sums`.
void order_filter(Context& context, const Problem& p, const Steps& steps, const Scratch& ordered, bool wide) {
  const bool by_columns = !context.loops;
  Defines defines = convolution_defines(context, p, wide, "ORDER");
  if (context.loops) defines.emplace_back("WIDENED", "");
  Args args;
  add(args, p.w, wide);
  add(args, p.taps, wide);
  add(args, steps.step, wide);
  args.index(p.rows, wide).index(p.depth, wide).add(ordered.handle());
  args.index(by_columns ? 1 : p.taps_count() * p.depth, wide).index(by_columns ? p.rows : 1, wide);
  launch_units(context, context.kernel("convolution", "order_filter", defines), p.w.view.size(), wide, args);
}

/// Computes forward and to_data by tiles or panels.
OwnKernel gather(Context& context, const Problem& p) {
  const Steps steps(p);
  const Dtype sums = type_of_sums(p);
  const std::int64_t images = p.out.view.shape[0], pixels = images * steps.count[0] * steps.count[1] * steps.count[2];
  const std::int64_t copies = p.groups * steps.phases[0] * steps.phases[1] * steps.phases[2];
  const bool wide = p.wide() || needs_wide({pixels * 2});
  const Scratch ordered(context, std::max<std::int64_t>(1, p.w.view.size()) *
                                     static_cast<std::int64_t>(itemsize(context.loops ? sums : p.w.view.dtype)));
  order_filter(context, p, steps, ordered, wide);

  Defines defines = convolution_defines(context, p, wide, context.loops ? "PANELS" : "TILES");
  defines.emplace_back("RESULT", context.loops ? "T" : "MEM");
  if (context.loops) defines.emplace_back("WIDENED", "");
  Args args;
  add(args, p.in, wide);
  add(args, p.in.extents, wide);
  args.add(ordered.handle());
  add(args, p.out, wide);
  add(args, p.out.extents, wide);
  add_bias(args, p, wide);
  add_window(args, p, wide);
  for (const Axes* numbers : {&steps.step, &steps.move, &steps.jump, &steps.count, &steps.phases})
    add(args, *numbers, wide);
  args.index(images, wide).index(p.groups, wide).index(p.rows, wide).index(p.depth, wide).add(p.flags);
  args.index(pixels, wide);
  if (context.loops) {
    add_micro(defines, context, sums);
    const std::int64_t panels = ceil_div(pixels, micro_width()), units = copies * panels;
    args.index(panels, wide).index(units, wide);
    context.launch(context.kernel("convolution", "convolution_panels", defines, micro_text), units, 1, args);
    return OwnKernel::convolution_panels;
  }
  const Tile tile(context, sums, p.rows, pixels, copies);
  tile.define(defines);
  if (p.in.channel == 1 && p.depth > 1) defines.emplace_back("CHANNELS_LAST", "");
  if (p.depth % 8 == 0) defines.emplace_back("WHOLE", "");
  const std::int64_t tiles_m = ceil_div(p.rows, tile.m), tiles_n = ceil_div(pixels, tile.n);
  const std::int64_t units = copies * tiles_m * tiles_n;
  args.index(tiles_m, wide).index(tiles_n, wide).index(units, wide);
  context.launch(context.kernel("convolution", "convolution_tiles", defines), std::min(units, kMostGroups), tile.items,
                 args);
  return OwnKernel::convolution_tiles;
}

/// Returns a C-contiguous array in separate memory.
View own(const Scratch& memory, Dtype dtype, const Shape& shape) {
  return {memory.handle(), 0, dtype, shape, contiguous_strides(shape)};
}

/// Panels write float32 and float64, so a 16-bit result is computed in a buffer and converted.
OwnKernel gather_beside(Context& context, const Convolution& convolution) {
  const View& result = convolution.result();
  const Scratch memory(context, result.size() * 4);
  const View wider = own(memory, Dtype::float32, result.shape);
  if (convolution.accumulate) compute(context, Copy{wider, result});
  Problem p(convolution);
  p.out = Grid(wider, p.rows);
  const OwnKernel kernel = gather(context, p);
  compute(context, Copy{result, wider});
  return kernel;
}

/// Computes to_filter by tiles or panels.
OwnKernel filter(Context& context, const Problem& p) {
  const Dtype sums = type_of_sums(p);
  const std::int64_t elements = p.w.view.size(), columns = p.taps_count() * p.depth,
                     pixels = p.out.view.shape[0] * p.out.extents[0] * p.out.extents[1] * p.out.extents[2];
  const Tile tile(context, sums, p.rows, columns, p.groups);
  const std::int64_t across = context.loops ? micro_width() : tile.n;
  const std::int64_t tiles_m = context.loops ? 1 : ceil_div(p.rows, tile.m), tiles_n = ceil_div(columns, across);
  // enough parts for the whole device, without changing the order of sums
  const std::int64_t units = p.groups * tiles_m * tiles_n, wanted = context.loops ? 16 : 2 * context.info.compute_units;
  const std::int64_t length =
      std::max<std::int64_t>(512, ceil_div(ceil_div(pixels, ceil_div(wanted, units)), 256) * 256);
  const std::int64_t parts = ceil_div(pixels, length);
  const bool wide = p.wide() || needs_wide({parts * elements, pixels + length});
  const auto item = static_cast<std::int64_t>(itemsize(sums));
  const Scratch partial(context, std::max<std::int64_t>(1, parts * elements) * item);
  if (parts > 0) {
    Defines defines = convolution_defines(context, p, wide, context.loops ? "FILTER_PANELS" : "FILTER_TILES");
    Args args;
    add(args, p.in, wide);
    add(args, p.in.extents, wide);
    std::optional<Scratch> grads;
    if (context.loops) {
      // rows of pixels, over all images
      grads.emplace(context, p.out.view.size() * item);
      View y = p.out.view;
      std::swap(y.shape[0], y.shape[1]);
      std::swap(y.strides[0], y.strides[1]);
      compute(context, Copy{own(*grads, sums, y.shape), y});
      args.add(grads->handle());
    } else {
      add(args, p.out, wide);
    }
    add(args, p.out.extents, wide);
    args.add(partial.handle());
    add_window(args, p, wide);
    for (const std::int64_t number : {p.groups, p.rows, p.depth, pixels, length}) args.index(number, wide);
    if (!context.loops) args.index(tiles_m, wide);
    args.index(tiles_n, wide).index(units * parts, wide);
    if (context.loops) {
      add_micro(defines, context, sums);
      context.launch(context.kernel("convolution", "filter_panels", defines, micro_text), units * parts, 1, args);
    } else {
      tile.define(defines);
      context.launch(context.kernel("convolution", "filter_tiles", defines), std::min(units * parts, kMostGroups),
                     tile.items, args);
    }
  }
  add_parts(context, p, partial, parts, wide);
  return context.loops ? OwnKernel::filter_panels : OwnKernel::filter_tiles;
}

/// Merges the axes after the channels into one, or returns nothing if they have no common stride.
std::optional<View> with_one_axis(const View& v) {
  View one{v.handle, v.offset, v.dtype, {v.shape[0], v.shape[1], 1}, {v.strides[0], v.strides[1], 0}};
  for (int axis = v.shape.size() - 1; axis >= 2; --axis) {
    if (v.shape[axis] == 1) continue;
    if (one.shape[2] == 1)
      one.strides[2] = v.strides[axis];
    else if (v.strides[axis] != one.strides[2] * one.shape[2])
      return std::nullopt;
    one.shape[2] *= v.shape[axis];
  }
  return one;
}

/// Windows with one tap that meet each element once are a product of matrices for each image. Returns false for others.
bool multiply(Context& context, const Convolution& p) {
  const auto all = [](const Shape& shape, std::int64_t n) {
    return std::all_of(shape.begin(), shape.end(), [&](std::int64_t i) { return i == n; });
  };
  if (p.groups != 1 || p.relu || p.window.taps() != 1 || !all(p.window.stride, 1) || !all(p.window.pad, 0))
    return false;
  for (int axis = 2; axis < p.x.shape.size(); ++axis)
    if (p.x.shape[axis] != p.y.shape[axis]) return false;
  if (context.loops && is_16bit_float(p.x.dtype)) return false;  // panels do not support them
  const auto x = with_one_axis(p.x), y = with_one_axis(p.y);
  if (!x || !y) return false;
  const auto axes = [](const View& v, int a, int b, int c) {
    return View{
        v.handle, v.offset, v.dtype, {v.shape[a], v.shape[b], v.shape[c]}, {v.strides[a], v.strides[b], v.strides[c]}};
  };
  View w{p.w.handle, p.w.offset, p.w.dtype, {1, p.w.shape[0], p.w.shape[1]}, {0, p.w.strides[0], p.w.strides[1]}};
  if (p.pass == ConvolutionPass::to_filter) {
    // include the images in the sum
    const auto flat = [](View v) -> std::optional<View> {
      if (v.shape[0] != 1 && v.shape[2] != 1 && v.strides[0] != v.strides[2] * v.shape[2]) return std::nullopt;
      if (v.shape[2] == 1) v.strides[2] = v.strides[0];
      v.shape[2] *= v.shape[0];
      v.shape[0] = 1;
      return v;
    };
    const auto flat_x = flat(*x), flat_y = flat(*y);
    if (!flat_x || !flat_y) return false;
    compute(context, Matmul{*flat_y, axes(*flat_x, 0, 2, 1), w, nullptr, p.accumulate});
    return true;
  }
  w.shape[0] = x->shape[0];
  const bool forward = p.pass == ConvolutionPass::forward;
  compute(context, Matmul{axes(forward ? *x : *y, 0, 2, 1), forward ? axes(w, 0, 2, 1) : w,
                          axes(forward ? *y : *x, 0, 2, 1), p.bias, p.accumulate});
  return true;
}

}  // namespace

template <>
void compute(Context& context, const Convolution& convolution) {
  if (convolution.result().size() == 0) return;
  if (multiply(context, convolution)) {
    if (const Computation* const product = context.computations.last(ComputationKind::product))
      context.computations.note(ComputationKind::convolution, *product);
    return;
  }
  Libraries<ConvolutionSpec>& libraries = libraries_for<ConvolutionSpec>(context);
  const bool may = config.use_cudnn;
  const auto spec = may ? as_spec(convolution) : std::nullopt;
  if (spec)
    if (const std::string* library = libraries.run(*spec)) return context.submitted_by(*library);
  libraries.count_own();
  const Problem p(convolution);
  const bool small = p.rows < (context.loops ? kLeastRowsOfPanel : kLeastRows);
  const OwnKernel kernel = p.pass == ConvolutionPass::to_filter ? small ? filter_direct(context, p) : filter(context, p)
                           : small ? direct(context, p)
                           : context.loops && is_16bit_float(p.out.view.dtype) ? gather_beside(context, convolution)
                                                                               : gather(context, p);
  context.part<OwnComputations>().note(kernel, convolution.x.dtype, convolution.x.dtype,
                                       spec  ? OwnBecause::none_took_it
                                       : may ? OwnBecause::form
                                             : OwnBecause::switched_off);
}

}  // namespace catenary::gpu
