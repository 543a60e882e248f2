#include "catenary/array/sorting.h"

#include <algorithm>
#include <cmath>
#include <tuple>

#include "catenary/array/axes.h"
#include "catenary/array/body.h"
#include "catenary/array/differences.h"
#include "catenary/array/elementwise_core.h"
#include "catenary/array/indexing.h"
#include "catenary/array/manipulation.h"
#include "catenary/array/reduction.h"
#include "catenary/array/tally.h"
#include "catenary/array/view.h"
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

/// Returns the rows to sort: x with `axis` last, or flattened. `from` receives the axis of the rows.
Array rows_of(const Array& x, const std::optional<int>& axis, int& from, const char* what) {
  if (!axis) {
    from = 0;
    return x.reshape({-1});
  }
  from = normalize_axis(*axis, x.ndim(), what);
  return axis_to_end(x, from);
}

Array argsorted_rows(const Array& rows);

/// Returns the order of complex numbers along the last axis: by the real part, then by the imaginary part. NaNs come
/// last, in NumPy's order: NaN in the imaginary part only, in the real part only, in both.
Array order_of_complex(const Array& rows) {
  const Array re = real(rows), im = imag(rows);
  const Array last = add(multiply(isnan(re).astype(Dtype::int8), 2), isnan(im).astype(Dtype::int8));
  Array order = argsorted_rows(im);
  for (const Array& key : {re, last})
    order = take_along_axis(order, argsorted_rows(take_along_axis(key, order, -1)), -1);
  return order;
}

/// Sorts along the last axis into a new array.
Array sorted_rows(const Array& rows) {
  if (is_complex(rows.dtype()) && rows.size() > 0) return take_along_axis(rows, order_of_complex(rows), -1);
  const Array out = Array::empty(rows.shape(), rows.dtype(), rows.device());
  Array keep;
  if (out.size() > 0) compute(out.device(), primitives::Sort{readable_contiguous(rows, keep), writable(out)});
  return out;
}

Array argsorted_rows(const Array& rows) {
  if (is_complex(rows.dtype()) && rows.size() > 0) return order_of_complex(rows);
  const Array out = Array::empty(rows.shape(), Dtype::int64, rows.device());
  Array keep;
  if (out.size() > 0) compute(out.device(), primitives::Argsort{readable_contiguous(rows, keep), writable(out)});
  return out;
}

/// Returns the positions sorted, without duplicates and non-negative. Throws ValueError for a position out of range, or
/// if there are none.
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

/// Returns which of the ascending values, or rows, differ from the one before. The first one always does.
Array starts_group(const Array& sorted, bool equal_nan = true) {
  const std::int64_t n = sorted.shape()[0];
  const Array out = Array::empty({n}, Dtype::bool_, sorted.device());
  if (n == 0) return out;
  const Array before = slice_axis(sorted, 0, 0, n - 1), after = slice_axis(sorted, 0, 1, n);
  Array differs = not_equal(before, after);
  if (equal_nan && is_inexact(sorted.dtype()))
    differs = logical_and(differs, logical_not(logical_and(isnan(before), isnan(after))));
  if (sorted.ndim() == 2) differs = any(differs, 1);
  copyto(slice_axis(out, 0, 0, 1), true);
  copyto(slice_axis(out, 0, 1, n), differs);
  return out;
}

void check_1d(const Array& x, const char* what) {
  if (x.ndim() != 1) fail<ShapeError>("{}: a 1-d array is needed, one of shape {} was given", what, x.shape());
}

/// Returns whether the elements ascend, with NaN after numbers.
bool ascends(const Array& x) {
  const std::int64_t n = x.size();
  if (n < 2) return true;
  const Array here = slice_axis(x, 0, 0, n - 1), next = slice_axis(x, 0, 1, n);
  return all(logical_or(less_equal(here, next), isnan(next))).item<bool>();
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
  if (is_complex(rows.dtype())) {  // a complete sort
    if (descending) refuse_complex(rows.dtype());
    const Array all = what == Selection::indices ? argsorted_rows(rows) : sorted_rows(rows);
    if (what == Selection::elements)
      return take(all, Array::from_host(kth.data(), {places}, Dtype::int64, rows.device()), -1);
    return slice_axis(all, all.ndim() - 1, 0, places);
  }
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
  if (keys.ndim() == 1) return filled({}, 0, Dtype::int64, keys.device());  // each has one position
  if (keys.ndim() != 2)
    fail<ShapeError>("lexsort: a 2-d array of keys is needed, one of shape {} was given", keys.shape());
  std::vector<Array> rows;
  for (std::int64_t i = 0; i < keys.shape()[0]; ++i) rows.push_back(slice_axis(keys, 0, i, i + 1).reshape({-1}));
  return lexsort(rows);
}

std::pair<Array, Array> topk(const Array& x, std::int64_t k, int axis, bool largest) {
  const int from = normalize_axis(axis, x.ndim(), "topk");
  if (is_complex(x.dtype())) detail::refuse_complex(x.dtype());
  const Array rows = axis_to_end(x, from);
  const int last = rows.ndim() - 1;
  const std::int64_t n = rows.shape().back();
  if (k < 0 || k > n) fail<ValueError>("topk: k = {} is out of range for {} elements", k, n);
  if (k == 0) {
    const Array none = slice_axis(rows, last, 0, 0);
    return {axis_from_end(none.copy(), from), axis_from_end(none.astype(Dtype::int64), from)};
  }
  // Select the k elements, the first among equals, then sort them.
  const Array chosen = k < n ? selected(rows, Selection::indices, {k - 1}, largest, k) : Array();
  const Array among = k < n ? take_along_axis(rows, chosen, -1) : rows;
  // Reversing before and after a stable ascending sort keeps equal elements in order.
  const Array order =
      largest ? subtract(k - 1, reverse_last(argsorted_rows(reverse_last(among)))) : argsorted_rows(among);
  const Array values = take_along_axis(among, order, -1);
  const Array indices = k < n ? take_along_axis(chosen, order, -1) : order.contiguous();
  return {axis_from_end(values, from), axis_from_end(indices, from)};
}

namespace {

/// Computes searchsorted of complex numbers: sorts all together and counts the elements of `sorted` before each value.
/// Among equal elements the array listed first comes first.
Array merged_places(const Array& sorted, const Array& values, Side side) {
  const Array flat = values.reshape({values.size()});
  const bool after = side == Side::right;
  const Array order = argsort(concatenate(after ? std::vector{sorted, flat} : std::vector{flat, sorted}), 0);
  const std::int64_t n = sorted.size(), m = flat.size();
  const Array is_sorted = after ? less(order, n) : greater_equal(order, m);
  const Array before = cumsum(is_sorted.astype(Dtype::int64), 0);
  const Array places = Array::empty({n + m}, Dtype::int64, sorted.device());
  put(places, order, before);
  const std::int64_t first = after ? n : 0;
  return slice_axis(places, 0, first, first + m).copy().reshape(values.shape());
}

}  // namespace

Array searchsorted(const Array& sorted, const Operand& values, Side side) {
  check_1d(sorted, "searchsorted");
  const Dtype dtype = result_type(sorted, values);
  const Array wanted = detail::as_array(values, dtype, sorted.device());
  check_same_device(sorted, wanted, "searchsorted");
  if (is_complex(dtype)) return merged_places(as_dtype(sorted, dtype), wanted, side);
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
  if (is_complex(result_type(bins, x))) detail::refuse_complex(result_type(bins, x));
  const Side side = right ? Side::left : Side::right;
  if (ascends(bins)) return searchsorted(bins, x, side);
  const Array reversed = reverse_last(bins);
  if (!ascends(reversed)) fail<ValueError>("digitize: bins must ascend or descend");
  return subtract(bins.size(), searchsorted(reversed, x, side));
}

Array unique(const Array& x) { return unique(x, {}).values; }

UniqueResult unique(const Array& x, const UniqueOptions& options) {
  if (!options.axis && !options.return_index && !options.return_inverse) {  // needs no permutation
    const Array sorted = sort(x, std::nullopt), first = flatnonzero(starts_group(sorted, options.equal_nan));
    UniqueResult result;
    result.values = take(sorted, first);
    if (options.return_counts) result.counts = diff(first, 1, 0, std::nullopt, sorted.size());
    return result;
  }
  const Array parts = options.axis ? moveaxis(x, *options.axis, 0) : x.reshape({-1});
  const std::int64_t n = parts.shape()[0];
  const Array rows = options.axis ? parts.reshape({n, n == 0 ? 0 : x.size() / n}) : parts;
  const Array order = rows.ndim() == 1   ? argsorted_rows(rows)
                      : rows.size() == 0 ? detail::iota(n, x.device())
                                         : lexsort(reverse_last(rows).T());
  const Array mask = starts_group(take(rows, order, 0), options.equal_nan && !options.axis);
  const Array first = flatnonzero(mask);
  UniqueResult result;
  result.index = take(order, first);
  result.values = take(parts, result.index, 0);
  if (options.axis) result.values = moveaxis(result.values, 0, *options.axis);
  if (options.return_inverse) {
    result.inverse = Array::empty({n}, Dtype::int64, x.device());
    if (n > 0) {
      Array keep_order, keep_group;
      const View at = readable_contiguous(order, keep_order);
      const View group = readable_contiguous(subtract(cumsum(mask), 1), keep_group);
      compute(x.device(), primitives::Scatter{writable(result.inverse), {at}, group, ScatterMode::assign});
    }
    if (!options.axis) result.inverse = result.inverse.reshape(x.shape());
  }
  if (options.return_counts) result.counts = diff(first, 1, 0, std::nullopt, n);
  if (!options.return_index) result.index = {};
  return result;
}

namespace {

/// Looks integers up in a table of the range of `values`. Returns nothing if there are few elements for the range.
std::optional<Array> found_in_table(const Array& x, const Array& values) {
  const auto fits = [](Dtype d) { return kind(d) != Kind::floating && d != Dtype::uint64 && !is_complex(d); };
  if (!fits(x.dtype()) || !fits(values.dtype()) || values.size() == 0) return std::nullopt;
  const Array wanted = as_dtype(values.reshape({-1}), Dtype::int64).eval();
  const std::int64_t low = min(wanted).item<std::int64_t>(), high = max(wanted).item<std::int64_t>();
  const auto range = static_cast<double>(high) - static_cast<double>(low);
  if (range > 6.0 * static_cast<double>(x.size() + values.size())) return std::nullopt;
  const Array table = filled({high - low + 1}, false, Dtype::bool_, x.device());
  put(table, subtract(wanted, low), true);
  const Array at = as_dtype(x, Dtype::int64);
  return logical_and(logical_and(greater_equal(at, low), less_equal(at, high)),
                     take(table, subtract(minimum(maximum(at, low), high), low)));
}

}  // namespace

Array isin(const Array& x, const Array& values, bool invert) {
  check_same_device(x, values, "isin");
  if (const std::optional<Array> found = found_in_table(x, values)) return invert ? logical_not(*found) : *found;
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

Array setxor1d(const Array& a, const Array& b) { return sort(append(setdiff1d(a, b), setdiff1d(b, a))); }

Array setdiff1d(const Array& a, const Array& b, bool assume_unique) {
  const Array values = assume_unique ? a.reshape({-1}) : unique(a);
  return take(values, flatnonzero(isin(values, b, true)));
}

CommonValues intersect1d_indices(const Array& a, const Array& b) {
  const Array common = intersect1d(a, b);
  const auto index_in = [&](const Array& x) {
    const UniqueResult found = unique(x, {.return_index = true});
    return take(found.index, flatnonzero(isin(found.values, common)));
  };
  return {common, index_in(a), index_in(b)};
}

Array bincount(const Array& x, const std::optional<Array>& weights, std::int64_t minlength) {
  check_1d(x, "bincount");
  if (is_floating(x.dtype())) fail<DtypeError>("bincount: integers are needed, {} was given", x.dtype());
  if (minlength < 0) fail<ValueError>("bincount: minlength must not be negative, {} was given", minlength);
  if (weights && weights->shape() != x.shape())
    fail<ShapeError>("bincount: weights of shape {} for values of shape {}", weights->shape(), x.shape());
  if (weights && is_complex(weights->dtype())) detail::refuse_complex(weights->dtype());
  if (x.device().is_cpu() && (!weights || weights->device().is_cpu()))
    return detail::tally(x, x.size() > 0 ? weights : std::nullopt, minlength);
  const Array at = as_dtype(x, Dtype::int64);
  std::int64_t length = minlength;
  if (at.size() > 0) {
    const std::int64_t smallest = min(at).item<std::int64_t>();
    if (smallest < 0) fail<ValueError>("bincount: values must not be negative, {} is among them", smallest);
    length = std::max(length, max(at).item<std::int64_t>() + 1);
  }
  const Dtype dtype = weights && at.size() > 0 ? widest_float(x.device()) : Dtype::int64;
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

void check_edges(const Array& x, const Array& edges, const char* what) {
  check_1d(edges, what);
  check_same_device(x, edges, what);
  if (edges.size() < 2) fail<ValueError>("{}: at least two edges are needed, {} were given", what, edges.size());
  if (!ascends(edges)) fail<ValueError>("{}: the edges must ascend", what);
}

/// Returns the bin of each element of x between ascending edges. The last edge belongs to the last bin. Elements
/// outside go to an extra bin.
Array bins_of(const Array& x, const Array& edges, const char* what) {
  check_edges(x, edges, what);
  const std::int64_t bins = edges.size() - 1;
  const Array flat = x.reshape({-1});
  if (x.device().is_cpu() && detail::has_float_bins(x, edges)) return detail::bins_between(flat, edges);
  const Array first = slice_axis(edges, 0, 0, 1), last = slice_axis(edges, 0, bins, bins + 1);
  const Array bin = minimum(subtract(searchsorted(edges, flat, Side::right), 1), bins - 1);
  return where(logical_and(greater_equal(flat, first), less_equal(flat, last)), bin, bins);
}

/// Returns the given edges, or edges as `dtype` for bins of equal width over a range or over all of x. The latter are
/// computed in x's precision, as in NumPy.
Array edges_of(const Array& x, const HistogramBins& how, const std::optional<std::pair<double, double>>& range,
               Dtype dtype, const char* what) {
  if (how.edges().defined()) return how.edges();
  const std::int64_t bins = how.count();
  if (bins < 1) fail<ValueError>("{}: at least one bin is needed, bins = {} was given", what, bins);
  if (bins == INT64_MAX) fail<ValueError>("{}: bins = {} are too many", what, bins);
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
  const auto rounded = [own = range || x.size() == 0 ? Dtype::float64 : x.dtype()](double value) -> double {
    if (own == Dtype::float16) return static_cast<float>(float16(static_cast<float>(value)));
    return own == Dtype::float32 ? static_cast<float>(value) : value;
  };
  const Array edges = Array::empty({bins + 1}, Dtype::float64, Device());  // whose error names the size
  double* const values = edges.mutable_data<double>();
  const double step = rounded(rounded(high - low) / static_cast<double>(bins));
  for (std::int64_t i = 0; i < bins; ++i) values[i] = rounded(rounded(static_cast<double>(i) * step) + low);
  values[bins] = high;
  return edges.astype(dtype).to_device(x.device());
}

/// Returns the flattened weights of x's elements.
std::optional<Array> weights_of(const Array& x, const std::optional<Array>& weights, const char* what) {
  if (!weights) return std::nullopt;
  if (weights->shape() != x.shape())
    fail<ShapeError>("{}: weights of shape {} for values of shape {}", what, weights->shape(), x.shape());
  return weights->reshape({-1});
}

}  // namespace

std::pair<Array, Array> histogram(const Array& x, const HistogramBins& how, const HistogramOptions& options) {
  const Array edges = edges_of(x, how, options.range, detail::mean_dtype(x.dtype()), "histogram");
  const std::optional<Array> weights = weights_of(x, options.weights, "histogram");
  Array counts;
  if (!weights && x.device().is_cpu() && detail::has_float_bins(x, edges)) {
    check_edges(x, edges, "histogram");
    counts = detail::tally_between(x, edges);
  } else {
    const Array bin = bins_of(x, edges, "histogram");
    const std::int64_t bins = edges.size() - 1;
    counts = slice_axis(bincount(bin, weights, bins + 1), 0, 0, bins).astype(weights ? weights->dtype() : Dtype::int64);
  }
  if (options.density) counts = divide(divide(counts.astype(widest_float(x.device())), diff(edges)), sum(counts));
  return {counts, edges};
}

HistogramddResult histogramdd(const Array& sample, const std::vector<HistogramBins>& bins,
                              const HistogramddOptions& options) {
  if (sample.ndim() != 2 || sample.shape()[1] == 0)
    fail<ShapeError>("histogramdd: points are the rows of a 2-d array, one of shape {} was given", sample.shape());
  const auto dims = static_cast<std::size_t>(sample.shape()[1]);
  if (bins.size() != dims) fail<ValueError>("histogramdd: {} axes need as many bins, {} were given", dims, bins.size());
  if (!options.ranges.empty() && options.ranges.size() != dims)
    fail<ValueError>("histogramdd: {} axes need as many ranges, {} were given", dims, options.ranges.size());
  HistogramddResult result;
  Shape all, inner;
  Array place;
  for (std::size_t k = 0; k < dims; ++k) {
    const auto axis = static_cast<std::int64_t>(k);
    const Array values = slice_axis(sample, 1, axis, axis + 1).reshape({-1});
    const auto range = options.ranges.empty() ? std::nullopt : options.ranges[k];
    result.edges.push_back(edges_of(values, bins[k], range,
                                    range ? widest_float(sample.device()) : detail::mean_dtype(sample.dtype()),
                                    "histogramdd"));
    const Array bin = bins_of(values, result.edges[k], "histogramdd");
    inner.push_back(result.edges[k].size() - 1);
    all.push_back(result.edges[k].size());
    place = k == 0 ? bin : add(multiply(place, all.back()), bin);
  }
  const Array points = slice_axis(sample, 1, 0, 1).reshape({-1});
  Array counts = bincount(place, weights_of(points, options.weights, "histogramdd"), all.product()).reshape(all);
  for (int k = 0; k < inner.size(); ++k) counts = slice_axis(counts, k, 0, inner[k]);
  result.counts = counts.astype(widest_float(sample.device()));
  if (!options.density) return result;
  const Array total = sum(result.counts);
  for (int k = 0; k < inner.size(); ++k) {
    Shape along = Shape::filled(inner.size(), 1);
    along[k] = inner[k];
    result.counts = divide(result.counts, diff(result.edges[static_cast<std::size_t>(k)]).reshape(along));
  }
  result.counts = divide(result.counts, total);
  return result;
}

Histogram2dResult histogram2d(const Array& x, const Array& y, const HistogramBins& x_bins, const HistogramBins& y_bins,
                              const Histogram2dOptions& options) {
  check_1d(x, "histogram2d");
  check_same_device(x, y, "histogram2d");
  if (x.shape() != y.shape())
    fail<ShapeError>("histogram2d: x and y must have equal lengths, shapes {} and {} were given", x.shape(), y.shape());
  const HistogramddResult r = histogramdd(stack({x, y}, 1), {x_bins, y_bins},
                                          {{options.x_range, options.y_range}, options.weights, options.density});
  return {r.counts, r.edges[0], r.edges[1]};
}

Histogram2dResult histogram2d(const Array& x, const Array& y, const HistogramBins& bins,
                              const Histogram2dOptions& options) {
  return histogram2d(x, y, bins, bins, options);
}

}  // namespace catenary
