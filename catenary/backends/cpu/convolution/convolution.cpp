// Convolutions on the CPU: each pass becomes products of matrices that convolution_kernel.simd.cpp gathers on the fly.

#include <algorithm>
#include <array>
#include <cstdint>
#include <numeric>
#include <type_traits>
#include <utility>
#include <vector>

#include "catenary/backends/cpu/computations.h"
#include "catenary/backends/cpu/convolution/convolution_half.h"
#include "catenary/backends/cpu/convolution/convolution_kernel.h"
#include "catenary/backends/cpu/convolution/winograd.h"
#include "catenary/backends/cpu/gemm/gemm.h"
#include "catenary/backends/cpu/movement/copy.h"
#include "catenary/backends/cpu/primitives.h"
#include "catenary/backends/cpu/scratch.h"
#include "catenary/core/parallel.h"

namespace catenary::cpu {
namespace {

using std::int64_t;

thread_local KeptScratch panels;           // gathered panels
thread_local KeptScratch filters;          // a filter, packed or reordered
thread_local KeptScratch ordered_filters;  // a reordered filter before packing
thread_local KeptScratch copies_of[2];     // copies of x and y

constexpr int64_t ceil_div(int64_t a, int64_t b) { return (a + b - 1) / b; }

const ConvolutionLevel<float>& level(float) { return CT_SIMD_SELECT(convolution_float); }
const ConvolutionLevel<double>& level(double) { return CT_SIMD_SELECT(convolution_double); }

#if defined(__x86_64__) && !defined(CT_SIMD_NO_V4)
const ConvolutionLevel<bfloat16>& level(bfloat16) { return simd_v4::convolution_bfloat16_amx; }
#endif

// Whether there are kernels without panels.
template <class T>
constexpr bool kHasDirect = !std::is_same_v<T, bfloat16>;

/// Returns the axes of x or y from the innermost: channels first, or the last axis of the image.
Axes inwards(int ndim, bool channels_last) {
  Axes order;
  if (channels_last) order.push_back(1);
  for (int axis = ndim - 1; axis >= 2; --axis) order.push_back(axis);
  if (!channels_last) order.push_back(1);
  order.push_back(0);
  return order;
}

/// Returns strides in which axes of size 1 have the stride of a contiguous array.
Strides meaningful(const View& v, const Axes& order) {
  Strides strides = v.strides;
  int64_t next = 1;
  for (const int64_t entry : order) {
    const int axis = static_cast<int>(entry);
    if (v.shape[axis] == 1) strides[axis] = next;
    next = strides[axis] * v.shape[axis];
  }
  return strides;
}

/// Returns whether channels (or else pixels) are contiguous.
bool lies(const View& v, bool channels_last) {
  const Axes order = inwards(v.shape.size(), channels_last);
  return meaningful(v, order)[static_cast<int>(order[0])] == 1;
}

/// Chooses the layout for x and y: their common layout, otherwise y's, unless vectors of channels would be inefficient.
bool takes_channels_last(const Convolution& p) {
  const int64_t inputs = p.w.shape[1], outputs = p.y.shape[1] / p.groups;
  const bool depthwise = inputs == 1 && outputs == 1 && p.groups > 1;
  // With so few channels, vectors would be mostly empty.
  if (p.pass != ConvolutionPass::to_filter && !depthwise &&
      (p.pass == ConvolutionPass::forward ? outputs : inputs) <= 4)
    return false;
  for (const bool last : {true, false})
    if (lies(p.x, last) && lies(p.y, last)) return last;
  return lies(p.y, true);
}

/// An operand in a layout that the kernels accept: the operand itself, or a copy in `memory`.
template <class T>
class Operand {
 public:
  /// `dense`: windows must be contiguous over all axes of the image and, with channels last, over the images.
  Operand(const View& v, bool channels_last, bool dense, bool read, KeptScratch& memory) : of_(v) {
    const Axes order = inwards(v.shape.size(), channels_last);
    strides = meaningful(v, order);
    bool fits = strides[static_cast<int>(order[0])] == 1;
    if (dense) {
      for (int axis = v.shape.size() - 1; axis > 2; --axis)
        fits = fits && strides[axis - 1] == strides[axis] * v.shape[axis];
      if (channels_last) fits = fits && strides[0] == strides[2] * v.shape[2];
    }
    if (fits) {
      data = static_cast<T*>(v.data());
      return;
    }
    int64_t next = 1;
    for (const int64_t axis : order) strides[static_cast<int>(axis)] = next, next *= v.shape[static_cast<int>(axis)];
    data = memory.get<T>(next);
    copied_ = true;
    if (read) strided_copy({data, dtype_of<T>, v.shape, strides}, strided(v));
  }
  /// Copies the results back if the operand is a copy.
  void finish() const {
    if (copied_) strided_copy(strided(of_), {data, dtype_of<T>, of_.shape, strides});
  }

  T* data;
  Strides strides;

 private:
  const View& of_;
  bool copied_ = false;
};

/// The filters of all groups as used in a forward pass, with the taps of three axes.
template <class T>
struct Filter {
  T* data;
  int64_t group, output, input;
  std::array<int64_t, 3> tap;

  /// Returns the filters as an array [groups, outputs, inputs, taps of three axes].
  StridedView view(const ConvolutionArgs<T>& g, int64_t groups) const {
    return {data,
            dtype_of<T>,
            {groups, g.outputs, g.inputs, g.axes[0].taps, g.axes[1].taps, g.axes[2].taps},
            {group, output, input, tap[0], tap[1], tap[2]}};
  }

  /// Returns the filters with contiguous inputs, or contiguous outputs: themselves, or a copy
  /// [groups][others][taps][these].
  Filter in_order(const ConvolutionArgs<T>& g, int64_t groups, bool outputs_last) const {
    const int64_t count = outputs_last ? g.outputs : g.inputs;
    if ((outputs_last ? output : input) == 1 || count == 1) return *this;
    Filter f = *this;
    f.tap = {g.axes[1].taps * g.axes[2].taps * count, g.axes[2].taps * count, count};
    (outputs_last ? f.output : f.input) = 1;
    (outputs_last ? f.input : f.output) = g.taps() * count;
    f.group = g.outputs * g.inputs * g.taps();
    f.data = ordered_filters.get<T>(groups * f.group);
    strided_copy(f.view(g, groups), view(g, groups));
    return f;
  }
};

/// Data shared by all passes: the arguments of the first group, and the distances between groups.
template <class T>
struct Problem {
  ConvolutionArgs<T> args;
  Filter<T> filter;
  int64_t groups;
  int64_t x_group, y_group;
};

/// Divides a product into parts for the threads and calls f(group, part).
template <class T, class F>
void each_part(const Problem<T>& p, int64_t m, int64_t n, int64_t k, int64_t depths, const F& f) {
  const GemmTiling tiling = level(T{}).tiling;
  const int64_t rows = ceil_div(m, tiling.mr), columns = ceil_div(n, tiling.nr), groups = p.groups * depths;
  const double work = static_cast<double>(m * n) * static_cast<double>(p.groups * k);
  const auto threads = static_cast<int64_t>(std::clamp(work / 2e5, 1.0, static_cast<double>(num_threads())));
  const GemmGrid grid(rows, columns, tiling, ceil_div(threads, groups));
  const int64_t parts = grid.tm * grid.tn;
  parallel_for(groups * parts, threads == 1 ? groups * parts : 1, [&](int64_t begin, int64_t end) {
    for (int64_t t = begin; t < end; ++t) {
      const int64_t group = t / parts / depths, depth = t / parts % depths, i = t % parts / grid.tn, j = t % grid.tn;
      f(group, depth,
        ProductPart{rows * i / grid.tm * tiling.mr, std::min(m, rows * (i + 1) / grid.tm * tiling.mr),
                    columns * j / grid.tn * tiling.nr, std::min(n, columns * (j + 1) / grid.tn * tiling.nr),
                    k * depth / depths, k * (depth + 1) / depths});
    }
  });
}

/// Returns the arguments of one group.
template <class T>
ConvolutionArgs<T> of_group(const Problem<T>& p, int64_t group) {
  ConvolutionArgs<T> g = p.args;
  g.x += group * p.x_group;
  if (g.wide_y) {
    g.wide_y += group * p.y_group;
  } else {
    g.y += group * p.y_group;
  }
  if (g.bias) g.bias += group * g.outputs;
  return g;
}

template <class T>
T* thread_panels() {
  return panels.get<T>(level(T{}).scratch(gemm_cache()));
}

const DirectLevel<float>& direct_level(float) { return CT_SIMD_SELECT(direct_float); }
const DirectLevel<double>& direct_level(double) { return CT_SIMD_SELECT(direct_double); }

template <class T>
bool is_depthwise(const Problem<T>& p) {
  return p.groups > 1 && p.args.inputs == 1 && p.args.outputs == 1;
}

/// Returns whether the filter is packed with contiguous channels.
template <class T>
bool takes_order(const Problem<T>& p) {
  return p.args.channels_last && !(kHasDirect<T> && is_depthwise(p));
}

/// Returns whether there are so few channels that packing would cost as much as the product.
template <class T>
bool is_direct(const ConvolutionArgs<T>& g) {
  return !g.channels_last && (g.inputs <= 4 || g.outputs <= 4) &&
         direct_level(T{}).scratch(g, gemm_cache()) * static_cast<int64_t>(sizeof(T)) <= gemm_cache() * 3 / 4;
}

/// Forward, depthwise, with contiguous channels.
template <class T>
void depthwise(const Problem<T>& p) {
  const ConvolutionArgs<T>& g = p.args;
  const int64_t channels = p.groups;
  const int64_t t2 = g.axes[2].taps * channels, t1 = g.axes[1].taps * t2;
  T* const w = filters.get<T>(channels * g.taps());
  const StridedView from = p.filter.view(g, channels);
  strided_copy({w, dtype_of<T>, from.shape, {1, 0, 0, t1, t2, channels}}, from);
  const DirectLevel<T>& kernels = direct_level(T{});
  const int64_t chunks = ceil_div(channels, kernels.chunk);
  parallel_for(g.images * chunks, 1 + 32768 / (g.windows() * kernels.chunk), [&](int64_t begin, int64_t end) {
    T* const memory = panels.get<T>(kernels.scratch_last(g, gemm_cache()));
    for (int64_t i = begin; i < end; ++i)
      kernels.forward_last(g, channels, w, i / chunks, i % chunks * kernels.chunk, gemm_cache(), memory);
  });
}

/// Forward with few channels and contiguous pixels. Rows of the filter are as in forward().
template <class T>
void direct(const Problem<T>& p, const T* w, int64_t w_row, int64_t w_group) {
  const DirectLevel<T>& kernels = direct_level(T{});
  const ConvolutionArgs<T>& g = p.args;
  const int64_t images = g.images * p.groups;
  // Each part reads the image again.
  const int64_t parts = std::clamp<int64_t>(4 * num_threads() / images, 1, ceil_div(g.outputs, 6));
  const int64_t part = ceil_div(ceil_div(g.outputs, parts), 6) * 6;
  const int64_t work = g.windows() * std::min(part, g.outputs) * (1 + g.inputs * g.taps() / 8);
  parallel_for(images * parts, 1 + 32768 / work, [&](int64_t begin, int64_t end) {
    T* const memory = panels.get<T>(kernels.scratch(g, gemm_cache()));
    for (int64_t i = begin; i < end; ++i) {
      const int64_t image = i / parts / p.groups, group = i / parts % p.groups, first = i % parts * part;
      kernels.forward_first(of_group(p, group), w + group * w_group, w_row, image, first,
                            std::min(g.outputs, first + part), gemm_cache(), memory);
    }
  });
}

template <class T>
Way forward(const Problem<T>& p) {
  const ConvolutionLevel<T>& kernels = level(T{});
  const ConvolutionArgs<T>& g = p.args;
  const Filter<T> filter = takes_order(p) ? p.filter.in_order(g, p.groups, false) : p.filter;
  const int64_t depth = g.inputs * g.taps(), windows = g.images * g.windows();
  if (windows == 0 || g.outputs == 0) return Way::gathered_panels;
  if constexpr (kHasDirect<T>) {
    if (g.channels_last && is_depthwise(p)) {
      depthwise(p);
      return Way::depthwise;
    }
  }
  const T* w = nullptr;
  int64_t w_row = depth, w_group = 0;
  if (g.channels_last) {
    const int64_t count = ceil_div(g.outputs, kernels.tiling.nr), nr = kernels.tiling.nr;
    w_group = count * nr * (ceil_div(depth, kernels.depth_step) * kernels.depth_step);
    T* const packed = filters.get<T>(p.groups * w_group);
    std::vector<int64_t> taps;
    for (int64_t i = 0; i < g.axes[0].taps; ++i)
      for (int64_t j = 0; j < g.axes[1].taps; ++j)
        for (int64_t k = 0; k < g.axes[2].taps; ++k)
          taps.push_back(i * filter.tap[0] + j * filter.tap[1] + k * filter.tap[2]);
    parallel_for(p.groups * count, 1 + 16384 / (nr * depth + 1), [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        const int64_t group = i / count;
        kernels.pack_filter(g, filter.data + group * filter.group, filter.output, taps.data(), i % count,
                            packed + group * w_group);
      }
    });
    w = packed;
  } else {
    const int64_t t2 = g.axes[2].taps, t1 = g.axes[1].taps * t2, t0 = g.taps();
    const bool rows = is_contiguous({g.inputs, g.axes[0].taps, g.axes[1].taps, t2},
                                    {filter.input, filter.tap[0], filter.tap[1], filter.tap[2]});
    if (rows && filter.output * static_cast<int64_t>(sizeof(T)) % 4096 != 0) {
      w = filter.data;
      w_row = filter.output;
      w_group = filter.group;
    } else {
      w_row = depth + (depth * static_cast<int64_t>(sizeof(T)) % 4096 == 0 ? 16 : 0);
      w_group = w_row * g.outputs;
      T* const copied = filters.get<T>(p.groups * w_group);
      const StridedView from = filter.view(g, p.groups);
      strided_copy({copied, dtype_of<T>, from.shape, {w_group, w_row, t0, t1, t2, 1}}, from);
      w = copied;
    }
  }
  if constexpr (kHasDirect<T>) {
    if (is_direct(g)) {
      direct(p, w, w_row, w_group);
      return Way::direct;
    }
  }
  const int64_t m = g.channels_last ? windows : g.outputs, n = g.channels_last ? g.outputs : windows;
  each_part(p, m, n, depth, 1, [&](int64_t group, int64_t, const ProductPart& part) {
    kernels.forward(of_group(p, group), w + group * w_group, w_row, part, gemm_cache(), thread_panels<T>());
  });
  return Way::gathered_panels;
}

/// A pass along one axis that computes the gradients of every stride-th pixel from `pixel` on.
struct Phase {
  int64_t pixel;      // in memory
  int64_t tap, step;  // in the filter, in taps
  ConvolutionAxis axis;
};

/// Returns the phases of an axis. A phase that no tap reaches has no taps.
std::vector<Phase> phases_of(const ConvolutionAxis& a) {
  std::vector<Phase> phases;
  for (int64_t phase = 0; phase < std::min(a.stride, a.extent); ++phase) {
    Phase now{phase * a.x_step, 0, a.stride / std::gcd(a.stride, a.dilate), {}};
    ConvolutionAxis& axis = now.axis;
    axis = {.extent = a.count, .count = ceil_div(a.extent - phase, a.stride), .taps = 0, .stride = 1};
    axis.x_step = a.y_step;
    axis.y_step = a.x_step * a.stride;
    int64_t first = 0;
    while (first < a.taps && (phase + a.pad - first * a.dilate) % a.stride != 0) ++first;
    if (first < a.taps) {
      axis.taps = (a.taps - 1 - first) / now.step + 1;
      now.tap = first + (axis.taps - 1) * now.step;
      axis.dilate = now.step * a.dilate / a.stride;
      axis.pad = -(phase + a.pad - now.tap * a.dilate) / a.stride;
    }
    phases.push_back(now);
  }
  return phases;
}

/// Sets all of x to the bias, or to zero.
template <class T>
void fill_data(const Problem<T>& p) {
  const ConvolutionArgs<T>& g = p.args;
  const T zero{};
  const Shape shape = {g.images, p.groups * g.inputs, g.axes[0].extent, g.axes[1].extent, g.axes[2].extent};
  strided_copy({const_cast<T*>(g.x),
                dtype_of<T>,
                shape,
                {g.x_image, g.x_channel, g.axes[0].x_step, g.axes[1].x_step, g.axes[2].x_step}},
               {const_cast<T*>(g.bias ? g.bias : &zero), dtype_of<T>, shape, {0, g.bias ? 1 : 0, 0, 0, 0}});
}

/// Computes the pixels of x that belong to one phase of each axis: a forward pass over y.
template <class T>
Way phase_to_data(const Problem<T>& p, const std::array<const Phase*, 3>& phases) {
  Problem<T> q = p;
  ConvolutionArgs<T>& g = q.args;
  std::swap(g.inputs, g.outputs);
  std::swap(q.x_group, q.y_group);
  g.x = p.args.y;
  g.y = const_cast<T*>(p.args.x);
  std::swap(g.x_image, g.y_image);
  std::swap(g.x_channel, g.y_channel);
  std::swap(q.filter.output, q.filter.input);
  for (std::size_t i = 0; i < 3; ++i) {
    g.y += phases[i]->pixel;
    g.axes[i] = phases[i]->axis;
    q.filter.data += phases[i]->tap * q.filter.tap[i];
    q.filter.tap[i] *= -phases[i]->step;
  }
  return forward(q);
}

/// Computes the gradient of x. For each phase of the strides, this is a forward pass over y with stride 1 and, in
/// reverse order, the taps that reach the phase's pixels.
template <class T>
Way to_data(Problem<T> p) {
  // Reorder before reversing, because a transposition of two axes is faster.
  if (takes_order(p)) p.filter = p.filter.in_order(p.args, p.groups, true);
  std::array<std::vector<Phase>, 3> phases;
  bool gaps = false;  // pixels that no tap reaches
  for (std::size_t i = 0; i < 3; ++i) {
    phases[i] = phases_of(p.args.axes[i]);
    gaps |= std::any_of(phases[i].begin(), phases[i].end(), [](const Phase& phase) { return phase.axis.taps == 0; });
  }
  if (gaps && !p.args.accumulate) fill_data(p);  // then the other pixels are computed
  Way way = Way::gathered_panels;
  for (const Phase& a : phases[0]) {
    for (const Phase& b : phases[1]) {
      for (const Phase& c : phases[2]) {
        const bool met = a.axis.taps > 0 && b.axis.taps > 0 && c.axis.taps > 0;
        if (met || (p.args.accumulate && p.args.bias)) way = phase_to_data(p, {&a, &b, &c});
      }
    }
  }
  return way;
}

/// w (+)= partial sums, in order. `strides` are the strides of the sums of all groups.
template <class T>
void finish_filter(const Problem<T>& p, SumOf<T>* sums, int64_t parts, const Strides& strides) {
  using Sum = SumOf<T>;
  const StridedView w = p.filter.view(p.args, p.groups);
  const StridedView to{sums, dtype_of<Sum>, w.shape, strides};
  const int64_t size = w.shape.product();
  const Sum* before = nullptr;
  if (p.args.accumulate) {
    Sum* const old = panels.get<Sum>(size);
    strided_copy({old, dtype_of<Sum>, w.shape, strides}, w);
    before = old;
  }
  if (parts > 1 || before) {
    parallel_for(size, 16384, [&](int64_t begin, int64_t end) {
      for (int64_t part = 1; part < parts; ++part)
        for (int64_t i = begin; i < end; ++i) sums[i] += sums[part * size + i];
      for (int64_t i = begin; i < end && before; ++i) sums[i] += before[i];
    });
  }
  strided_copy(w, to);
}

template <class T>
void depthwise_to_filter(const Problem<T>& p) {
  const DirectLevel<T>& kernels = direct_level(T{});
  const ConvolutionArgs<T>& g = p.args;
  const int64_t channels = p.groups, t2 = g.axes[2].taps, t1 = g.axes[1].taps * t2, t0 = g.taps(), size = channels * t0;
  T* const sums = filters.get<T>(g.images * size);
  const int64_t blocks = g.channels_last ? ceil_div(channels, kernels.chunk) : channels;
  const int64_t work = g.windows() * (g.channels_last ? kernels.chunk : 1);
  parallel_for(g.images * blocks, 1 + 32768 / work, [&](int64_t begin, int64_t end) {
    T* const memory =
        panels.get<T>(g.channels_last ? kernels.scratch_last(g, gemm_cache()) : kernels.scratch(g, gemm_cache()));
    for (int64_t i = begin; i < end; ++i) {
      const int64_t image = i / blocks, block = i % blocks;
      if (g.channels_last) {
        kernels.to_filter_last(g, channels, image, block * kernels.chunk, sums + image * size, gemm_cache(), memory);
      } else {
        kernels.to_filter_first(of_group(p, block), image, sums + image * size + block * t0, gemm_cache(), memory);
      }
    }
  });
  const int64_t tap = g.channels_last ? channels : 1;
  finish_filter(p, sums, g.images, {g.channels_last ? 1 : t0, 0, 0, t1 * tap, t2 * tap, tap});
}

template <class T>
Way to_filter(const Problem<T>& p) {
  const ConvolutionLevel<T>& kernels = level(T{});
  const ConvolutionArgs<T>& g = p.args;
  const int64_t windows = g.images * g.windows(), elements = g.inputs * g.taps();
  if constexpr (kHasDirect<T>) {
    if (is_depthwise(p) && windows > 0) {
      depthwise_to_filter(p);
      return Way::depthwise;
    }
  }
  const int64_t m = g.channels_last ? g.outputs : elements, n = g.channels_last ? elements : g.outputs, size = m * n;
  // A few sums over many windows are split into partial sums, depending on the shape only.
  const int64_t units = p.groups * (1 + size / 1024);
  const int64_t depths = std::max<int64_t>(1, std::min(ceil_div(32, units), windows / 2048));
  auto* const sums = filters.get<SumOf<T>>(depths * p.groups * size);
  if (windows == 0) {
    std::fill(sums, sums + p.groups * size, SumOf<T>(0));
  } else {
    each_part(p, m, n, windows, depths, [&](int64_t group, int64_t depth, const ProductPart& part) {
      ConvolutionArgs<T> mine = of_group(p, group);
      mine.accumulate = false;
      kernels.to_filter(mine, sums + (depth * p.groups + group) * size, n, part, gemm_cache(), thread_panels<T>());
    });
  }
  const int64_t t2 = g.axes[2].taps, t1 = g.axes[1].taps * t2, t0 = g.taps();
  finish_filter(p, sums, depths,
                g.channels_last ? Strides{size, n, 1, t1 * g.inputs, t2 * g.inputs, g.inputs}
                                : Strides{size, 1, t0 * n, t1 * n, t2 * n, n});
  return Way::gathered_panels;
}

/// x and w have type T, y has type R: T, or float32 for a forward pass without rounding.
template <class T, class R = T>
Way convolve(const Convolution& c) {
  const bool last = !kHasDirect<T> || takes_channels_last(c), to_w = c.pass == ConvolutionPass::to_filter;
  const bool to_x = c.pass == ConvolutionPass::to_data, to_y = c.pass == ConvolutionPass::forward;
  const Operand<T> x(c.x, last, false, !to_x || c.accumulate, copies_of[0]);
  const Operand<R> y(c.y, last, to_w, !to_y || c.accumulate, copies_of[1]);
  Problem<T> p{};
  ConvolutionArgs<T>& g = p.args;
  p.groups = c.groups;
  g.channels_last = last;
  g.images = c.x.shape[0];
  g.inputs = c.w.shape[1];
  g.outputs = c.y.shape[1] / c.groups;
  g.x = x.data, g.x_image = x.strides[0], g.x_channel = x.strides[1];
  if constexpr (std::is_same_v<R, T>) {
    g.y = y.data;
  } else {
    g.wide_y = y.data;
  }
  g.y_image = y.strides[0], g.y_channel = y.strides[1];
  p.x_group = g.inputs * g.x_channel;
  p.y_group = g.outputs * g.y_channel;
  g.accumulate = c.accumulate;
  g.relu = c.relu;
  const Strides& filter = c.w.strides;
  p.filter = {static_cast<T*>(c.w.data()), g.outputs * filter[0], filter[0], filter[1], {}};
  const int axes = c.window.axes();
  for (int i = 0; i < axes; ++i) {
    const auto at = static_cast<std::size_t>(3 - axes + i);
    g.axes[at] = {c.x.shape[2 + i], c.y.shape[2 + i],   c.window.size[i], c.window.stride[i],
                  c.window.pad[i],  c.window.dilate[i], x.strides[2 + i], y.strides[2 + i]};
    p.filter.tap[at] = filter[2 + i];
  }
  std::vector<T> bias;
  if (c.bias) {
    bias.resize(static_cast<std::size_t>(c.bias->size()));
    strided_copy(contiguous_view(bias.data(), dtype_of<T>, c.bias->shape), strided(*c.bias));
    g.bias = bias.data();
  }
  if (to_w) return to_filter(p);
  const Way way = to_x ? to_data(p) : forward(p);
  to_x ? x.finish() : y.finish();
  return way;
}

#if defined(__x86_64__) && !defined(CT_SIMD_NO_V4)

/// Returns whether matrix units are used. With few channels, gathering windows is too slow for them. If three quarters
/// of the products would be padding, float32 kernels are faster.
bool takes_tiles(const Convolution& p) {
  if (!multiplies_in_tiles(p.x.dtype)) return false;
  const int64_t inputs = p.w.shape[1], outputs = p.y.shape[1] / p.groups, taps = p.window.taps();
  const bool to_x = p.pass == ConvolutionPass::to_data;
  const auto used = [](int64_t n) { return static_cast<double>(n) / static_cast<double>(ceil_div(n, 32) * 32); };
  return (to_x ? outputs : inputs) >= 16 &&
         (to_x ? used(inputs) * used(outputs * taps) : used(outputs) * used(inputs * taps)) >= 0.25;
}

Way convolve_in_tiles(const Convolution& p) {
  p.y.dtype == Dtype::float32 ? convolve<bfloat16, float>(p) : convolve<bfloat16>(p);
  return Way::gathered_tiles;
}

#else

bool takes_tiles(const Convolution&) { return false; }
Way convolve_in_tiles(const Convolution& p) { return convolve_halves(p); }

#endif

}  // namespace

void convolve_directly(const Convolution& p) { convolve<float>(p); }
Way convolve_floats(const Convolution& p) { return winograd(p) ? Way::winograd : convolve<float>(p); }

template <>
void compute(const Convolution& p) {
  if (p.result().size() == 0) return;
  const auto by = p.x.dtype == Dtype::float64   ? convolve<double>
                  : p.x.dtype == Dtype::float32 ? convolve_floats
                  : takes_tiles(p)              ? convolve_in_tiles
                                                : convolve_halves;
  note_convolution(by(p), p.x.dtype);
}

}  // namespace catenary::cpu
