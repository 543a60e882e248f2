// Order statistics: median, quantile, percentile.

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

/// The rows from which each result is computed, and their elements at selected positions of the sorted row.
struct Rows {
  Array rows;
  Shape result;  ///< the shape of the results, with or without the reduced axes
  std::int64_t n;
  std::vector<std::int64_t> places;
  Array elements;  ///< the elements at `places`

  Rows(const Array& x, const AxisArg& axis, bool keepdims, const char* what) {
    const Axes axes = axis.normalized(x.ndim(), what);
    rows = rows_over(x, axes);
    result = kept_shape(x.shape(), axis_bits(axes), keepdims);
    n = rows.shape().back();
  }
  /// Finds the elements that sorting would put at these positions and at the last one, where a NaN would be.
  void select(std::vector<std::int64_t> at) {
    places = std::move(at);
    if (is_inexact(rows.dtype())) places.push_back(n - 1);
    std::sort(places.begin(), places.end());
    places.erase(std::unique(places.begin(), places.end()), places.end());
    elements = detail::selected(rows, Selection::elements, places, false, static_cast<std::int64_t>(places.size()));
  }
  /// Returns the i-th smallest element of each row. Position i must be selected.
  Array at(std::int64_t i) const {
    const auto column = std::lower_bound(places.begin(), places.end(), i) - places.begin();
    return slice_axis(elements, elements.ndim() - 1, column, column + 1).reshape(result);
  }
  /// Returns `value`, but NaN for rows with a NaN, which would be the last element.
  Array unless_nan(const Array& value) const {
    return is_inexact(rows.dtype()) ? where(isnan(at(n - 1)), kNan, value) : value;
  }
};

/// Returns the mean of two values in the dtype of means, rounded once.
Array middle(const Array& low, const Array& high) {
  const Dtype result = mean_dtype(low.dtype());
  const Dtype as = is_16bit_float(result) ? Dtype::float32 : result;
  return as_dtype(divide(add(as_dtype(low, as), as_dtype(high, as)), 2.0), result);
}

/// How a method combines the sorted values to one value.
enum class Pick { between, lower, higher, nearest, nearest_odd, midpoint, averaged };
/// The position that a method uses: (n - 1) q, or n q + alpha + q (1 - alpha - beta) - 1. (Hyndman and Fan, Sample
/// Quantiles in Statistical Packages, 1996.)
struct Method {
  Pick pick;
  bool of_gaps = true;
  double alpha = 0, beta = 1;

  static Method of(QuantileMethod method) {
    static constexpr Method all[] = {{Pick::between},
                                     {Pick::lower},
                                     {Pick::higher},
                                     {Pick::midpoint},
                                     {Pick::nearest},
                                     {Pick::higher, false},
                                     {Pick::averaged, false},
                                     {Pick::nearest_odd, false, -0.5, 1.5},
                                     {Pick::between, false},
                                     {Pick::between, false, 0.5, 0.5},
                                     {Pick::between, false, 0, 0},
                                     {Pick::between, false, 1 / 3.0, 1 / 3.0},
                                     {Pick::between, false, 3 / 8.0, 3 / 8.0}};
    return all[static_cast<int>(method)];
  }
  /// Returns the position among n sorted values. n is a number, or an array with the count of each row.
  template <class N, class Q>
  N place(const N& n, Q q) const {
    if (of_gaps) return (n - Q(1)) * q;
    return n * q + (static_cast<Q>(alpha) + q * static_cast<Q>(1 - alpha - beta)) - Q(1);
  }
  /// Returns whether the result is a mean of values instead of one of them.
  bool computes() const { return pick == Pick::between || pick == Pick::midpoint || pick == Pick::averaged; }
};

/// Fractions of the values, with the precision in which positions are computed.
struct Fractions {
  std::vector<double> values;
  Dtype dtype = Dtype::float64;

  Fractions(const std::vector<double>& q, double scale, Dtype as, const char* what) : dtype(as) {
    for (const double value : q) {
      const double fraction = value / scale;
      if (!(fraction >= 0 && fraction <= 1))
        fail<ValueError>("{}: q must lie in [0, 1] (percentiles in [0, 100]), {} was given", what, value);
      values.push_back(as == Dtype::float64 ? fraction : static_cast<float>(fraction));
    }
  }
};

/// The two elements that a quantile is computed from, the weight of the higher one (share), and the rest.
struct Between {
  std::int64_t low = 0, high = 0;
  double share = 0, rest = 1;
};
template <class F>
Between between(F q, std::int64_t n, const Method& method) {
  const F place = method.place(static_cast<F>(n), q), below = std::floor(place);
  const auto at = [&](F i) { return std::clamp<std::int64_t>(static_cast<std::int64_t>(i), 0, n - 1); };
  F share = place - below;
  switch (method.pick) {
    case Pick::lower:
      return {at(below), at(below)};
    case Pick::higher:
      return {at(std::ceil(place)), at(std::ceil(place))};
    case Pick::nearest:
      return {at(std::nearbyint(place)), at(std::nearbyint(place))};
    case Pick::nearest_odd: {
      const F i = share == 0 && std::fmod(below, F(2)) != 0 ? below : below + 1;
      return {at(i), at(i)};
    }
    case Pick::midpoint:
      share = share > 0 ? F(0.5) : F(0);
      break;
    case Pick::averaged:
      share = share > 0 ? F(1) : F(0.5);
      break;
    case Pick::between:
      break;
  }
  return {at(below), at(below + 1), share, F(1) - share};
}

/// Interpolates from the nearer end, so that both ends are exact. Returns `result`, but computes the difference in the
/// arrays' dtype.
Array between(const Array& a, const Array& b, const Between& place, Dtype result) {
  const Array span = as_dtype(subtract(b, a), result);
  return place.share < 0.5 ? add(as_dtype(a, result), multiply(span, place.share))
                           : subtract(as_dtype(b, result), multiply(span, place.rest));
}

/// Computes quantiles as `result`, which is floating unless the method picks an element.
std::vector<Array> quantiles_of(Rows& rows, const Fractions& q, const Method& method, Dtype result) {
  std::vector<Between> all;
  std::vector<std::int64_t> places;
  for (const double value : q.values) {
    const Between place =
        all.emplace_back(q.dtype == Dtype::float64 ? between(value, rows.n, method)
                                                   : between(static_cast<float>(value), rows.n, method));
    places.insert(places.end(), {place.low, place.high});
  }
  rows.select(places);
  std::vector<Array> results;
  for (const Between& place : all) {
    const Array a = rows.at(place.low), b = rows.at(place.high);
    results.push_back(rows.unless_nan(place.low == place.high ? as_dtype(a, result) : between(a, b, place, result)));
  }
  return results;
}

/// Computes quantiles of the values that are not NaN. Each row has a separate count.
std::vector<Array> nan_quantiles_of(const Rows& rows, const Fractions& q, const Method& method, Dtype result) {
  const Array sorted = sort(rows.rows);  // NaN comes last
  const Array n = count_nonzero(logical_not(isnan(sorted)), -1, true).astype(widest_float(sorted.device())).eval();
  const auto at = [&](const Array& place) {
    const Array inside = maximum(minimum(place, subtract(n, 1)), 0);
    return take_along_axis(sorted, inside.astype(Dtype::int64), -1).reshape(rows.result);
  };
  std::vector<Array> results;
  for (const double value : q.values) {
    const Array place = method.place(n, value), below = floor(place), fraction = subtract(place, below);
    const auto pick = [&](const Array& i) { results.push_back(at(i)); };
    const auto mix = [&](const Array& part) {
      const Array share = part.reshape(rows.result).astype(result), a = at(below), b = at(add(below, 1));
      const Array span = as_dtype(subtract(b, a), result);
      const Array up = add(as_dtype(a, result), multiply(span, share));
      const Array down = subtract(as_dtype(b, result), multiply(span, subtract(1, share)));
      results.push_back(where(equal(a, b), as_dtype(a, result), where(less(share, 0.5), up, down)));
    };
    switch (method.pick) {
      case Pick::lower:
        pick(below);
        break;
      case Pick::higher:
        pick(ceil(place));
        break;
      case Pick::nearest:
        pick(rint(place));
        break;
      case Pick::nearest_odd:
        pick(where(logical_and(equal(fraction, 0), not_equal(remainder(below, 2), 0)), below, add(below, 1)));
        break;
      case Pick::midpoint:
        mix(multiply(ceil(fraction), 0.5));
        break;
      case Pick::averaged:
        mix(where(greater(fraction, 0), 1.0, 0.5));
        break;
      case Pick::between:
        mix(fraction);
    }
  }
  return results;
}

/// The elements that count: all, where one NaN makes the result NaN, or only numbers.
enum class Of { all, numbers };

/// Computes a quantile for each fraction, of rows with the shape given by `Rows`.
std::vector<Array> quantiles_of(Of of, Rows& rows, const Fractions& q, const Method& method, Dtype result) {
  if (of == Of::all || !is_floating(rows.rows.dtype())) return quantiles_of(rows, q, method, result);
  return nan_quantiles_of(rows, q, method, result);
}

void check_not_empty(const Rows& rows, const Array& x, const char* what) {
  if (is_complex(x.dtype())) detail::refuse_complex(x.dtype());
  if (rows.n == 0)
    fail<ValueError>("{}: there is no element along the reduced axes of an array of shape {}", what, x.shape());
}

Array quantiles(Of of, const Array& x, const Fractions& q, const AxisArg& axis, bool keepdims, QuantileMethod how,
                const char* what) {
  const Method method = Method::of(how);
  const Dtype dtype = method.computes() ? promote(x.dtype(), q.dtype) : x.dtype();
  Rows rows(method.computes() ? as_dtype(x, mean_dtype(x.dtype())) : x, axis, keepdims, what);
  check_not_empty(rows, x, what);
  Shape shape = rows.result;
  shape.insert(0, static_cast<std::int64_t>(q.values.size()));
  const Array out = Array::empty(shape, dtype, x.device());
  if (q.values.empty()) return out;
  const std::vector<Array> results = quantiles_of(of, rows, q, method, dtype);
  for (std::size_t i = 0; i < results.size(); ++i) {
    const auto row = static_cast<std::int64_t>(i);
    copyto(slice_axis(out, 0, row, row + 1), results[i]);
  }
  return out;
}

Array one_quantile(Of of, const Array& x, const Fractions& q, const AxisArg& axis, bool keepdims, QuantileMethod how,
                   const char* what) {
  const Method method = Method::of(how);
  const Dtype dtype = method.computes() ? mean_dtype(x.dtype()) : x.dtype();
  Rows rows(as_dtype(x, dtype), axis, keepdims, what);
  check_not_empty(rows, x, what);
  return quantiles_of(of, rows, q, method, dtype).front().copy();
}

/// Computes quantiles for an array of fractions, whose dtype takes part in the promotion.
Array quantiles(Of of, const Array& x, const Array& q, double scale, const AxisArg& axis, bool keepdims,
                QuantileMethod how, const char* what) {
  if (q.ndim() > 1)
    fail<ShapeError>("{}: q must be a number or have one axis, a shape of {} was given", what, q.shape());
  const Dtype dtype = is_floating(q.dtype()) ? q.dtype() : widest_float(x.device());
  const Fractions fractions(q.astype(Dtype::float64).to_vector<double>(), scale, dtype, what);
  const Array all = quantiles(of, x, fractions, axis, keepdims, how, what);
  return q.ndim() > 0 ? all : all.reshape(Shape(all.shape().data() + 1, all.ndim() - 1));
}

}  // namespace

Array median(const Array& x, const AxisArg& axis, bool keepdims) {
  Rows rows(x, axis, keepdims, "median");
  if (rows.n == 0) return detail::filled(rows.result, kNan, mean_dtype(x.dtype()), x.device());
  rows.select({(rows.n - 1) / 2, rows.n / 2});
  const Array high = rows.at(rows.n / 2);
  // a single middle element is the result; the mean of it with itself could overflow
  return rows.unless_nan(rows.n % 2 ? as_dtype(high, mean_dtype(x.dtype())) : middle(rows.at(rows.n / 2 - 1), high));
}

Array nanmedian(const Array& x, const AxisArg& axis, bool keepdims) {
  if (!is_inexact(x.dtype())) return median(x, axis, keepdims);
  const Rows rows(x, axis, keepdims, "nanmedian");
  if (rows.n == 0) return detail::filled(rows.result, kNan, x.dtype(), x.device());
  // Each row has a separate middle.
  const Array sorted = sort(rows.rows);
  const Array count = count_nonzero(logical_not(isnan(sorted)), -1, true);
  const Array low = take_along_axis(sorted, maximum(floor_divide(subtract(count, 1), 2), 0), -1);
  const Array high = take_along_axis(sorted, floor_divide(count, 2), -1);
  return where(remainder(count, 2), low, middle(low, high)).reshape(rows.result);
}

#define CT_QUANTILE(name, of, scale)                                                                         \
  Array name(const Array& x, double q, const AxisArg& axis, bool keepdims, QuantileMethod method) {          \
    return one_quantile(of, x, Fractions({q}, scale, Dtype::float64, #name), axis, keepdims, method, #name); \
  }                                                                                                          \
  Array name(const Array& x, const std::vector<double>& q, const AxisArg& axis, bool keepdims,               \
             QuantileMethod method) {                                                                        \
    const Fractions fractions(q, scale, widest_float(x.device()), #name);                                    \
    return quantiles(of, x, fractions, axis, keepdims, method, #name);                                       \
  }                                                                                                          \
  Array name(const Array& x, const Array& q, const AxisArg& axis, bool keepdims, QuantileMethod method) {    \
    return quantiles(of, x, q, scale, axis, keepdims, method, #name);                                        \
  }
CT_QUANTILE(quantile, Of::all, 1)
CT_QUANTILE(percentile, Of::all, 100)
CT_QUANTILE(nanquantile, Of::numbers, 1)
CT_QUANTILE(nanpercentile, Of::numbers, 100)
#undef CT_QUANTILE

}  // namespace catenary
