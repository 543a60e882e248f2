#include "catenary/array/statistics.h"

#include <cmath>
#include <limits>

#include "catenary/array/axes.h"
#include "catenary/array/elementwise_core.h"
#include "catenary/array/indexing.h"
#include "catenary/array/linalg.h"
#include "catenary/array/reduction.h"
#include "catenary/array/sorting.h"
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
  // An infinite b makes the bound infinite, and infinities of one sign differ by NaN.
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
  if (equal_nan && is_floating(a.dtype()) && is_floating(b.dtype()))
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

Array nan_to_num(const Array& x, const NanToNumOptions& options) {
  if (!is_floating(x.dtype())) return x.astype(x.dtype());
  const double largest = largest_number(x.dtype());
  const Array finite = where(isnan(x), options.nan, x);
  const Array infinite = isinf(x);
  const Array above = logical_and(infinite, greater(x, 0)), below = logical_and(infinite, less(x, 0));
  return where(above, options.posinf.value_or(largest), where(below, options.neginf.value_or(-largest), finite));
}

Array around(const Array& x, int decimals) {
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
    fail<ShapeError>("interp: xp and fp must be 1-d and of one length, shapes {} and {} were given", xp.shape(),
                     fp.shape());
  if (xp.size() == 0) fail<ValueError>("interp: there are no points");
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
    value = add(multiply(divide(subtract(y1, y0), subtract(x1, x0)), subtract(at, x0)), y0);
    value = where(equal(at, x1), y1, value);
  }
  value = left ? where(below, *left, value) : where(below, first, value);
  value = right ? where(above, *right, value) : where(above, last, value);
  return value.reshape(x.shape());
}

namespace {

/// The covariances, always [variables, variables].
Array covariances(const Array& m, const CovOptions& options, const char* what) {
  if (m.ndim() > 2)
    fail<ShapeError>("{}: at most two axes are allowed, an array of shape {} was given", what, m.shape());
  const Array x = as_dtype(m, promote(m.dtype(), widest_float(m.device())));
  Array rows = x.ndim() < 2 ? x.reshape({1, x.size()}) : options.rowvar ? x : x.T();
  const auto n = static_cast<double>(rows.shape()[1]);
  const Array deviation = subtract(rows, mean(rows, 1, true));
  return divide(matmul(deviation, deviation.T()), std::max(n - options.ddof.value_or(options.bias ? 0 : 1), 0.0));
}

}  // namespace

Array cov(const Array& m, const CovOptions& options) {
  const Array c = covariances(m, options, "cov");
  return c.size() == 1 ? c.reshape({}) : c;
}

Array corrcoef(const Array& m, bool rowvar) {
  const Array c = covariances(m, {.rowvar = rowvar}, "corrcoef");
  const std::int64_t n = c.shape()[0];
  const Array deviation = sqrt(c.as_strided({n}, {n + 1}).copy());
  const Array r = divide(divide(c, deviation.reshape({n, 1})), deviation);
  const Array clipped = clip(r, -1.0, 1.0);
  return n == 1 ? clipped.reshape({}) : clipped;
}

}  // namespace catenary
