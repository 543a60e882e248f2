#include "catenary/array/statistics.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "catenary/array/axes.h"
#include "catenary/array/creation.h"
#include "catenary/array/elementwise_core.h"
#include "catenary/array/indexing.h"
#include "catenary/array/linalg.h"
#include "catenary/array/manipulation.h"
#include "catenary/array/reduction.h"
#include "catenary/array/sorting.h"
#include "catenary/array/view.h"
#include "catenary/core/format.h"
#include "catenary/device/float64.h"

namespace catenary {

using detail::as_dtype;
using detail::slice_axis;

Array isclose(const Operand& a, const Operand& b, double rtol, double atol, bool equal_nan) {
  const Dtype dtype = promote(result_type(a, b), Dtype::float32);
  const Device device = a.is_array() ? a.array().device() : b.is_array() ? b.array().device() : current_device();
  const Array x = detail::as_array(a, dtype, device), y = detail::as_array(b, dtype, device);
  const Array near = less_equal(absolute(subtract(x, y)), add(multiply(absolute(y), rtol), atol));
  // An infinite b makes the bound infinite, and equal infinities differ by NaN.
  Array close = logical_or(logical_and(near, isfinite(y)), equal(x, y));
  if (equal_nan) close = logical_or(close, logical_and(isnan(x), isnan(y)));
  return close;
}

bool allclose(const Operand& a, const Operand& b, double rtol, double atol, bool equal_nan) {
  return isclose(a, b, rtol, atol, equal_nan).all();
}

bool array_equal(const Array& a, const Array& b, bool equal_nan) {
  if (a.shape() != b.shape()) return false;
  Array same = equal(a, b);
  if (equal_nan && is_inexact(a.dtype()) && is_inexact(b.dtype()))
    same = logical_or(same, logical_and(isnan(a), isnan(b)));
  return same.all();
}

namespace {

double largest_number(Dtype dtype) {
  switch (dtype) {
    case Dtype::float16:
      return 65504;
    case Dtype::bfloat16:
      return 3.3895313892515355e38;
    case Dtype::float32:
      return std::numeric_limits<float>::max();
    default:
      return std::numeric_limits<double>::max();
  }
}

}  // namespace

bool array_equiv(const Array& a, const Array& b) {
  for (int i = 1; i <= std::min(a.ndim(), b.ndim()); ++i) {
    const std::int64_t m = a.shape()[a.ndim() - i], n = b.shape()[b.ndim() - i];
    if (m != n && m != 1 && n != 1) return false;
  }
  return all(equal(a, b)).item<bool>();
}

Array isposinf(const Array& x) { return equal(x, std::numeric_limits<double>::infinity()); }
Array isneginf(const Array& x) { return equal(x, -std::numeric_limits<double>::infinity()); }

Array nan_to_num(const Array& x, const Operand& nan, const std::optional<Operand>& posinf,
                 const std::optional<Operand>& neginf) {
  if (is_complex(x.dtype())) {
    const auto part = [&](const Array& of) { return nan_to_num(of, nan, posinf, neginf); };
    return complex(part(real(x)), part(imag(x)));
  }
  if (!is_floating(x.dtype())) return x.astype(x.dtype());
  Array result = x;
  const auto replace = [&](const Array& at, const Operand& by) {
    result = by.is_array() ? where(at, detail::as_array(by, x.dtype(), x.device()).broadcast_to(x.shape()), result)
                           : where(at, by, result);
  };
  const Array infinite = isinf(x);
  const double largest = largest_number(x.dtype());
  replace(isnan(x), nan);
  replace(logical_and(infinite, less(x, 0)), neginf.value_or(-largest));
  replace(logical_and(infinite, greater(x, 0)), posinf.value_or(largest));
  return result;
}
Array nan_to_num(const Array& x, const NanToNumOptions& options) {
  const double largest = is_inexact(x.dtype()) ? largest_number(part_dtype(x.dtype())) : 0;
  return nan_to_num(x, options.nan, options.posinf.value_or(largest), options.neginf.value_or(-largest));
}

Array around(const Array& x, int decimals) {
  if (is_complex(x.dtype())) return complex(around(real(x), decimals), around(imag(x), decimals));
  if (!is_floating(x.dtype())) {
    if (decimals >= 0) return x.astype(x.dtype() == Dtype::bool_ ? Dtype::float16 : x.dtype());
    return multiply(rint(divide(x, std::pow(10.0, -decimals))), std::pow(10.0, -decimals)).astype(x.dtype());
  }
  if (decimals == 0) return rint(x);
  const double scale = std::pow(10.0, std::abs(decimals));
  return decimals > 0 ? divide(rint(multiply(x, scale)), scale) : multiply(rint(divide(x, scale)), scale);
}
Array round(const Array& x, int decimals) { return around(x, decimals); }

Array fix(const Array& x) { return trunc(x); }

Array interp(const Array& x, const Array& xp, const Array& fp, std::optional<double> left,
             std::optional<double> right) {
  if (xp.ndim() != 1 || xp.shape() != fp.shape())
    fail<ShapeError>("interp: xp and fp must be 1-d and of equal length, shapes {} and {} were given", xp.shape(),
                     fp.shape());
  if (xp.size() == 0) fail<ValueError>("interp: there are no points");
  if (is_complex(fp.dtype())) {
    const auto none_of = [](const auto& end) { return end ? std::optional(0.0) : std::nullopt; };
    return complex(interp(x, xp, real(fp), left, right), interp(x, xp, imag(fp), none_of(left), none_of(right)));
  }
  const std::int64_t n = xp.size();
  const Dtype wide = widest_float(x.device());
  const Array at = as_dtype(x, wide), from = as_dtype(xp, wide), to = as_dtype(fp, wide);
  const Array first = slice_axis(to, 0, 0, 1), last = slice_axis(to, 0, n - 1, n);
  const Array below = less(at, slice_axis(from, 0, 0, 1)), above = greater(at, slice_axis(from, 0, n - 1, n));
  Array value;
  if (n == 1) {
    value = add(multiply(at, 0), first);
  } else {
    const Array i = minimum(maximum(subtract(searchsorted(from, at, Side::right), 1), 0), n - 2), j = add(i, 1);
    const Array x0 = take(from, i), x1 = take(from, j), y0 = take(to, i), y1 = take(to, j);
    const Array slope = divide(subtract(y1, y0), subtract(x1, x0));
    value = add(multiply(slope, subtract(at, x0)), y0);
    // where the first form gives NaN, use the other end, and then the common value of two equal ends
    value = where(isnan(value), add(multiply(slope, subtract(at, x1)), y1), value);
    value = where(logical_and(isnan(value), equal(y0, y1)), y0, value);
    value = where(equal(at, x0), y0, where(equal(at, x1), y1, value));
  }
  value = left ? where(below, *left, value) : where(below, first, value);
  value = right ? where(above, *right, value) : where(above, last, value);
  return value.reshape(x.shape());
}

namespace {

/// Returns the variables of an array as rows.
Array variables_of(const Array& m, bool rowvar, const char* what) {
  if (m.ndim() > 2)
    fail<ShapeError>("{}: at most two axes are allowed, an array of shape {} was given", what, m.shape());
  return m.ndim() < 2 ? m.reshape({1, m.size()}) : rowvar ? m : m.T();
}

/// Returns weights of n observations as `dtype`.
Array observed(const Array& weights, std::int64_t n, Dtype dtype, const char* what) {
  if (weights.shape() != Shape{n})
    fail<ShapeError>("cov: {} of shape {} were given for {} observations", what, weights.shape(), n);
  return as_dtype(weights, part_dtype(dtype));
}

/// Returns the covariances, always [variables, variables].
Array covariances(const Array& m, const std::optional<Array>& y, const CovOptions& options, const char* what) {
  Array rows = variables_of(m, options.rowvar, what);
  if (y) rows = concatenate({rows, variables_of(*y, options.rowvar, what)});
  const Dtype dtype = options.dtype.value_or(promote(rows.dtype(), widest_float(rows.device())));
  const std::int64_t n = rows.shape()[1];
  const double ddof = options.ddof.value_or(options.bias ? 0 : 1);
  if (ddof != std::floor(ddof)) fail<ValueError>("cov: ddof must be a whole number, {} was given", ddof);
  if (rows.size() == 0 && rows.shape()[0] == 0)  // NumPy returns float64 for every dtype
    return Array::empty({0, 0}, widest_float(rows.device()), rows.device());
  if (!is_inexact(dtype)) fail<DtypeError>("{}: dtype must be a floating one, not {}", what, dtype);
  if (options.fweights && is_floating(options.fweights->dtype()))
    fail<DtypeError>("cov: fweights are numbers of observations, {} was given", options.fweights->dtype());
  rows = as_dtype(rows, dtype);
  std::optional<Array> weights, accuracy;
  if (options.fweights) weights = observed(*options.fweights, n, dtype, "fweights");
  if (options.aweights) {
    accuracy = observed(*options.aweights, n, dtype, "aweights");
    weights = weights ? multiply(*weights, *accuracy) : *accuracy;
  }
  const Array deviation = subtract(rows, average(rows, 1, weights, true));
  Array products;
  if (weights) {
    const Array total = sum(*weights);
    const Array lost = accuracy ? divide(sum(multiply(*weights, *accuracy)), total) : ones_like(total);
    const Array count = subtract(total, multiply(lost, ddof));
    products = divide(matmul(multiply(deviation, *weights), conjugate(deviation.T())), maximum(count, 0));
  } else {
    products = divide(matmul(deviation, conjugate(deviation.T())), std::max(static_cast<double>(n) - ddof, 0.0));
  }
  return options.dtype ? as_dtype(products, dtype) : products;
}

Array matrix_or_number(const Array& c) { return c.size() == 1 ? c.reshape({}) : c; }

}  // namespace

Array cov(const Array& m, const std::optional<Array>& y, const CovOptions& options) {
  return matrix_or_number(covariances(m, y, options, "cov"));
}

Array corrcoef(const Array& m, const std::optional<Array>& y, bool rowvar, std::optional<Dtype> dtype) {
  const Array c = covariances(m, y, {.rowvar = rowvar, .dtype = dtype}, "corrcoef");
  const std::int64_t n = c.shape()[0];
  const Array deviation = sqrt(real(c.as_strided({n}, {n + 1}).copy()));
  const Array r = divide(divide(c, deviation.reshape({n, 1})), deviation);
  if (!is_complex(r.dtype())) return matrix_or_number(clip(r, -1.0, 1.0));
  return matrix_or_number(complex(clip(real(r), -1.0, 1.0), clip(imag(r), -1.0, 1.0)));
}

}  // namespace catenary
