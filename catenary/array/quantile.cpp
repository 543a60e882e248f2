// The statistics of order: median, quantile, percentile.

#include <algorithm>
#include <cmath>
#include <limits>

#include "catenary/array/axes.h"
#include "catenary/array/elementwise_core.h"
#include "catenary/array/indexing.h"
#include "catenary/array/reduction.h"
#include "catenary/array/sorting.h"
#include "catenary/core/format.h"
#include "catenary/device/float64.h"
#include "catenary/device/primitives.h"

namespace catenary {

using detail::as_dtype;
using detail::axis_bits;
using detail::kept_shape;
using detail::mean_dtype;
using detail::rows_over;
using detail::slice_axis;

namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

/// What each result comes from in one row, of which some elements are needed in their order.
struct Rows {
  Array rows;
  Shape result;  ///< what a row turns into, with or without the reduced axes
  std::int64_t n;
  std::vector<std::int64_t> places;
  Array elements;  ///< those at `places`

  Rows(const Array& x, const AxisArg& axis, bool keepdims, const char* what) {
    const Axes axes = axis.normalized(x.ndim(), what);
    rows = rows_over(x, axes);
    result = kept_shape(x.shape(), axis_bits(axes), keepdims);
    n = rows.shape().back();
  }
  /// Finds what sorting would put at these places, and the last, where a NaN would be.
  void select(std::vector<std::int64_t> at) {
    places = std::move(at);
    if (is_floating(rows.dtype())) places.push_back(n - 1);
    std::sort(places.begin(), places.end());
    places.erase(std::unique(places.begin(), places.end()), places.end());
    elements = detail::selected(rows, Selection::elements, places, false, static_cast<std::int64_t>(places.size()));
  }
  /// The i-th smallest of each row, one of those selected.
  Array at(std::int64_t i) const {
    const auto column = std::lower_bound(places.begin(), places.end(), i) - places.begin();
    return slice_axis(elements, elements.ndim() - 1, column, column + 1).reshape(result);
  }
  /// `value`, but NaN where a row has one: it is the last.
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

void check_fraction(double q, const char* what) {
  if (!(q >= 0 && q <= 1))
    fail<ValueError>("{}: q must lie in [0, 1] (percentiles in [0, 100]), {} was given", what, q);
}

/// The elements that a quantile is made of, and how much of the higher one is in it.
struct Between {
  std::int64_t low, high;
  double fraction;

  Between(double q, std::int64_t n, QuantileMethod method, const char* what) {
    check_fraction(q, what);
    const double position = q * static_cast<double>(n - 1);
    low = static_cast<std::int64_t>(std::floor(position));
    high = std::min(low + 1, n - 1);
    fraction = position - static_cast<double>(low);
    switch (method) {
      case QuantileMethod::linear:
        return;
      case QuantileMethod::midpoint:
        fraction = fraction > 0 ? 0.5 : 0;
        return;
      case QuantileMethod::lower:
        high = low;
        break;
      case QuantileMethod::higher:
        low = high = fraction > 0 ? high : low;
        break;
      case QuantileMethod::nearest:
        low = high = static_cast<std::int64_t>(std::nearbyint(position));
        break;
    }
    fraction = 0;
  }
};

/// Between a and b, from the nearer end, so that the ends are met exactly; as `result`, but the difference is theirs.
Array between(const Array& a, const Array& b, double fraction, Dtype result) {
  const Array span = as_dtype(subtract(b, a), result);
  return fraction < 0.5 ? add(as_dtype(a, result), multiply(span, fraction))
                        : subtract(as_dtype(b, result), multiply(span, 1 - fraction));
}

/// Quantiles as `result`: floating, unless the method picks an element.
std::vector<Array> quantiles_of(Rows& rows, const std::vector<double>& q, double scale, QuantileMethod method,
                                Dtype result, const char* what) {
  std::vector<Between> all;
  std::vector<std::int64_t> places;
  for (const double value : q) {
    const Between place = all.emplace_back(value / scale, rows.n, method, what);
    places.insert(places.end(), {place.low, place.high});
  }
  rows.select(places);
  std::vector<Array> results;
  for (const Between& place : all) {
    const Array a = rows.at(place.low), b = rows.at(place.high);
    results.push_back(
        rows.unless_nan(place.low == place.high ? as_dtype(a, result) : between(a, b, place.fraction, result)));
  }
  return results;
}

/// Quantiles of what is not NaN: each row has places of its own, counted here as fractions of its numbers.
std::vector<Array> nan_quantiles_of(const Rows& rows, const std::vector<double>& q, double scale, QuantileMethod method,
                                    Dtype result, const char* what) {
  const Array sorted = sort(rows.rows);  // NaN comes last
  const Array last = subtract(count_nonzero(logical_not(isnan(sorted)), -1, true), 1).eval();
  const Array place_of_last = last.astype(widest_float(last.device()));
  const auto at = [&](const Array& place) {
    return take_along_axis(sorted, maximum(place, 0).astype(Dtype::int64), -1).reshape(rows.result);
  };
  std::vector<Array> results;
  for (const double value : q) {
    check_fraction(value / scale, what);
    const Array place = multiply(place_of_last, value / scale), low = floor(place);
    const Array high = minimum(add(low, 1), place_of_last), fraction = subtract(place, low);
    switch (method) {
      case QuantileMethod::lower:
        results.push_back(at(low));
        break;
      case QuantileMethod::higher:
        results.push_back(at(ceil(place)));
        break;
      case QuantileMethod::nearest:
        results.push_back(at(rint(place)));
        break;
      default: {
        const bool midpoint = method == QuantileMethod::midpoint;
        const Array part = midpoint ? multiply(ceil(fraction), 0.5) : fraction;
        const Array share = part.reshape(rows.result).astype(result), a = at(low), b = at(high);
        const Array span = as_dtype(subtract(b, a), result);
        const Array up = add(as_dtype(a, result), multiply(span, share));
        const Array down = subtract(as_dtype(b, result), multiply(span, subtract(1, share)));
        results.push_back(where(equal(a, b), as_dtype(a, result), where(less(share, 0.5), up, down)));
      }
    }
  }
  return results;
}

bool interpolates(QuantileMethod method) {
  return method == QuantileMethod::linear || method == QuantileMethod::midpoint;
}

/// Which elements count: all, and one NaN makes the result NaN, or those that are not NaN.
enum class Of { all, numbers };

std::vector<Array> quantiles_of(Of of, Rows& rows, const std::vector<double>& q, double scale, QuantileMethod method,
                                Dtype result, const char* what) {
  if (of == Of::all || !is_floating(rows.rows.dtype())) return quantiles_of(rows, q, scale, method, result, what);
  return nan_quantiles_of(rows, q, scale, method, result, what);
}

void check_not_empty(const Rows& rows, const Array& x, const char* what) {
  if (rows.n == 0)
    fail<ValueError>("{}: there is no element along the reduced axes of an array of shape {}", what, x.shape());
}

Array quantiles(Of of, const Array& x, const std::vector<double>& q, double scale, const AxisArg& axis, bool keepdims,
                QuantileMethod method, const char* what) {
  // NumPy's q array is float64 and the result with it, where the device has that.
  const Dtype dtype = interpolates(method) ? promote(mean_dtype(x.dtype()), widest_float(x.device())) : x.dtype();
  Rows rows(interpolates(method) ? as_dtype(x, mean_dtype(x.dtype())) : x, axis, keepdims, what);
  check_not_empty(rows, x, what);
  Shape shape = rows.result;
  shape.insert(0, static_cast<std::int64_t>(q.size()));
  const Array out = Array::empty(shape, dtype, x.device());
  if (q.empty()) return out;
  const std::vector<Array> results = quantiles_of(of, rows, q, scale, method, dtype, what);
  for (std::size_t i = 0; i < q.size(); ++i) {
    const auto row = static_cast<std::int64_t>(i);
    copyto(slice_axis(out, 0, row, row + 1).reshape(rows.result), results[i]);
  }
  return out;
}

Array one_quantile(Of of, const Array& x, double q, double scale, const AxisArg& axis, bool keepdims,
                   QuantileMethod method, const char* what) {
  const Dtype dtype = interpolates(method) ? mean_dtype(x.dtype()) : x.dtype();
  Rows rows(as_dtype(x, dtype), axis, keepdims, what);
  check_not_empty(rows, x, what);
  return quantiles_of(of, rows, {q}, scale, method, dtype, what).front().copy();
}

}  // namespace

Array median(const Array& x, const AxisArg& axis, bool keepdims) {
  Rows rows(x, axis, keepdims, "median");
  if (rows.n == 0) return detail::filled(rows.result, kNan, mean_dtype(x.dtype()), x.device());
  rows.select({(rows.n - 1) / 2, rows.n / 2});
  return rows.unless_nan(middle(rows.at((rows.n - 1) / 2), rows.at(rows.n / 2)));
}

Array nanmedian(const Array& x, const AxisArg& axis, bool keepdims) {
  if (!is_floating(x.dtype())) return median(x, axis, keepdims);
  const Rows rows(x, axis, keepdims, "nanmedian");
  if (rows.n == 0) return detail::filled(rows.result, kNan, x.dtype(), x.device());
  // Each row has a middle of its own.
  const Array sorted = sort(rows.rows);
  const Array count = count_nonzero(logical_not(isnan(sorted)), -1, true);
  const Array low = take_along_axis(sorted, maximum(floor_divide(subtract(count, 1), 2), 0), -1);
  const Array high = take_along_axis(sorted, floor_divide(count, 2), -1);
  return middle(low, high).reshape(rows.result);
}

#define CT_QUANTILE(name, of, scale)                                                                \
  Array name(const Array& x, double q, const AxisArg& axis, bool keepdims, QuantileMethod method) { \
    return one_quantile(of, x, q, scale, axis, keepdims, method, #name);                            \
  }                                                                                                 \
  Array name(const Array& x, const std::vector<double>& q, const AxisArg& axis, bool keepdims,      \
             QuantileMethod method) {                                                               \
    return quantiles(of, x, q, scale, axis, keepdims, method, #name);                               \
  }
CT_QUANTILE(quantile, Of::all, 1)
CT_QUANTILE(percentile, Of::all, 100)
CT_QUANTILE(nanquantile, Of::numbers, 1)
CT_QUANTILE(nanpercentile, Of::numbers, 100)
#undef CT_QUANTILE

}  // namespace catenary
