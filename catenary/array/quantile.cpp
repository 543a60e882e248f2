// The statistics of order: median, quantile, percentile.

#include <cmath>
#include <limits>

#include "catenary/array/axes.h"
#include "catenary/array/elementwise.h"
#include "catenary/array/indexing.h"
#include "catenary/array/reduction.h"
#include "catenary/array/sorting.h"
#include "catenary/core/format.h"

namespace catenary {

using detail::as_dtype;
using detail::axis_bits;
using detail::kept_shape;
using detail::mean_dtype;
using detail::rows_over;
using detail::slice_axis;

namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

/// The sorted values of each result in one row.
struct SortedRows {
  Array rows;
  Shape result;  ///< what a row turns into, with or without the reduced axes
  std::int64_t n;

  SortedRows(const Array& x, const AxisArg& axis, bool keepdims, const char* what) {
    const Axes axes = axis.normalized(x.ndim(), what);
    rows = sort(rows_over(x, axes));
    result = kept_shape(x.shape(), axis_bits(axes), keepdims);
    n = rows.shape().back();
  }
  /// The i-th smallest of each row.
  Array at(std::int64_t i) const { return slice_axis(rows, rows.ndim() - 1, i, i + 1).reshape(result); }
  /// `value`, but NaN where a row has one: sorting puts it last.
  Array unless_nan(const Array& value) const {
    return is_floating(rows.dtype()) ? where(isnan(at(n - 1)), kNan, value) : value;
  }
};

/// The mean of two values in the dtype of a mean, rounded once.
Array middle(const Array& low, const Array& high) {
  const Dtype result = mean_dtype(low.dtype());
  const Dtype as = is_16bit_float(result) ? Dtype::float32 : result;
  return as_dtype(divide(add(as_dtype(low, as), as_dtype(high, as)), 2.0), result);
}

/// One quantile in the dtype of `rows` (floating, unless the method picks an element).
Array quantile_of(const SortedRows& sorted, double q, QuantileMethod method, const char* what) {
  if (!(q >= 0 && q <= 1))
    fail<ValueError>("{}: q must lie in [0, 1] (percentiles in [0, 100]), {} was given", what, q);
  const double position = q * static_cast<double>(sorted.n - 1);
  const auto low = static_cast<std::int64_t>(std::floor(position));
  const auto high = std::min(low + 1, sorted.n - 1);
  double fraction = position - static_cast<double>(low);
  switch (method) {
    case QuantileMethod::linear:
      break;
    case QuantileMethod::lower:
      return sorted.unless_nan(sorted.at(low));
    case QuantileMethod::higher:
      return sorted.unless_nan(sorted.at(fraction > 0 ? high : low));
    case QuantileMethod::nearest:
      return sorted.unless_nan(sorted.at(static_cast<std::int64_t>(std::nearbyint(position))));
    case QuantileMethod::midpoint:
      fraction = fraction > 0 ? 0.5 : 0;
      break;
  }
  const Array a = sorted.at(low), b = sorted.at(high);
  const Array span = subtract(b, a);
  // From the nearer end, so that the ends are met exactly.
  return sorted.unless_nan(fraction < 0.5 ? add(a, multiply(span, fraction))
                                          : subtract(b, multiply(span, 1 - fraction)));
}

bool interpolates(QuantileMethod method) {
  return method == QuantileMethod::linear || method == QuantileMethod::midpoint;
}

void check_not_empty(const SortedRows& sorted, const Array& x, const char* what) {
  if (sorted.n == 0)
    fail<ValueError>("{}: there is no element along the reduced axes of an array of shape {}", what, x.shape());
}

Array quantiles(const Array& x, const std::vector<double>& q, double scale, const AxisArg& axis,
                const QuantileOptions& options, const char* what) {
  // NumPy's q array is float64 and the result with it.
  const Dtype dtype = interpolates(options.method) ? promote(mean_dtype(x.dtype()), Dtype::float64) : x.dtype();
  const SortedRows sorted(as_dtype(x, dtype), axis, options.keepdims, what);
  check_not_empty(sorted, x, what);
  Shape shape = sorted.result;
  shape.insert(0, static_cast<std::int64_t>(q.size()));
  const Array out = Array::empty(shape, dtype, x.device());
  for (std::size_t i = 0; i < q.size(); ++i) {
    const auto row = static_cast<std::int64_t>(i);
    copyto(slice_axis(out, 0, row, row + 1).reshape(sorted.result),
           quantile_of(sorted, q[i] / scale, options.method, what));
  }
  return out;
}

Array one_quantile(const Array& x, double q, const AxisArg& axis, const QuantileOptions& options, const char* what) {
  const Dtype dtype = interpolates(options.method) ? mean_dtype(x.dtype()) : x.dtype();
  const SortedRows sorted(as_dtype(x, dtype), axis, options.keepdims, what);
  check_not_empty(sorted, x, what);
  return quantile_of(sorted, q, options.method, what).copy();
}

}  // namespace

Array median(const Array& x, const AxisArg& axis, bool keepdims) {
  const SortedRows sorted(x, axis, keepdims, "median");
  if (sorted.n == 0) return detail::filled(sorted.result, kNan, mean_dtype(x.dtype()), x.device());
  return sorted.unless_nan(middle(sorted.at((sorted.n - 1) / 2), sorted.at(sorted.n / 2)));
}

Array nanmedian(const Array& x, const AxisArg& axis, bool keepdims) {
  if (!is_floating(x.dtype())) return median(x, axis, keepdims);
  const SortedRows sorted(x, axis, keepdims, "nanmedian");
  if (sorted.n == 0) return detail::filled(sorted.result, kNan, x.dtype(), x.device());
  const Array count = count_nonzero(logical_not(isnan(sorted.rows)), -1, true);
  const Array low = take_along_axis(sorted.rows, maximum(floor_divide(subtract(count, 1), 2), 0), -1);
  const Array high = take_along_axis(sorted.rows, floor_divide(count, 2), -1);
  return middle(low, high).reshape(sorted.result);
}

Array quantile(const Array& x, double q, const AxisArg& axis, const QuantileOptions& options) {
  return one_quantile(x, q, axis, options, "quantile");
}
Array quantile(const Array& x, const std::vector<double>& q, const AxisArg& axis, const QuantileOptions& options) {
  return quantiles(x, q, 1, axis, options, "quantile");
}
Array percentile(const Array& x, double q, const AxisArg& axis, const QuantileOptions& options) {
  return one_quantile(x, q / 100, axis, options, "percentile");
}
Array percentile(const Array& x, const std::vector<double>& q, const AxisArg& axis, const QuantileOptions& options) {
  return quantiles(x, q, 100, axis, options, "percentile");
}

}  // namespace catenary
