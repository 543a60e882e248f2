#include "catenary/array/linalg.h"

#include <cmath>
#include <limits>

#include "catenary/array/axes.h"
#include "catenary/array/body.h"
#include "catenary/array/elementwise_core.h"
#include "catenary/array/reduction.h"
#include "catenary/core/format.h"

namespace catenary::linalg {

using detail::as_dtype;

namespace {

/// A stack of square matrices as [batch, n, n] in the dtype that it is worked on in.
struct Stack {
  Array matrices;
  Shape outer;   ///< the axes before the last two
  Dtype result;  ///< float32 or float64 as computed; 16-bit floats are refused as NumPy does
  std::int64_t batch, n;

  Stack(const Array& a, Dtype dtype, const char* what) {
    if (a.ndim() < 2 || a.shape().back() != a.shape()[a.ndim() - 2])
      fail<ShapeError>("linalg::{}: square matrices are needed, an array of shape {} was given", what, a.shape());
    if (is_16bit_float(dtype))
      fail<DtypeError>("linalg::{}: {} is too narrow; cast to float32 or float64", what, dtype);
    result = is_floating(dtype) ? dtype : Dtype::float64;
    outer = Shape(a.shape().data(), a.ndim() - 2);
    batch = outer.product();
    n = a.shape().back();
    matrices = as_dtype(a, result).reshape({batch, n, n}).contiguous();
  }
  /// outer and then `inner`.
  Shape shape(std::initializer_list<std::int64_t> inner) const {
    Shape s = outer;
    for (std::int64_t extent : inner) s.push_back(extent);
    return s;
  }
};

/// Runs a primitive; throws ValueError naming the first matrix that it could not handle.
void run(Linalg op, const Stack& stack, const View& b, const Array& out, const char* what, const char* problem) {
  if (stack.batch == 0 || stack.n == 0) return;
  std::vector<bool> ok;
  const View matrices = readable(stack.matrices);
  out.device().backend().linalg(out.device().index(), op, matrices, b, writable(out), ok);
  for (std::size_t i = 0; problem && i < ok.size(); ++i)
    if (!ok[i]) fail<ValueError>("linalg::{}: matrix {} of {} is {}", what, i, ok.size(), problem);
}

Array determinants(const Stack& stack, const char* what) {
  const Array out = Array::empty({stack.batch, 3}, stack.result, stack.matrices.device());
  if (stack.n == 0) {  // the empty product: 1, sign 1, logarithm 0
    copyto(detail::slice_axis(out, 1, 0, 2), 1);
    copyto(detail::slice_axis(out, 1, 2, 3), 0);
  }
  run(Linalg::det, stack, {}, out, what, nullptr);
  return out;
}

Array column(const Array& table, int i, const Shape& shape) {
  return detail::slice_axis(table, 1, i, i + 1).copy().reshape(shape);
}

}  // namespace

Array cholesky(const Array& a) {
  const Stack stack(a, a.dtype(), "cholesky");
  const Array out = Array::empty(stack.matrices.shape(), stack.result, a.device());
  run(Linalg::cholesky, stack, {}, out, "cholesky", "not positive definite");
  return out.reshape(a.shape());
}

Array inv(const Array& a) {
  const Stack stack(a, a.dtype(), "inv");
  const Array out = Array::empty(stack.matrices.shape(), stack.result, a.device());
  run(Linalg::inv, stack, {}, out, "inv", "singular");
  return out.reshape(a.shape());
}

Array det(const Array& a) {
  const Stack stack(a, a.dtype(), "det");
  return column(determinants(stack, "det"), 0, stack.outer);
}

SlogdetResult slogdet(const Array& a) {
  const Stack stack(a, a.dtype(), "slogdet");
  const Array table = determinants(stack, "slogdet");
  return {column(table, 1, stack.outer), column(table, 2, stack.outer)};
}

Array solve(const Array& a, const Array& b) {
  detail::check_same_device(a, b, "linalg::solve");
  const bool vector = b.ndim() == 1;
  const Array columns = vector ? b.reshape({b.size(), 1}) : b;
  if (a.ndim() < 2 || columns.ndim() < 2 || columns.shape()[columns.ndim() - 2] != a.shape().back())
    fail<ShapeError>("linalg::solve: shapes {} and {} do not fit", a.shape(), b.shape());
  const Shape outer = broadcast_shapes(Shape(a.shape().data(), a.ndim() - 2),
                                       Shape(columns.shape().data(), columns.ndim() - 2), "linalg::solve");
  Shape a_shape = outer, b_shape = outer;
  for (int i = 2; i > 0; --i) {
    a_shape.push_back(a.shape()[a.ndim() - i]);
    b_shape.push_back(columns.shape()[columns.ndim() - i]);
  }
  const Stack stack(a.broadcast_to(a_shape), promote(a.dtype(), b.dtype()), "solve");
  const std::int64_t k = b_shape.back();
  const Array right =
      as_dtype(columns, stack.result).broadcast_to(b_shape).reshape({stack.batch, stack.n, k}).contiguous();
  const Array out = Array::empty(right.shape(), stack.result, a.device());
  run(Linalg::solve, stack, readable(right), out, "solve", "singular");
  return out.reshape(vector ? stack.shape({stack.n}) : b_shape);
}

LuResult lu(const Array& a) {
  const Stack stack(a, a.dtype(), "lu");
  const Array out = Array::empty(stack.matrices.shape(), stack.result, a.device());
  const Array pivots = Array::empty({stack.batch, stack.n}, Dtype::int32, a.device());
  run(Linalg::lu, stack, writable(pivots), out, "lu", nullptr);
  return {out.reshape(a.shape()), pivots.reshape(stack.shape({stack.n}))};
}

Array matrix_power(const Array& a, std::int64_t n) {
  if (a.ndim() < 2 || a.shape().back() != a.shape()[a.ndim() - 2])
    fail<ShapeError>("linalg::matrix_power: square matrices are needed, an array of shape {} was given", a.shape());
  if (n < 0) return matrix_power(inv(a), -n);
  if (n == 0) {
    const std::int64_t extent = a.shape().back();
    const Array out = detail::filled(a.shape(), 0, a.dtype(), a.device());
    Shape shape(a.shape().data(), a.ndim() - 1);
    Strides strides(out.strides().data(), a.ndim() - 1);
    strides[a.ndim() - 2] = extent + 1;
    out.as_strided(shape, strides).fill(1);
    return out;
  }
  Array power = a, result;
  for (; n > 0; n >>= 1) {
    if (n & 1) result = result.defined() ? matmul(result, power) : power;
    if (n > 1) power = matmul(power, power);
  }
  return result.is(a) ? a.copy() : result;
}

namespace {

/// |x| in a floating dtype; 16-bit ones are widened until the end.
Array magnitudes(const Array& x, Dtype& result) {
  result = detail::mean_dtype(x.dtype());
  return absolute(as_dtype(x, is_16bit_float(result) ? Dtype::float32 : result));
}

Array vector_norm(const Array& x, double ord, int axis, bool keepdims) {
  Dtype result;
  const Array a = magnitudes(x, result);
  const auto finish = [&](const Array& value) { return as_dtype(value, result); };
  if (std::isinf(ord)) return finish(ord > 0 ? max(a, axis, keepdims) : min(a, axis, keepdims));
  if (ord == 0) return finish(count_nonzero(a, axis, keepdims));
  if (ord == 1) return finish(sum(a, axis, keepdims));
  if (ord == 2) return finish(sqrt(sum(square(a), axis, keepdims)));
  return finish(power(sum(power(a, ord), axis, keepdims), 1 / ord));
}

Array matrix_norm(const Array& x, double ord, int row, int column, bool keepdims) {
  Dtype result;
  const Array a = magnitudes(x, result);
  if (std::abs(ord) != 1 && !std::isinf(ord))
    fail<ValueError>("linalg::norm: order {} of a matrix is not 1, -1, inf or -inf", ord);
  const bool columns = std::abs(ord) == 1;  // the largest sum of a column, else of a row
  const Array sums = sum(a, columns ? row : column, true);
  const int over = columns ? column : row;
  const Array found = ord > 0 ? max(sums, over, true) : min(sums, over, true);
  const unsigned bits = 1u << row | 1u << column;
  return as_dtype(found, result).reshape(detail::kept_shape(x.shape(), bits, keepdims));
}

}  // namespace

Array norm(const Array& x, std::optional<double> ord, const AxisArg& axis, bool keepdims) {
  const Axes axes = axis.normalized(x.ndim(), "linalg::norm");
  if (!axis.all() && (axes.empty() || axes.size() > 2))
    fail<ShapeError>("linalg::norm: one axis or two are needed, {} were given", axes.size());
  if (!ord) {
    Dtype result;
    const Array a = magnitudes(x, result);
    return as_dtype(sqrt(sum(square(a), axis, keepdims)), result);
  }
  if (axes.size() == 1) return vector_norm(x, *ord, static_cast<int>(axes[0]), keepdims);
  if (axes.size() == 2) return matrix_norm(x, *ord, static_cast<int>(axes[0]), static_cast<int>(axes[1]), keepdims);
  fail<ShapeError>("linalg::norm: order {} needs one axis or two, the array's shape is {}", *ord, x.shape());
}

}  // namespace catenary::linalg
