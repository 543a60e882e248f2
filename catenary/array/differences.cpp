// Differences of neighbours and what is made of products of them: ediff1d, cross, trapezoid. Running sums after a first
// value.

#include "catenary/array/differences.h"

#include "catenary/array/axes.h"
#include "catenary/array/elementwise_core.h"
#include "catenary/array/manipulation.h"
#include "catenary/array/reduction.h"
#include "catenary/core/format.h"

namespace catenary {

using detail::as_dtype;
using detail::slice_axis;

namespace {

/// What is put before or after the differences, 1-d and as `dtype`.
Array border(const std::optional<Operand>& given, const Array& x, const char* what) {
  const Dtype dtype = x.dtype();
  if (!given) return Array::empty({0}, dtype, x.device());
  const Dtype from = given->is_array() ? given->array().dtype() : given->scalar().default_dtype();
  // A cast may lose digits, not the kind of number.
  if ((is_floating(from) && !is_floating(dtype)) || (from != Dtype::bool_ && dtype == Dtype::bool_))
    fail<DtypeError>("ediff1d: {} is {}, which does not fit into an array of {}", what, from, dtype);
  return detail::as_array(*given, dtype, x.device()).reshape({-1});
}

/// `values` as what stands beside x along an axis.
Array beside(const Array& x, int axis, const Operand& values) {
  const Array part = detail::as_array(values, result_type(x, values), x.device());
  if (part.ndim() > 0) return part;
  Shape row = x.shape();
  row[axis] = 1;
  return part.broadcast_to(row);
}

Array cumulative(const Array& x, const std::optional<int>& axis, Array running, bool include_initial, int initial,
                 const char* what) {
  if (!axis && x.ndim() > 1) fail<ValueError>("{}: an axis is needed for an array of shape {}", what, x.shape());
  if (!include_initial) return running;
  const int a = normalize_axis(axis.value_or(0), running.ndim(), what);
  return concatenate({beside(running, a, initial), running}, a);
}

/// x[…, i].
Array component(const Array& x, int i) { return x(ellipsis, i); }

}  // namespace

Array diff(const Array& x, int n, int axis, const std::optional<Operand>& prepend,
           const std::optional<Operand>& append) {
  const int a = normalize_axis(axis, x.ndim(), "diff");
  if (n == 0) return x;
  std::vector<Array> parts;
  if (prepend) parts.push_back(beside(x, a, *prepend));
  parts.push_back(x);
  if (append) parts.push_back(beside(x, a, *append));
  return diff(parts.size() == 1 ? x : concatenate(parts, a), n, a);
}

Array cumulative_sum(const Array& x, const std::optional<int>& axis, std::optional<Dtype> dtype, bool include_initial) {
  return cumulative(x, axis, cumsum(x, axis, dtype), include_initial, 0, "cumulative_sum");
}
Array cumulative_prod(const Array& x, const std::optional<int>& axis, std::optional<Dtype> dtype,
                      bool include_initial) {
  return cumulative(x, axis, cumprod(x, axis, dtype), include_initial, 1, "cumulative_prod");
}

Array ediff1d(const Array& x, const std::optional<Operand>& to_end, const std::optional<Operand>& to_begin) {
  const Array before = border(to_begin, x, "to_begin"), after = border(to_end, x, "to_end");
  const Array flat = x.reshape({-1});
  const std::int64_t n = flat.size();
  const Array rest = subtract(slice_axis(flat, 0, std::min<std::int64_t>(n, 1), n),
                              slice_axis(flat, 0, 0, std::max<std::int64_t>(n - 1, 0)));
  if (!to_end && !to_begin) return rest;
  return concatenate({before, rest, after});
}

Array cross(const Array& a, const Array& b, int axisa, int axisb, int axisc, std::optional<int> axis) {
  if (axis) axisa = axisb = axisc = *axis;
  detail::check_same_device(a, b, "cross");
  const Dtype dtype = promote(a.dtype(), b.dtype());
  const auto vectors = [&](const Array& x, int at) {
    const int last = normalize_axis(at, x.ndim(), "cross");
    if (x.shape(last) != 2 && x.shape(last) != 3)
      fail<ShapeError>("cross: vectors of 2 or 3 elements are needed, axis {} of an array of shape {} was given", last,
                       x.shape());
    return as_dtype(moveaxis(x, last, -1), dtype);
  };
  const Array u = vectors(a, axisa), v = vectors(b, axisb);
  const bool u3 = u.shape().back() == 3, v3 = v.shape().back() == 3;
  const Array third = component(u, 0) * component(v, 1) - component(u, 1) * component(v, 0);
  if (!u3 && !v3) return third;
  // A component that is left out is 0.
  const auto difference = [](const std::optional<Array>& plus, const std::optional<Array>& minus) {
    return !plus ? negative(*minus) : minus ? *plus - *minus : *plus;
  };
  const auto product = [&](int i, int j) -> std::optional<Array> {
    if ((i == 2 && !u3) || (j == 2 && !v3)) return std::nullopt;
    return component(u, i) * component(v, j);
  };
  const Array out =
      stack({difference(product(1, 2), product(2, 1)), difference(product(2, 0), product(0, 2)), third}, -1);
  return moveaxis(out, -1, normalize_axis(axisc, out.ndim(), "cross"));
}

Array trapezoid(const Array& y, const std::optional<Array>& x, double dx, int axis) {
  const int at = normalize_axis(axis, y.ndim(), "trapezoid");
  const std::int64_t n = y.shape(at);
  if (n == 0) return sum(y, at, false, detail::mean_dtype(y.dtype()));
  const Array pairs = slice_axis(y, at, 1, n) + slice_axis(y, at, 0, n - 1);
  if (!x) return sum(pairs * dx / 2.0, at);
  detail::check_same_device(y, *x, "trapezoid");
  Array width = diff(*x, 1, x->ndim() == 1 ? 0 : axis);
  if (x->ndim() == 1) {
    Shape shape = Shape::filled(y.ndim(), 1);
    shape[at] = width.size();
    width = width.reshape(shape);
  }
  return sum(width * pairs / 2.0, at);
}

}  // namespace catenary
