// Compares primitives::Convolution on the current device with a direct computation in float64.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "catenary/array/body.h"
#include "catenary/array/creation.h"
#include "catenary/array/random.h"
#include "catenary/core/error.h"
#include "catenary/core/memory_order.h"
#include "catenary/core/parallel.h"
#include "catenary/device/backend.h"
#include "tests/device/same.h"

namespace catenary {
namespace {

using Pass = ConvolutionPass;
using testing_devices::float_dtypes;
using testing_devices::same;

constexpr Pass kPasses[] = {Pass::forward, Pass::to_data, Pass::to_filter};

/// Memory layout of an operand.
enum class Order {
  c,         // (N, C, sizes)
  channels,  // (N, sizes, C)
  gaps,      // C order inside a larger array
  reversed,  // C order with all axes reversed
};

struct ConvolutionProblem {
  Pass pass = Pass::forward;
  Window window;
  std::int64_t images, groups, inputs, outputs;  // channels per group
  Shape extents, counts;
  Dtype dtype = Dtype::float32;
  Order order = Order::c, filter_order = Order::c;
  bool bias = false, accumulate = false, relu = false;

  Shape x() const { return joined({images, groups * inputs}, extents); }
  Shape w() const { return joined({groups * outputs, inputs}, window.size); }
  Shape y() const { return joined({images, groups * outputs}, counts); }
  static Shape joined(Shape shape, const Shape& rest) {
    for (const std::int64_t n : rest) shape.push_back(n);
    return shape;
  }
};

ConvolutionProblem problem(const Window& window, std::int64_t images, std::int64_t groups, std::int64_t inputs,
                           std::int64_t outputs, const Shape& extents) {
  return {.window = window,
          .images = images,
          .groups = groups,
          .inputs = inputs,
          .outputs = outputs,
          .extents = extents,
          .counts = window.counts("test", extents)};
}

/// Calls f(index) for each index of a shape, in C order.
template <class F>
void each_index(const Shape& shape, const F& f) {
  Shape index = Shape::filled(shape.size(), 0);
  for (std::int64_t i = 0, n = shape.product(); i < n; ++i) {
    f(index);
    for (int axis = shape.size() - 1; axis >= 0 && ++index[axis] == shape[axis]; --axis) index[axis] = 0;
  }
}

std::size_t flat(const Shape& shape, const Shape& index) {
  std::int64_t at = 0;
  for (int axis = 0; axis < shape.size(); ++axis) at = at * shape[axis] + index[axis];
  return static_cast<std::size_t>(at);
}

using Values = std::vector<double>;

/// Returns the expected result of C-ordered values. Sets `magnitudes` to the sums of the terms' magnitudes.
Values reference(const ConvolutionProblem& p, const Values& x, const Values& w, const Values& y, const Values& bias,
                 Values& magnitudes) {
  const Shape shape = p.pass == Pass::forward ? p.y() : p.pass == Pass::to_data ? p.x() : p.w();
  Values out = p.pass == Pass::forward ? y : p.pass == Pass::to_data ? x : w;
  if (!p.accumulate) std::fill(out.begin(), out.end(), 0.0);
  magnitudes.resize(out.size());
  for (std::size_t i = 0; i < out.size(); ++i) magnitudes[i] = std::abs(out[i]);
  const int axes = p.window.axes();
  each_index(p.y(), [&](const Shape& of_y) {
    const std::int64_t group = of_y[1] / p.outputs;
    each_index(ConvolutionProblem::joined({p.inputs}, p.window.size), [&](const Shape& tap) {
      Shape of_x = of_y;
      of_x[1] = group * p.inputs + tap[0];
      for (int i = 0; i < axes; ++i) {
        of_x[2 + i] = of_y[2 + i] * p.window.stride[i] - p.window.pad[i] + tap[1 + i] * p.window.dilate[i];
        if (of_x[2 + i] < 0 || of_x[2 + i] >= p.extents[i]) return;
      }
      const std::size_t at_x = flat(p.x(), of_x), at_w = flat(p.w(), ConvolutionProblem::joined({of_y[1]}, tap)),
                        at_y = flat(p.y(), of_y);
      const std::size_t at = p.pass == Pass::forward ? at_y : p.pass == Pass::to_data ? at_x : at_w;
      const double term = p.pass == Pass::forward   ? x[at_x] * w[at_w]
                          : p.pass == Pass::to_data ? y[at_y] * w[at_w]
                                                    : x[at_x] * y[at_y];
      out[at] += term;
      magnitudes[at] += std::abs(term);
    });
  });
  each_index(shape, [&](const Shape& index) {
    double& element = out[flat(shape, index)];
    if (p.bias) element += bias[static_cast<std::size_t>(index[1])];
    if (p.relu) element = std::max(element, 0.0);
  });
  return out;
}

/// A view with the elements of a C-ordered array, and the array that owns its memory.
struct Laid {
  Array view, memory;
};
constexpr double kBetween = 7;  // value of the gaps

Laid laid(const Array& a, Order order, const Device& device) {
  const Shape& shape = a.shape();
  if (order == Order::channels) {
    Axes last = {0}, back = {0, a.ndim() - 1};
    for (int axis = 2; axis < a.ndim(); ++axis) last.push_back(axis), back.push_back(axis - 1);
    last.push_back(1);
    const Array memory = a.transpose(last).contiguous().to_device(device).copy();
    return {memory.transpose(back), memory};
  }
  if (order == Order::c) {
    const Array memory = a.to_device(device).copy();
    return {memory, memory};
  }
  Shape larger = shape;
  std::vector<Index> inside;
  for (int axis = 0; axis < a.ndim(); ++axis) {
    if (order == Order::reversed) {
      inside.push_back(slice(none, none, -1));
    } else {
      larger[axis] += axis + 1;
      inside.push_back(slice(axis % 2, axis % 2 + shape[axis]));
    }
  }
  const Array all = full(larger, kBetween, a.dtype());
  all.set_at(inside, a);
  const Array memory = all.to_device(device).copy();
  return {memory.get(inside), memory};
}

struct ConvolutionOperands {
  Array x, w, y, bias;
};

ConvolutionOperands operands(const ConvolutionProblem& p) {
  const DeviceScope cpu{Device()};
  random::seed(3);
  const auto make = [&](const Shape& shape) { return random::uniform(-1, 1, shape).astype(p.dtype); };
  return {make(p.x()), make(p.w()), make(p.y()),
          make({p.pass == Pass::to_data ? p.groups * p.inputs : p.groups * p.outputs})};
}

/// Computes the problem on the current device from operands on the CPU.
Array run(const ConvolutionProblem& p, const ConvolutionOperands& from) {
  const Device device = current_device();
  const DeviceScope cpu{Device()};
  const Array none_yet = full(Shape{}, std::nan(""), p.dtype);  // written, never read
  const auto operand = [&](const Array& a, Pass pass, Order order) {
    if (p.pass != pass || p.accumulate) return laid(a, order, device);
    return laid(none_yet.broadcast_to(a.shape()).copy(), order, device);
  };
  const Laid x = operand(from.x, Pass::to_data, p.order), w = operand(from.w, Pass::to_filter, p.filter_order),
             y = operand(from.y, Pass::forward, p.order), bias = laid(from.bias, Order::c, device);
  const Laid& result = p.pass == Pass::forward ? y : p.pass == Pass::to_data ? x : w;
  const auto view = [&](const Laid& a) { return &a == &result ? writable(a.view) : readable(a.view); };
  const View vx = view(x), vw = view(w), vy = view(y), vb = readable(bias.view);
  compute(device, primitives::Convolution{p.pass, p.window, p.groups, vx, vw, vy, p.bias ? &vb : nullptr, p.accumulate,
                                          p.relu});
  const Array out = result.view.to_device(Device()), memory = result.memory.to_device(Device());
  const auto total = [](const Array& a) { return a.astype(Dtype::float64).sum().item<double>(); };
  EXPECT_NEAR(total(memory) - total(out), kBetween * static_cast<double>(memory.size() - out.size()), 1e-6)
      << "what lies between the elements of a result was written";
  return out;
}

std::string describe(const ConvolutionProblem& p) {
  constexpr const char* passes[] = {"forward", "to_data", "to_filter"};
  std::string text = passes[static_cast<int>(p.pass)];
  const auto add = [&](const char* name, const Shape& shape) {
    text += std::string(", ") + name;
    for (const std::int64_t n : shape) text += " " + std::to_string(n);
  };
  add("x", p.x()), add("w", p.w()), add("y", p.y()), add("groups", {p.groups});
  add("stride", p.window.stride), add("pad", p.window.pad), add("dilate", p.window.dilate);
  add("order", {static_cast<int>(p.order), static_cast<int>(p.filter_order)});
  add("bias, accumulate, relu", {p.bias, p.accumulate, p.relu});
  return text + ", " + std::string(dtype_name(p.dtype));
}

void check_convolution(const ConvolutionProblem& p) {
  const ConvolutionOperands from = operands(p);
  Values magnitudes;
  const Values want = reference(p, from.x.to_vector<double>(), from.w.to_vector<double>(), from.y.to_vector<double>(),
                                from.bias.to_vector<double>(), magnitudes);
  const Values got = run(p, from).to_vector<double>();
  ASSERT_EQ(got.size(), want.size()) << describe(p);
  const double of_sum = p.dtype == Dtype::float64 ? 1e-14 : 1e-6;
  const double rounding = p.dtype == Dtype::float16 ? 5e-4 : p.dtype == Dtype::bfloat16 ? 4e-3 : 0;
  for (std::size_t i = 0; i < got.size(); ++i)
    ASSERT_LE(std::abs(got[i] - want[i]), of_sum * (1 + magnitudes[i]) + rounding * std::abs(want[i]))
        << describe(p) << ", element " << i << ": " << got[i] << " and " << want[i];
}

void check_passes(ConvolutionProblem p) {
  for (const Pass pass : kPasses) {
    p.pass = pass;
    check_convolution(p);
  }
}

Window window2(const Shape& size, const Shape& stride = {1}, const Shape& pad = {0}, const Shape& dilate = {1}) {
  return Window::make("test", 2, size, stride, pad, dilate);
}

TEST(DeviceConvolution, WindowsOfTwoAxes) {
  for (const Order order : {Order::c, Order::channels}) {
    for (const Window& window : {window2({1}), window2({3}, {1}, {1}), window2({2, 3}), window2({3}, {2}, {1}),
                                 window2({3, 2}, {3, 2}, {0, 1}), window2({2}, {3}), window2({5, 3}, {1}, {2, 1}),
                                 window2({3}, {1}, {2}, {2}), window2({2, 3}, {2, 3}, {1, 2}, {3, 2}),
                                 window2({2}, {1}, {4}), window2({1}, {2}), window2({7, 9}, {1}, {1, 2})}) {
      ConvolutionProblem p = problem(window, 2, 1, 3, 5, {7, 6});
      p.order = order;
      check_passes(p);
    }
  }
}

TEST(DeviceConvolution, Groups) {
  for (const Order order : {Order::c, Order::channels}) {
    for (const std::int64_t inputs : {1, 2, 3}) {
      for (const std::int64_t outputs : {1, 2, 5}) {
        for (const Window& window : {window2({3}, {1}, {1}), window2({3, 2}, {2, 3}, {1}), window2({1})}) {
          ConvolutionProblem p = problem(window, 2, 3, inputs, outputs, {5, 6});
          p.order = order;
          check_passes(p);
        }
      }
    }
  }
}

// One channel per group, with more channels than vector lanes.
TEST(DeviceConvolution, Depthwise) {
  for (const Order order : {Order::c, Order::channels}) {
    for (const Window& window :
         {window2({3}, {1}, {1}), window2({5}, {2}, {2}), window2({3, 1}, {1}, {3}, {2}), window2({2}, {3})}) {
      ConvolutionProblem p = problem(window, 2, 37, 1, 1, {9, 8});
      p.order = order;
      p.bias = true;
      p.relu = true;
      for (const Pass pass : kPasses) {
        p.pass = pass;
        if (pass != Pass::forward) p.relu = false;
        if (pass == Pass::to_filter) p.bias = false;
        check_convolution(p);
      }
    }
  }
}

TEST(DeviceConvolution, OneAndThreeAxes) {
  for (const Order order : {Order::c, Order::channels}) {
    for (const int groups : {1, 2}) {
      ConvolutionProblem p = problem(Window::make("test", 1, {4}, {3}, {2}, {2}), 3, groups, 3, 2, {14});
      p.order = order;
      check_passes(p);
      p = problem(Window::make("test", 1, {3}, {1}, {1}), 2, groups, 2, 7, {40});
      p.order = order;
      check_passes(p);
      p = problem(Window::make("test", 3, {2, 3, 1}, {1, 2, 1}, {1, 1, 0}, {2, 1, 1}), 2, groups, 2, 3, {4, 5, 3});
      p.order = order;
      check_passes(p);
      p = problem(Window::make("test", 3, {3}, {1}, {1}), 1, groups, 3, 2, {3, 4, 5});
      p.order = order;
      check_passes(p);
    }
  }
}

TEST(DeviceConvolution, ExtentsThatWindowsDoNotEndOn) {
  const Window window = window2({3, 2}, {2, 3}, {1, 0});
  for (const Shape& extents :
       {Shape{9, 11}, Shape{2, 3}, Shape{12, 4}}) {  // y is 4 × 3: larger, smaller and mixed sizes
    ConvolutionProblem p = problem(window, 2, 1, 2, 3, {7, 8});
    p.extents = extents;
    p.counts = {4, 3};
    for (const Order order : {Order::c, Order::channels}) {
      p.order = order;
      check_passes(p);
    }
  }
}

TEST(DeviceConvolution, EveryDtype) {
  for (const Dtype dtype : float_dtypes()) {
    for (const Order order : {Order::c, Order::channels}) {
      for (const int groups : {1, 2, 20}) {
        ConvolutionProblem p = problem(window2({3}, {groups == 2 ? 2 : 1}, {1}), 2, groups, groups == 20 ? 1 : 9,
                                       groups == 20 ? 1 : 4, {6, 9});
        p.dtype = dtype;
        p.order = order;
        check_passes(p);
      }
    }
  }
}

TEST(DeviceConvolution, BiasAccumulateAndRelu) {
  for (const Dtype dtype : float_dtypes()) {
    for (const Order order : {Order::c, Order::channels}) {
      for (int options = 0; options < 8; ++options) {
        for (const Window& window : {window2({3}, {1}, {1}), window2({1}), window2({2}, {3}, {1})}) {
          for (const Pass pass : kPasses) {
            ConvolutionProblem p = problem(window, 2, 2, 3, 4, {5, 6});
            p.pass = pass;
            p.dtype = dtype;
            p.order = order;
            p.bias = (options & 1) && pass != Pass::to_filter;
            p.accumulate = options & 2;
            p.relu = (options & 4) && pass == Pass::forward;
            check_convolution(p);
          }
        }
      }
    }
  }
}

// Gaps between elements, and negative strides.
TEST(DeviceConvolution, AnyStrides) {
  for (const Order order : {Order::gaps, Order::reversed, Order::channels}) {
    for (const Order filter_order : {Order::c, Order::gaps, Order::reversed, Order::channels}) {
      for (const bool accumulate : {false, true}) {
        for (const int groups : {1, 2}) {
          ConvolutionProblem p = problem(window2({3, 2}, {2, 1}, {1}), 2, groups, 3, 4, {5, 6});
          p.order = order;
          p.filter_order = filter_order;
          p.accumulate = accumulate;
          check_passes(p);
        }
      }
    }
  }
}

TEST(DeviceConvolution, NothingToSum) {
  for (const Pass pass : kPasses) {
    ConvolutionProblem p = problem(window2({3}, {1}, {1}), 0, 2, 3, 4, {5, 6});  // no images
    p.pass = pass;
    check_convolution(p);
    p = problem(window2({3}, {1}, {1}), 2, 1, 0, 4, {5, 6});  // no channels
    p.pass = pass;
    p.bias = pass == Pass::forward;
    check_convolution(p);
    p = problem(window2({3}, {1}, {1}), 2, 1, 4, 0, {5, 6});
    p.pass = pass;
    p.bias = pass == Pass::to_data;
    check_convolution(p);
    p = problem(window2({2}, {1}, {1}), 2, 1, 3, 2, {1, 1});  // no pixels, but windows on padding
    p.extents = {0, 1};
    p.pass = pass;
    p.bias = pass == Pass::forward;
    p.accumulate = true;
    check_convolution(p);
  }
}

// More than one block of the depth, and more channels and pixels than a tile.
TEST(DeviceConvolution, LargerThanBlocks) {
  for (const Order order : {Order::c, Order::channels}) {
    ConvolutionProblem p = problem(window2({3}, {1}, {1}), 2, 1, 70, 37, {9, 8});
    p.order = order;
    p.bias = true;
    for (const Pass pass : kPasses) {
      p.pass = pass;
      if (pass == Pass::to_filter) p.bias = false;
      check_convolution(p);
    }
    p = problem(window2({1}), 1, 1, 20, 65, {17, 13});
    p.order = order;
    check_passes(p);
    p = problem(window2({3}, {2}, {1}), 3, 1, 33, 34, {11, 10});
    p.order = order;
    check_passes(p);
  }
}

TEST(DeviceConvolution, ThreadsDoNotChangeBits) {
  const int before = num_threads();
  for (const Order order : {Order::c, Order::channels}) {
    for (const int groups : {1, 2, 24}) {
      for (const int stride : {1, 2}) {
        for (const Pass pass : kPasses) {
          const std::int64_t channels = 24 / groups;
          ConvolutionProblem p = problem(window2({3}, {stride}, {1}), 3, groups, channels, channels, {14, 15});
          p.pass = pass;
          p.order = order;
          const ConvolutionOperands from = operands(p);
          set_num_threads(1);
          const Array one = run(p, from);
          set_num_threads(3);
          EXPECT_TRUE(same(run(p, from), one)) << describe(p);
        }
      }
    }
  }
  set_num_threads(before);
}

TEST(DeviceConvolution, RefusesMixedDtypes) {
  ConvolutionProblem p = problem(window2({1}), 1, 1, 1, 1, {2, 2});
  ConvolutionOperands from = operands(p);
  from.w = from.w.astype(Dtype::float16);
  EXPECT_THROW(run(p, from), DtypeError);
}

}  // namespace
}  // namespace catenary
