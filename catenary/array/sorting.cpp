#include "catenary/array/sorting.h"

#include <algorithm>
#include <cmath>
#include <tuple>

#include "catenary/array/axes.h"
#include "catenary/array/body.h"
#include "catenary/array/elementwise_core.h"
#include "catenary/array/indexing.h"
#include "catenary/array/manipulation.h"
#include "catenary/array/reduction.h"
#include "catenary/core/format.h"
#include "catenary/device/float64.h"

namespace catenary {

using detail::as_dtype;
using detail::axis_from_end;
using detail::axis_to_end;
using detail::check_same_device;
using detail::filled;
using detail::reverse_last;
using detail::selected;
using detail::slice_axis;

namespace {

/// What is sorted: x with `axis` last, or flattened; `axis` becomes the axis that the rows come from.
Array rows_of(const Array& x, const std::optional<int>& axis, int& from, const char* what) {
  if (!axis) {
    from = 0;
    return x.reshape({-1});
  }
  from = normalize_axis(*axis, x.ndim(), what);
  return axis_to_end(x, from);
}

/// Sorts along the last axis into a new array.
Array sorted_rows(const Array& rows) {
  const Array out = Array::empty(rows.shape(), rows.dtype(), rows.device());
  Array keep;
  if (out.size() > 0) compute(out.device(), primitives::Sort{readable_contiguous(rows, keep), writable(out)});
  return out;
}

Array argsorted_rows(const Array& rows) {
  const Array out = Array::empty(rows.shape(), Dtype::int64, rows.device());
  Array keep;
  if (out.size() > 0) compute(out.device(), primitives::Argsort{readable_contiguous(rows, keep), writable(out)});
  return out;
}

/// The places ascending, each once, from 0 on. Throws ValueError for one that is out of range, or for none.
std::vector<std::int64_t> places_of(std::vector<std::int64_t> kth, std::int64_t n, const char* what) {
  if (kth.empty()) fail<ValueError>("{}: at least one kth is needed", what);
  for (std::int64_t& k : kth) {
    if (k < -n || k >= n) fail<ValueError>("{}: kth = {} is out of range for {} elements", what, k, n);
    if (k < 0) k += n;
  }
  std::sort(kth.begin(), kth.end());
  kth.erase(std::unique(kth.begin(), kth.end()), kth.end());
  return kth;
}

/// For ascending 1-d values: which differ from the one before? (The first one does.) NaN equals NaN.
Array starts_group(const Array& sorted) {
  const std::int64_t n = sorted.size();
  const Array out = Array::empty({n}, Dtype::bool_, sorted.device());
  if (n == 0) return out;
  const Array before = slice_axis(sorted, 0, 0, n - 1), after = slice_axis(sorted, 0, 1, n);
  Array differs = not_equal(before, after);
  if (is_floating(sorted.dtype()))
    differs = logical_and(differs, logical_not(logical_and(isnan(before), isnan(after))));
  copyto(slice_axis(out, 0, 0, 1), true);
  copyto(slice_axis(out, 0, 1, n), differs);
  return out;
}

void check_1d(const Array& x, const char* what) {
  if (x.ndim() != 1) fail<ShapeError>("{}: a 1-d array is needed, one of shape {} was given", what, x.shape());
}

bool ascends(const Array& x) {
  const std::int64_t n = x.size();
  return n < 2 || all(less_equal(slice_axis(x, 0, 0, n - 1), slice_axis(x, 0, 1, n))).item<bool>();
}

}  // namespace

Array sort(const Array& x, std::optional<int> axis) {
  int from;
  const Array rows = rows_of(x, axis, from, "sort");
  return axis_from_end(sorted_rows(rows), from);
}

Array argsort(const Array& x, std::optional<int> axis) {
  int from;
  const Array rows = rows_of(x, axis, from, "argsort");
  return axis_from_end(argsorted_rows(rows), from);
}

namespace detail {
Array selected(const Array& rows, Selection what, const std::vector<std::int64_t>& kth, bool descending,
               std::int64_t places) {
  Shape shape = rows.shape();
  shape[shape.size() - 1] = places;
  const Array out = Array::empty(shape, what == Selection::indices ? Dtype::int64 : rows.dtype(), rows.device());
  if (out.size() == 0) return out;
  Array keep;
  const View from = readable_contiguous(rows, keep);
  compute(out.device(), primitives::Select{what, descending, from, kth, writable(out)});
  return out;
}
}  // namespace detail

Array partition(const Array& x, const std::vector<std::int64_t>& kth, std::optional<int> axis) {
  int from;
  const Array rows = rows_of(x, axis, from, "partition");
  const std::int64_t n = rows.shape().back();
  const std::vector<std::int64_t> places = places_of(kth, n, "partition");
  return axis_from_end(selected(rows, Selection::partition, places, false, n), from);
}
Array partition(const Array& x, std::int64_t kth, std::optional<int> axis) {
  return partition(x, std::vector<std::int64_t>{kth}, axis);
}

Array argpartition(const Array& x, const std::vector<std::int64_t>& kth, std::optional<int> axis) {
  int from;
  const Array rows = rows_of(x, axis, from, "argpartition");
  const std::int64_t n = rows.shape().back();
  const std::vector<std::int64_t> places = places_of(kth, n, "argpartition");
  return axis_from_end(selected(rows, Selection::indices, places, false, n), from);
}
Array argpartition(const Array& x, std::int64_t kth, std::optional<int> axis) {
  return argpartition(x, std::vector<std::int64_t>{kth}, axis);
}

Array lexsort(const std::vector<Array>& keys) {
  if (keys.empty()) fail<ValueError>("lexsort: at least one key is needed");
  for (const Array& key : keys) {
    check_1d(key, "lexsort");
    check_same_device(keys[0], key, "lexsort");
    if (key.size() != keys[0].size())
      fail<ShapeError>("lexsort: keys of {} and {} elements", keys[0].size(), key.size());
  }
  Array order = argsorted_rows(keys[0]);
  for (std::size_t i = 1; i < keys.size(); ++i) order = take(order, argsorted_rows(take(keys[i], order)));
  return order;
}

Array lexsort(const Array& keys) {
  if (keys.ndim() != 2)
    fail<ShapeError>("lexsort: a 2-d array of keys is needed, one of shape {} was given", keys.shape());
  std::vector<Array> rows;
  for (std::int64_t i = 0; i < keys.shape()[0]; ++i) rows.push_back(slice_axis(keys, 0, i, i + 1).reshape({-1}));
  return lexsort(rows);
}

std::pair<Array, Array> topk(const Array& x, std::int64_t k, int axis, bool largest) {
  const int from = normalize_axis(axis, x.ndim(), "topk");
  const Array rows = axis_to_end(x, from);
  const int last = rows.ndim() - 1;
  const std::int64_t n = rows.shape().back();
  if (k < 0 || k > n) fail<ValueError>("topk: k = {} is out of range for {} elements", k, n);
  if (k == 0) {
    const Array none = slice_axis(rows, last, 0, 0);
    return {axis_from_end(none.copy(), from), axis_from_end(none.astype(Dtype::int64), from)};
  }
  // Those that belong to it, the first of equals first; then these in order.
  const Array chosen = k < n ? selected(rows, Selection::indices, {k - 1}, largest, k) : Array();
  const Array among = k < n ? take_along_axis(rows, chosen, -1) : rows;
  // From behind, a stable ascending sort of the reversed row has the first of equal elements first.
  const Array order =
      largest ? subtract(k - 1, reverse_last(argsorted_rows(reverse_last(among)))) : argsorted_rows(among);
  const Array values = take_along_axis(among, order, -1);
  const Array indices = k < n ? take_along_axis(chosen, order, -1) : order.contiguous();
  return {axis_from_end(values, from), axis_from_end(indices, from)};
}

Array searchsorted(const Array& sorted, const Operand& values, Side side) {
  check_1d(sorted, "searchsorted");
  const Dtype dtype = result_type(sorted, values);
  const Array wanted = detail::as_array(values, dtype, sorted.device());
  check_same_device(sorted, wanted, "searchsorted");
  const Array out = Array::empty(wanted.shape(), Dtype::int64, sorted.device());
  if (out.size() == 0) return out;
  Array keep_sorted, keep_wanted;
  const View rows = readable_contiguous(as_dtype(sorted, dtype), keep_sorted);
  const View what = readable_contiguous(wanted, keep_wanted);
  compute(out.device(), primitives::Searchsorted{rows, what, side == Side::right, writable(out)});
  return out;
}

Array digitize(const Array& x, const Array& bins, bool right) {
  check_1d(bins, "digitize");
  const Side side = right ? Side::left : Side::right;
  if (ascends(bins)) return searchsorted(bins, x, side);
  const Array reversed = reverse_last(bins);
  if (!ascends(reversed)) fail<ValueError>("digitize: bins must ascend or descend");
  return subtract(bins.size(), searchsorted(reversed, x, side));
}

Array unique(const Array& x) {
  const Array sorted = sort(x, std::nullopt);
  return take(sorted, flatnonzero(starts_group(sorted)));
}

UniqueResult unique(const Array& x, const UniqueOptions& options) {
  const Array flat = x.reshape({-1});
  const Array order = argsorted_rows(flat);
  const Array sorted = take(flat, order);
  const Array mask = starts_group(sorted);
  const Array first = flatnonzero(mask);
  UniqueResult result;
  result.values = take(sorted, first);
  if (options.return_index) result.index = take(order, first);
  if (options.return_inverse) {
    result.inverse = Array::empty(flat.shape(), Dtype::int64, x.device());
    if (flat.size() > 0) {
      Array keep_order, keep_group;
      const View at = readable_contiguous(order, keep_order);
      const View group = readable_contiguous(subtract(cumsum(mask), 1), keep_group);
      compute(x.device(), primitives::Scatter{writable(result.inverse), {at}, group, ScatterMode::assign});
    }
    result.inverse = result.inverse.reshape(x.shape());
  }
  if (options.return_counts) result.counts = diff(append(first, filled({1}, flat.size(), Dtype::int64, x.device())));
  return result;
}

Array isin(const Array& x, const Array& values, bool invert) {
  check_same_device(x, values, "isin");
  const Dtype dtype = promote(x.dtype(), values.dtype());
  const Array sorted = sort(as_dtype(values, dtype), std::nullopt);
  if (sorted.size() == 0) return filled(x.shape(), invert, Dtype::bool_, x.device());
  const Array as = as_dtype(x, dtype);
  const Array found = take(sorted, minimum(searchsorted(sorted, as), sorted.size() - 1));
  return invert ? not_equal(found, as) : equal(found, as);
}

Array in1d(const Array& x, const Array& values, bool invert) { return isin(x.reshape({-1}), values, invert); }

Array intersect1d(const Array& a, const Array& b) {
  const Dtype dtype = promote(a.dtype(), b.dtype());
  const Array values = unique(as_dtype(a, dtype));
  return take(values, flatnonzero(isin(values, b)));
}

Array union1d(const Array& a, const Array& b) {
  check_same_device(a, b, "union1d");
  return unique(append(a, b));
}

Array setdiff1d(const Array& a, const Array& b) {
  const Array values = unique(a);
  return take(values, flatnonzero(isin(values, b, true)));
}

Array bincount(const Array& x, const std::optional<Array>& weights, std::int64_t minlength) {
  check_1d(x, "bincount");
  if (is_floating(x.dtype())) fail<DtypeError>("bincount: integers are needed, {} was given", x.dtype());
  if (minlength < 0) fail<ValueError>("bincount: minlength must not be negative, {} was given", minlength);
  if (weights && weights->shape() != x.shape())
    fail<ShapeError>("bincount: weights of shape {} for values of shape {}", weights->shape(), x.shape());
  const Array at = as_dtype(x, Dtype::int64);
  std::int64_t length = minlength;
  if (at.size() > 0) {
    const std::int64_t smallest = min(at).item<std::int64_t>();
    if (smallest < 0) fail<ValueError>("bincount: values must not be negative, {} is among them", smallest);
    length = std::max(length, max(at).item<std::int64_t>() + 1);
  }
  const Dtype dtype = weights ? widest_float(x.device()) : Dtype::int64;
  const Array out = filled({length}, 0, dtype, x.device());
  if (at.size() == 0) return out;
  const Array amount = weights ? as_dtype(*weights, dtype) : filled(at.shape(), 1, dtype, x.device());
  check_same_device(x, amount, "bincount");
  Array keep_at, keep_amount;
  const View indices = readable_contiguous(at, keep_at);
  const View values = readable_contiguous(amount, keep_amount);
  compute(x.device(), primitives::Scatter{writable(out), {indices}, values, ScatterMode::add});
  return out;
}

namespace {

/// The bin of each of x's elements between ascending edges, the last of which belongs to the last bin; what lies
/// outside is in one bin more.
Array bins_of(const Array& x, const Array& edges, const char* what) {
  check_1d(edges, what);
  check_same_device(x, edges, what);
  const std::int64_t bins = edges.size() - 1;
  if (bins < 1) fail<ValueError>("{}: at least two edges are needed, {} were given", what, edges.size());
  if (!ascends(edges)) fail<ValueError>("{}: the edges must ascend", what);
  const Array flat = x.reshape({-1});
  const Array first = slice_axis(edges, 0, 0, 1), last = slice_axis(edges, 0, bins, bins + 1);
  const Array bin = minimum(subtract(searchsorted(edges, flat, Side::right), 1), bins - 1);
  return where(logical_and(greater_equal(flat, first), less_equal(flat, last)), bin, bins);
}

/// Edges, as `dtype`, of bins of equal width over a range, or over all of x.
Array equal_bins(const Array& x, std::int64_t bins, const std::optional<std::pair<double, double>>& range, Dtype dtype,
                 const char* what) {
  if (bins < 1) fail<ValueError>("{}: at least one bin is needed, bins = {} was given", what, bins);
  double low = 0, high = 1;
  if (range) {
    std::tie(low, high) = *range;
  } else if (x.size() > 0) {
    low = min(x).item<double>();
    high = max(x).item<double>();
  }
  if (!(high - low >= 0) || !std::isfinite(high - low))
    fail<ValueError>("{}: the range from {} to {} is not finite and ascending", what, low, high);
  if (low == high) {
    low -= 0.5;
    high += 0.5;
  }
  std::vector<double> edges(static_cast<std::size_t>(bins) + 1);
  const double step = (high - low) / static_cast<double>(bins);
  for (std::int64_t i = 0; i < bins; ++i) edges[static_cast<std::size_t>(i)] = static_cast<double>(i) * step + low;
  edges.back() = high;
  return Array::from_host(edges.data(), {bins + 1}, Dtype::float64, Device()).astype(dtype).to_device(x.device());
}

/// The weights of x's elements, flattened.
std::optional<Array> weights_of(const Array& x, const std::optional<Array>& weights, const char* what) {
  if (!weights) return std::nullopt;
  if (weights->shape() != x.shape())
    fail<ShapeError>("{}: weights of shape {} for values of shape {}", what, weights->shape(), x.shape());
  return weights->reshape({-1});
}

}  // namespace

std::pair<Array, Array> histogram(const Array& x, const Array& edges, const HistogramOptions& options) {
  const Array bin = bins_of(x, edges, "histogram");
  const std::int64_t bins = edges.size() - 1;
  Array counts = slice_axis(bincount(bin, weights_of(x, options.weights, "histogram"), bins + 1), 0, 0, bins).copy();
  if (options.density) counts = divide(divide(counts.astype(widest_float(x.device())), diff(edges)), sum(counts));
  return {counts, edges};
}

std::pair<Array, Array> histogram(const Array& x, std::int64_t bins, const HistogramOptions& options) {
  return histogram(x, equal_bins(x, bins, options.range, detail::mean_dtype(x.dtype()), "histogram"), options);
}

Histogram2dResult histogram2d(const Array& x, const Array& y, const HistogramBins& x_bins, const HistogramBins& y_bins,
                              const Histogram2dOptions& options) {
  check_1d(x, "histogram2d");
  check_same_device(x, y, "histogram2d");
  if (x.shape() != y.shape())
    fail<ShapeError>("histogram2d: x and y must have one length, shapes {} and {} were given", x.shape(), y.shape());
  const Dtype both = detail::mean_dtype(promote(x.dtype(), y.dtype()));
  const auto edges = [&](const Array& values, const HistogramBins& bins,
                         const std::optional<std::pair<double, double>>& range) {
    if (bins.edges().defined()) return bins.edges();
    return equal_bins(values, bins.count(), range, range ? widest_float(x.device()) : both, "histogram2d");
  };
  Histogram2dResult result{{}, edges(x, x_bins, options.x_range), edges(y, y_bins, options.y_range)};
  const Array column = bins_of(x, result.x_edges, "histogram2d"), row = bins_of(y, result.y_edges, "histogram2d");
  const std::int64_t nx = result.x_edges.size() - 1, ny = result.y_edges.size() - 1, all = (nx + 1) * (ny + 1);
  const Array counts = bincount(add(multiply(column, ny + 1), row), weights_of(x, options.weights, "histogram2d"), all)
                           .reshape({nx + 1, ny + 1});
  result.counts = slice_axis(slice_axis(counts, 0, 0, nx), 1, 0, ny).astype(widest_float(x.device()));
  if (options.density) {
    const Array area = multiply(diff(result.x_edges).reshape({nx, 1}), diff(result.y_edges));
    result.counts = divide(divide(result.counts, area), sum(result.counts));
  }
  return result;
}

Histogram2dResult histogram2d(const Array& x, const Array& y, const HistogramBins& bins,
                              const Histogram2dOptions& options) {
  return histogram2d(x, y, bins, bins, options);
}

}  // namespace catenary
