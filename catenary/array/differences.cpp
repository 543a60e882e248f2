// Differences of neighbours and functions based on them: ediff1d, cross, trapezoid. Running sums with an initial value.

#include "catenary/array/differences.h"

#include "catenary/array/axes.h"
#include "catenary/array/creation.h"
#include "catenary/array/elementwise_core.h"
#include "catenary/array/manipulation.h"
#include "catenary/array/reduction.h"
#include "catenary/core/format.h"

namespace catenary {

using detail::as_dtype;
using detail::slice_axis;

namespace {

/// Returns the values before or after the differences, 1-d and as `dtype`.
Array border(const std::optional<Operand>& given, const Array& x, const char* what) {
  const Dtype dtype = x.dtype();
  if (!given) return Array::empty({0}, dtype, x.device());
  const Dtype from = given->is_array() ? given->array().dtype() : given->scalar().default_dtype();
  // A cast may lose digits, but not change the kind of number.
  if ((is_inexact(from) && kind(from) > kind(dtype)) || (from != Dtype::bool_ && dtype == Dtype::bool_))
    fail<DtypeError>("ediff1d: {} is {}, which does not fit into an array of {}", what, from, dtype);
  return detail::as_array(*given, dtype, x.device()).reshape({-1});
}

/// Returns `values` broadcast so that they can be joined to x along an axis.
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
  return concatenate({as_dtype(beside(running, a, initial), running.dtype()), running}, a);
}

/// The distance of neighbours along an axis: one for all, or one for each.
struct Spacing {
  double step = 1;
  Array steps;  // 1-d
};

Spacing spacing_along(const Array& f, int axis, const Array& given) {
  if (given.ndim() == 0) return {given.item<double>(), {}};
  if (given.ndim() != 1)
    fail<ShapeError>("gradient: distances must be 0-d or positions 1-d, the shape is {}", given.shape());
  if (given.size() != f.shape(axis))
    fail<ShapeError>("gradient: {} positions are given for axis {} of an array of shape {}", given.size(), axis,
                     f.shape());
  detail::check_same_device(f, given, "gradient");
  const Array steps = diff(as_dtype(given, detail::mean_dtype(given.dtype())), 1, 0);
  if (steps.size() > 0 && equal(steps, steps(slice(1))).all()) return {steps[0].item<double>(), {}};
  return {1, steps};
}

/// Computes the derivative along one axis.
Array gradient_along(const Array& f, int axis, const Spacing& spacing, int edge_order) {
  const std::int64_t n = f.shape(axis);
  if (n <= edge_order)
    fail<ShapeError>("gradient: more than {} elements are needed along axis {} of an array of shape {}", edge_order,
                     axis, f.shape());
  const Array out = empty_like(f);
  const auto at = [&](std::int64_t start, std::int64_t stop) { return slice_axis(f, axis, start, stop); };
  const auto write = [&](std::int64_t start, std::int64_t stop, const Array& values) {
    copyto(slice_axis(out, axis, start, stop), values);
  };
  const auto difference = [&](std::int64_t i, std::int64_t count) {
    return at(i + 1, i + 1 + count) - at(i, i + count);
  };
  if (!spacing.steps.defined()) {
    const double h = spacing.step;
    write(1, n - 1, (at(2, n) - at(0, n - 2)) / (2 * h));
    if (edge_order == 1) {
      write(0, 1, difference(0, 1) / h);
      write(n - 1, n, difference(n - 2, 1) / h);
    } else {
      write(0, 1, at(0, 1) * (-1.5 / h) + at(1, 2) * (2 / h) + at(2, 3) * (-0.5 / h));
      write(n - 1, n, at(n - 3, n - 2) * (0.5 / h) + at(n - 2, n - 1) * (-2 / h) + at(n - 1, n) * (1.5 / h));
    }
    return out;
  }
  const auto step = [&](std::int64_t i, std::int64_t count) {
    Shape beside = Shape::filled(f.ndim(), 1);
    beside[axis] = count;
    return slice_axis(spacing.steps, 0, i, i + count).reshape(beside);
  };
  // slope of the parabola through elements i, i + 1 and i + 2, at the element `place` of the three
  const auto slope = [&](std::int64_t i, std::int64_t count, int place) {
    const Array before = step(i, count), after = step(i + 1, count), whole = before + after;
    const Array first = place == 0 ? -(before + whole) : place == 1 ? -after : after;
    const Array middle = place == 0 ? whole : place == 1 ? after - before : -whole;
    const Array last = place == 0 ? -before : place == 1 ? before : after + whole;
    return at(i, i + count) * (first / (before * whole)) + at(i + 1, i + 1 + count) * (middle / (before * after)) +
           at(i + 2, i + 2 + count) * (last / (after * whole));
  };
  if (n > 2) write(1, n - 1, slope(0, n - 2, 1));
  write(0, 1, edge_order == 1 ? difference(0, 1) / step(0, 1) : slope(0, 1, 0));
  write(n - 1, n, edge_order == 1 ? difference(n - 2, 1) / step(n - 2, 1) : slope(n - 3, 1, 2));
  return out;
}

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

std::vector<Array> gradient(const Array& f, const std::vector<Array>& spacing, const AxisArg& axis, int edge_order) {
  if (edge_order != 1 && edge_order != 2) fail<ValueError>("gradient: edge_order must be 1 or 2, not {}", edge_order);
  if (f.dtype() == Dtype::bool_) throw DtypeError("gradient: not defined for bool; use a cast");
  const Axes axes = axis.normalized(f.ndim(), "gradient");
  const bool for_all = spacing.size() == 1 && spacing[0].ndim() == 0;
  if (!spacing.empty() && !for_all && static_cast<int>(spacing.size()) != axes.size())
    fail<DtypeError>("gradient: {} distances or arrays of positions are given for {} axes", spacing.size(),
                     axes.size());
  const Array numbers = as_dtype(f, detail::mean_dtype(f.dtype()));
  std::vector<Array> result;
  for (int i = 0; i < axes.size(); ++i) {
    const int along = static_cast<int>(axes[i]);
    Spacing distances;
    if (!spacing.empty()) distances = spacing_along(numbers, along, spacing[for_all ? 0 : static_cast<std::size_t>(i)]);
    result.push_back(gradient_along(numbers, along, distances, edge_order));
  }
  return result;
}

Array unwrap(const Array& p, const std::optional<double>& discont, int axis, const Operand& given) {
  if (given.is_array()) throw DtypeError("unwrap: period must be a number, not an array");
  const Scalar& period = given.scalar();
  const int at = normalize_axis(axis, p.ndim(), "unwrap");
  const Array steps = diff(p, 1, at);
  const Dtype dtype = result_type(steps, period);
  // half of an odd integer period is not an integer, so no step is equally far from two multiples
  const bool whole = is_integer(dtype), has_half = !whole || period.integer() % 2 == 0;
  const Scalar half = whole ? Scalar(period.integer() / 2) : Scalar(period.real() / 2);
  const Scalar low = whole ? Scalar(-half.integer()) : Scalar(-half.real());
  const Array wide = as_dtype(steps, dtype);
  Array folded = add(remainder(subtract(wide, low), period), low);
  if (has_half) folded = where(logical_and(equal(folded, low), greater(steps, 0)), half, folded);
  const Array missing = where(less(absolute(steps), discont.value_or(period.real() / 2)), 0, folded - wide);
  const Array result = as_dtype(p, dtype).copy();
  const Array rest = slice_axis(result, at, std::min<std::int64_t>(1, p.shape(at)), p.shape(at));
  copyto(rest, rest + cumsum(missing, at));
  return result;
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
  // A missing component counts as 0.
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
