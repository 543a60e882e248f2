// Operators that sample images between their elements: GridSample, AffineGrid, DeformConv.

#include "catenary/array/creation.h"
#include "catenary/array/elementwise_core.h"
#include "catenary/array/manipulation.h"
#include "catenary/onnx/operators.h"
#include "catenary/onnx/windows.h"

namespace catenary::onnx {

namespace {

struct Sampling {
  std::string mode, padding;
  bool align;
};

Sampling sampling_of(const Call& c) {
  Sampling how{c.text("mode", "linear"), c.text("padding_mode", "zeros"), c.integer("align_corners", 0) != 0};
  if (how.mode == "bilinear") how.mode = "linear";  // the names before opset 20
  if (how.mode == "bicubic") how.mode = "cubic";
  return how;
}

/// Moves positions outside of an axis into it, as the padding mode says.
Variable moved_inside(const Sampling& how, const Variable& at, std::int64_t size) {
  const auto last = static_cast<double>(size - 1);
  if (how.padding == "border") return F::clip(at, 0.0, last);
  if (how.padding != "reflection") return at;
  const double low = how.align ? 0 : -0.5, span = how.align ? last : static_cast<double>(size);
  if (span == 0) return at * 0;
  // as a slope and a constant, so that the gradient passes
  const Array x = at.array(), rest = remainder(subtract(x, low), 2 * span), back = greater(rest, span);
  const Array slope = where(back, full_like(x, -1), full_like(x, 1));
  const Array inside = add(where(back, subtract(2 * span, rest), rest), low);
  return at * Variable(slope) + Variable(subtract(inside, multiply(slope, x)));
}

/// Returns the weights of elements at the distances `d`.
Variable weight_of(const Sampling& how, const Variable& d) {
  const Variable t = F::absolute(d);
  if (how.mode == "linear") return F::relu(1 - t);
  constexpr double a = -0.75;  // Keys' kernel
  const Variable near = ((a + 2) * t - (a + 3)) * t * t + 1, far = ((a * t - 5 * a) * t + 8 * a) * t - 4 * a;
  return F::where(Variable(less_equal(t.array(), 1)), near, F::where(Variable(less(t.array(), 2)), far, t * 0));
}

/// Adds up the elements around each point, one axis after the other.
struct Sampler {
  Sampling how;
  Variable rows;                 ///< the input as [n, elements, channels]
  Array images;                  ///< the images' numbers [n, 1]
  Shape sizes;                   ///< of the input's spatial axes
  std::vector<Variable> points;  ///< positions along each axis [n, points]

  /// Returns [n, points, channels]. `index` and `weight` belong to an element in the axes before `axis`.
  Variable sum(int axis, const Variable& weight, const Array& index) const {
    if (axis == sizes.size()) {
      const Variable picked = F::get_item(rows, {Index(images), Index(index)});
      const Variable w = weight.dtype() == rows.dtype() ? weight : F::cast(weight, rows.dtype());
      return picked * F::reshape(w, {w.shape(0), w.shape(1), 1});
    }
    const Variable& at = points[static_cast<std::size_t>(axis)];
    const std::int64_t size = sizes[axis];
    const bool nearest = how.mode == "nearest";
    const int before = how.mode == "cubic" ? 1 : 0, after = nearest ? 0 : before + 1;
    const Array base = nearest ? rint(at.array()) : floor(at.array());
    Variable total;
    for (int k = -before; k <= after; ++k) {
      const Array element = add(base, k);
      Variable w = nearest ? weight : weight * weight_of(how, at - Variable(element));
      if (how.padding == "zeros")
        w = F::where(Variable(logical_and(greater_equal(element, 0), less(element, size))), w, w * 0);
      const Array inside = rint(moved_inside(how, Variable(element), size).array());
      const Array bounded = minimum(maximum(where(isnan(inside), 0, inside), 0), size - 1).astype(Dtype::int64);
      const Variable term = sum(axis + 1, w, add(multiply(index, size), bounded));
      total = total.defined() ? total + term : term;
    }
    return total;
  }
};

Values grid_sampled(const Call& c) {
  const Variable given = c.x(0);
  const Sampling how = sampling_of(c);
  const bool half = itemsize(c.x(1).dtype()) < 4;
  const Variable grid = half ? F::cast(c.x(1), Dtype::float32) : c.x(1);
  const Dtype dtype = is_floating(given.dtype()) ? given.dtype() : Dtype::float32;
  const Variable x = given.dtype() == dtype ? given : Variable(given.array().astype(dtype));
  const int n = x.ndim() - 2;
  if (n < 1 || grid.ndim() != n + 2 || grid.shape(n + 1) != n || grid.shape(0) != x.shape(0))
    c.fail("a grid of shape {} does not fit an input of shape {}", grid.shape(), x.shape());
  const std::int64_t batch = x.shape(0);
  Shape shape{batch, x.shape(1)};
  Sampler sampler{how,
                  F::transpose(F::reshape(x, {batch, x.shape(1), Shape(x.shape().data() + 2, n).product()}), {0, 2, 1}),
                  arange(batch).reshape({batch, 1}).to_device(c.device()),
                  {},
                  {}};
  const std::int64_t count = Shape(grid.shape().data() + 1, n).product();
  for (int i = 0; i < n; ++i) {
    const std::int64_t size = x.shape(i + 2);
    if (size < 1) c.fail("axis {} of the input has no elements", i + 2);
    const auto extent = static_cast<double>(size);
    const Variable g = F::reshape(F::get_item(grid, {Index(ellipsis), Index(n - 1 - i)}), {batch, count});
    Variable at = how.align ? (g + 1) * ((extent - 1) / 2) : ((g + 1) * extent - 1) / 2;
    if (how.mode == "nearest") at = Variable(rint(at.array()));
    sampler.sizes.push_back(size);
    sampler.points.push_back(moved_inside(how, at, size));
    shape.push_back(grid.shape(i + 1));
  }
  const Array none = zeros({batch, count}, Dtype::int64).to_device(c.device());
  const Variable one(ones({batch, count}, grid.dtype()).to_device(c.device()));
  const Variable sum = sampler.sum(0, one, none);
  const Variable y = F::reshape(F::transpose(sum, {0, 2, 1}), shape);
  return {given.dtype() == dtype ? y : Variable(y.array().astype(given.dtype()))};
}

/// Returns the coordinates of all points of a grid, the last axis first, and 1: [points, axes + 1].
Array homogeneous_grid(const Shape& sizes, bool align) {
  std::vector<Array> columns;
  for (int i = sizes.size(); i-- > 0;) {
    const double edge = align ? 1 : 1 - 1 / static_cast<double>(sizes[i]);
    const Array line = linspace(-edge, edge, sizes[i]).reshape(shape_along(sizes.size(), i, sizes[i]));
    columns.push_back(broadcast_to(line, sizes).ravel());
  }
  columns.push_back(ones({sizes.product()}));
  return stack(columns, 1);
}

Values affine_grid(const Call& c) {
  const Variable theta = c.x(0);
  const bool align = c.integer("align_corners", 0) != 0;
  const Shape size(c.integers(1).value_or(Integers()));
  const int n = size.size() - 2;
  if (n < 2 || theta.ndim() != 3 || theta.shape(1) != n || theta.shape(2) != n + 1)
    c.fail("theta of shape {} does not fit the size {}", theta.shape(), size);
  const Shape sizes(size.data() + 2, n);
  Shape shape{theta.shape(0)};
  for (const std::int64_t s : sizes) {
    if (s < 1) c.fail("size {} is not positive", s);
    shape.push_back(s);
  }
  shape.push_back(n);
  const Variable grid(homogeneous_grid(sizes, align).astype(theta.dtype()).to_device(c.device()));
  const Shape rows{theta.shape(0), grid.shape(0), grid.shape(1)};
  return {F::reshape(F::matmul(F::broadcast_to(grid, rows), theta, false, true), shape)};
}

/// The sizes of a deformable convolution.
struct Deformation {
  Windows windows;
  Shape out;  ///< spatial axes of the result
  std::int64_t batch, groups, offset_groups, taps, points;
};

Deformation deformation_of(const Call& c, const Variable& x, const Variable& weight, const Variable& offset) {
  if (weight.ndim() < 3) c.fail("a weight of shape {} has no spatial axis", weight.shape());
  c.list("kernel_shape");
  const Windows w = windows_of(c, x.shape(), spatial(weight.shape()));
  Deformation d{w, {}, x.shape(0), c.integer("group", 1), c.integer("offset_group", 1), Shape(w.kernel).product(), 0};
  Shape wanted{d.batch, d.offset_groups * d.taps * (x.ndim() - 2)};
  for (std::size_t i = 0; i < w.kernel.size(); ++i) {
    const std::int64_t size = x.shape(static_cast<int>(i) + 2) + w.before[i] + w.after[i],
                       reach = (w.kernel[i] - 1) * w.dilations[i] + 1;
    if (size < reach || x.shape(static_cast<int>(i) + 2) < 1) c.fail("no window fits into axis {} of the input", i + 2);
    d.out.push_back((size - reach) / w.strides[i] + 1);
    wanted.push_back(d.out.back());
  }
  d.points = d.out.product();
  if (offset.shape() != wanted) c.fail("offsets have the shape {} where {} is needed", offset.shape(), wanted);
  const std::int64_t channels = x.shape(1);
  if (d.groups < 1 || d.offset_groups < 1 || channels % d.offset_groups != 0 || weight.shape(0) % d.groups != 0 ||
      channels != weight.shape(1) * d.groups)
    c.fail("{} channels and weights of shape {} have no {} groups and {} groups of offsets", channels, weight.shape(),
           d.groups, d.offset_groups);
  return d;
}

/// Returns the positions along axis `i` that the windows have without offsets: [taps * points].
Array undeformed(const Call& c, const Deformation& d, int i) {
  const int n = d.out.size();
  const auto k = static_cast<std::size_t>(i);
  Shape all(d.windows.kernel);
  for (const std::int64_t size : d.out) all.push_back(size);
  const auto line = [&](int axis, std::int64_t step) {
    return multiply(arange(all[axis]).reshape(shape_along(2 * n, axis, all[axis])), step);
  };
  const Array at =
      subtract(add(line(i, d.windows.dilations[k]), line(n + i, d.windows.strides[k])), d.windows.before[k]);
  return broadcast_to(at, all).reshape({d.taps * d.points}).to_device(c.device());
}

Values deformable_convolution(const Call& c) {
  const Variable x = c.x(0), weight = c.x(1), offset = c.x(2);
  const Deformation d = deformation_of(c, x, weight, offset);
  const int n = x.ndim() - 2;
  const std::int64_t planes = d.batch * d.offset_groups, part = x.shape(1) / d.offset_groups, each = d.taps * d.points;
  const Shape sizes(x.shape().data() + 2, n);
  Sampler sampler{{"linear", "zeros", true},
                  F::transpose(F::reshape(x, {planes, part, sizes.product()}), {0, 2, 1}),
                  arange(planes).reshape({planes, 1}).to_device(c.device()),
                  sizes,
                  {}};
  const Variable offsets = F::reshape(offset, {planes, d.taps, n, d.points});
  for (int i = 0; i < n; ++i) {
    const Variable moved = F::reshape(F::get_item(offsets, {Index(slice()), Index(slice()), Index(i)}), {planes, each});
    sampler.points.push_back(moved + Variable(undeformed(c, d, i).astype(x.dtype())));
  }
  const Variable one(ones({planes, each}, x.dtype()).to_device(c.device()));
  Variable samples = sampler.sum(0, one, zeros({planes, each}, Dtype::int64).to_device(c.device()));
  if (c.has(4)) samples = samples * F::reshape(c.x(4), {planes, each, 1});
  const std::int64_t inputs = weight.shape(1) * d.taps, outputs = weight.shape(0) / d.groups;
  const Variable columns = F::reshape(F::transpose(samples, {0, 2, 1}), {d.batch, d.groups, inputs, d.points});
  const Variable filters =
      F::broadcast_to(F::reshape(weight, {1, d.groups, outputs, inputs}), {d.batch, d.groups, outputs, inputs});
  Shape shape{d.batch, weight.shape(0)};
  for (const std::int64_t size : d.out) shape.push_back(size);
  const Variable y = F::reshape(F::matmul(filters, columns), shape);
  return {c.has(3) ? y + F::reshape(c.x(3), shape_along(x.ndim(), 1, weight.shape(0))) : y};
}

}  // namespace

std::span<const Operator> sampling_operators() {
  static const Operator rows[] = {
      {"GridSample", 16, grid_sampled}, {"AffineGrid", 20, affine_grid}, {"DeformConv", 19, deformable_convolution}};
  return rows;
}

}  // namespace catenary::onnx
