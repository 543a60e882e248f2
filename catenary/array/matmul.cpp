// Matrix products: matmul, and functions that reduce to it.

#include <algorithm>

#include "catenary/array/axes.h"
#include "catenary/array/body.h"
#include "catenary/array/complex_blocks.h"
#include "catenary/array/elementwise_core.h"
#include "catenary/array/linalg.h"
#include "catenary/array/reduction.h"
#include "catenary/array/view.h"
#include "catenary/core/format.h"

namespace catenary {

using detail::as_dtype;
using detail::check_same_device;

namespace {

/// Computes the product of stacks of matrices [count, m, k] and [count, k, n]. `out` is new and has the size of [count,
/// m, n].
void multiply_stacks(const View& left, const View& right, const Array& out, const std::optional<Array>& bias) {
  View to = writable(out);
  to.shape = {left.shape[0], left.shape[1], right.shape[2]};
  to.strides = contiguous_strides(to.shape);
  const View row = bias ? readable(*bias) : View();
  compute(out.device(), primitives::Matmul{left, right, to, bias ? &row : nullptr});
}

/// Returns the matrices of a C-ordered array, stacked vertically.
View stack_of_rows(View view) {
  const std::int64_t columns = view.shape.back();
  view.shape = {1, view.shape.product() / columns, columns};
  view.strides = contiguous_strides(view.shape);
  return view;
}

Shape without_last(const Shape& shape, int count) { return Shape(shape.data(), shape.size() - count); }

/// Returns the axes of x that are not in `axes`, in order.
Axes other_axes(int ndim, const Axes& axes) {
  const unsigned bits = detail::axis_bits(axes);
  Axes others;
  for (int i = 0; i < ndim; ++i)
    if (!(bits >> i & 1u)) others.push_back(i);
  return others;
}

/// Computes a complex product as a real one. Each element of the right factor becomes the block [[re, im], [-im, re]];
/// rows of the left factor are used as stored, with real and imaginary parts interleaved.
Array complex_product(const Array& left, const Array& right) {
  const Array parts = view(left.contiguous(), part_dtype(left.dtype()));
  return view(matmul(parts, detail::real_blocks(right, true)), left.dtype());
}

}  // namespace

Array matmul(const Array& a, const Array& b, const MatmulOptions& options) {
  if (a.ndim() == 0 || b.ndim() == 0)
    fail<ShapeError>("matmul: operands need at least one axis, shapes {} and {} were given", a.shape(), b.shape());
  check_same_device(a, b, "matmul");
  const Dtype promoted = promote(a.dtype(), b.dtype()), dtype = options.dtype.value_or(promoted);
  // 8-bit integers are multiplied without a cast
  const bool widens = dtype == Dtype::int32 && a.dtype() == b.dtype() && a.itemsize() == 1 && a.dtype() != Dtype::bool_;
  const Dtype from = widens ? promoted : dtype;
  const bool row = a.ndim() == 1, column = b.ndim() == 1;
  const Array left = as_dtype(row ? a.reshape({1, a.size()}) : a, from);
  const Array right = as_dtype(column ? b.reshape({b.size(), 1}) : b, from);
  const int ln = left.ndim(), rn = right.ndim();
  const std::int64_t m = left.shape()[ln - 2], k = left.shape()[ln - 1], n = right.shape()[rn - 1];
  if (right.shape()[rn - 2] != k)
    fail<ShapeError>("matmul: shapes {} and {} do not fit: the axes that are summed have sizes {} and {}", a.shape(),
                     b.shape(), k, right.shape()[rn - 2]);
  std::optional<Array> bias;
  if (options.bias) {
    check_same_device(a, *options.bias, "matmul");
    if (options.bias->shape() != Shape{n})
      fail<ShapeError>("matmul: the bias must be ({},) to fit a product of {} columns, not {}", n, n,
                       options.bias->shape());
    bias = as_dtype(*options.bias, dtype);
  }
  const Shape batch = broadcast_shapes(without_last(left.shape(), 2), without_last(right.shape(), 2), "matmul");
  Shape shape = batch;
  if (!row) shape.push_back(m);
  if (!column) shape.push_back(n);
  const Array out = Array::empty(shape, dtype, a.device());
  if (out.size() == 0) return out;
  if (k == 0) {
    out.fill(0);
    if (bias) copyto(out, column ? bias->reshape({}) : *bias);
  } else if (is_complex(from)) {
    const Array product = complex_product(left, right).reshape(shape);
    return bias ? add(product, column ? bias->reshape({}) : *bias) : product;
  } else if (ln == 2 && rn == 2) {
    multiply_stacks(stack_of_one(readable(left)), stack_of_one(readable(right)), out, bias);
  } else if (rn == 2 && left.is_contiguous()) {
    multiply_stacks(stack_of_rows(readable(left)), stack_of_one(readable(right)), out, bias);
  } else {
    Shape left_shape = batch, right_shape = batch;
    left_shape.push_back(m), left_shape.push_back(k);
    right_shape.push_back(k), right_shape.push_back(n);
    const std::int64_t count = batch.product();
    const Array lefts = left.broadcast_to(left_shape).reshape({count, m, k}),
                rights = right.broadcast_to(right_shape).reshape({count, k, n});
    multiply_stacks(readable(lefts), readable(rights), out, bias);
  }
  return out;
}

Array dot(const Array& a, const Array& b) {
  if (a.ndim() == 0 || b.ndim() == 0) return multiply(a, b);
  if (b.ndim() == 1) return tensordot(a, b, Axes{a.ndim() - 1}, Axes{0});
  return tensordot(a, b, Axes{a.ndim() - 1}, Axes{b.ndim() - 2});
}

Array vdot(const Array& a, const Array& b) {
  if (a.size() != b.size()) fail<ShapeError>("vdot: arrays of {} and {} elements", a.size(), b.size());
  const Array flat = a.reshape({-1});
  return matmul(is_complex(a.dtype()) ? conjugate(flat) : flat, b.reshape({-1}));
}

Array inner(const Array& a, const Array& b) {
  if (a.ndim() == 0 || b.ndim() == 0) return multiply(a, b);
  return tensordot(a, b, Axes{a.ndim() - 1}, Axes{b.ndim() - 1});
}

Array outer(const Array& a, const Array& b) { return multiply(a.reshape({a.size(), 1}), b.reshape({1, b.size()})); }

Array tensordot(const Array& a, const Array& b, int axes) {
  if (axes < 0 || axes > a.ndim() || axes > b.ndim())
    fail<ShapeError>("tensordot: shapes {} and {} do not both have {} axes", a.shape(), b.shape(), axes);
  Axes a_axes, b_axes;
  for (int i = 0; i < axes; ++i) {
    a_axes.push_back(a.ndim() - axes + i);
    b_axes.push_back(i);
  }
  return tensordot(a, b, a_axes, b_axes);
}

Array tensordot(const Array& a, const Array& b, const Axes& a_axes, const Axes& b_axes) {
  const Axes left = normalize_axes(a_axes, a.ndim(), "tensordot"),
             right = normalize_axes(b_axes, b.ndim(), "tensordot");
  if (left.size() != right.size())
    fail<ShapeError>("tensordot: {} axes of the first array, {} of the second", left.size(), right.size());
  std::int64_t summed = 1;
  for (int i = 0; i < left.size(); ++i) {
    const std::int64_t extent = a.shape()[static_cast<int>(left[i])];
    if (extent != b.shape()[static_cast<int>(right[i])])
      fail<ShapeError>("tensordot: axis {} of {} and axis {} of {} do not fit", left[i], a.shape(), right[i],
                       b.shape());
    summed *= extent;
  }
  const Axes a_kept = other_axes(a.ndim(), left), b_kept = other_axes(b.ndim(), right);
  Axes a_order = a_kept, b_order = right;
  for (std::int64_t axis : left) a_order.push_back(axis);
  for (std::int64_t axis : b_kept) b_order.push_back(axis);
  Shape shape;
  std::int64_t m = 1, n = 1;
  for (std::int64_t axis : a_kept) shape.push_back(a.shape()[static_cast<int>(axis)]), m *= shape.back();
  for (std::int64_t axis : b_kept) shape.push_back(b.shape()[static_cast<int>(axis)]), n *= shape.back();
  const Array x = a.ndim() > 0 ? a.transpose(a_order) : a, y = b.ndim() > 0 ? b.transpose(b_order) : b;
  return matmul(x.reshape({m, summed}), y.reshape({summed, n})).reshape(shape);
}

Array kron(const Array& a, const Array& b) {
  const int ndim = std::max(a.ndim(), b.ndim());
  Shape left, right, shape;
  for (int i = 0; i < ndim; ++i) {
    const int ai = i - (ndim - a.ndim()), bi = i - (ndim - b.ndim());
    const std::int64_t ae = ai < 0 ? 1 : a.shape()[ai], be = bi < 0 ? 1 : b.shape()[bi];
    left.push_back(ae), left.push_back(1);
    right.push_back(1), right.push_back(be);
    shape.push_back(ae * be);
  }
  return multiply(a.reshape(left), b.reshape(right)).reshape(shape);
}

Array trace(const Array& x, std::int64_t offset, int axis1, int axis2) {
  if (x.ndim() < 2) fail<ShapeError>("trace: at least two axes are needed, an array of shape {} was given", x.shape());
  const Axes axes = normalize_axes({axis1, axis2}, x.ndim(), "trace");
  const int r = static_cast<int>(axes[0]), c = static_cast<int>(axes[1]);
  const std::int64_t down = std::max<std::int64_t>(-offset, 0), along = std::max<std::int64_t>(offset, 0);
  const std::int64_t length = std::max<std::int64_t>(std::min(x.shape()[r] - down, x.shape()[c] - along), 0);
  Shape shape = detail::kept_shape(x.shape(), detail::axis_bits(axes), false);
  Strides strides = detail::kept_shape(x.strides(), detail::axis_bits(axes), false);
  const std::int64_t first = length == 0 ? 0 : down * x.strides()[r] + along * x.strides()[c];
  shape.push_back(length);
  strides.push_back(x.strides()[r] + x.strides()[c]);
  return sum(x.as_strided(shape, strides, first), -1);
}

}  // namespace catenary
