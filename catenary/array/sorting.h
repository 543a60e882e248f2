#pragma once
// Sorting, searching, sets and counting, with NumPy's names. Sorts are stable and put NaN last. -0.0 and 0.0 are equal.

#include <concepts>
#include <optional>
#include <utility>
#include <vector>

#include "catenary/array/array.h"

namespace catenary {

/// Returns a sorted copy along `axis` (nullopt: of the flattened array). numpy.sort(kind="stable")
CT_API Array sort(const Array& x, std::optional<int> axis = -1);
/// Returns the indices (int64) that sort x along `axis`. numpy.argsort(kind="stable")
CT_API Array argsort(const Array& x, std::optional<int> axis = -1);
/// Returns a copy that is partitioned along `axis`: the kth element is the one that sorting would put there, no larger
/// element comes before it and no smaller one after it. Needs no full sort. A negative kth counts from the end. Throws
/// ValueError for kth out of range. numpy.partition
CT_API Array partition(const Array& x, std::int64_t kth, std::optional<int> axis = -1);
/// Returns a copy that is partitioned at several kth, at least one.
CT_API Array partition(const Array& x, const std::vector<std::int64_t>& kth, std::optional<int> axis = -1);
/// Returns the indices (int64) that partition x. numpy.argpartition
CT_API Array argpartition(const Array& x, std::int64_t kth, std::optional<int> axis = -1);
CT_API Array argpartition(const Array& x, const std::vector<std::int64_t>& kth, std::optional<int> axis = -1);
/// Returns the indices (int64) that sort by the last of 1-d keys, ties by the key before it, and so on. numpy.lexsort
CT_API Array lexsort(const std::vector<Array>& keys);
/// Sorts with the rows of a 2-d array as keys.
CT_API Array lexsort(const Array& keys);

/// Returns the k largest (or smallest) elements along `axis` and their indices (int64), the largest (smallest) first.
/// Equal elements keep their order. NaN counts as the largest. Sorts only the k elements. Throws ValueError for k out
/// of range. torch.topk
CT_API std::pair<Array, Array> topk(const Array& x, std::int64_t k, int axis = -1, bool largest = true);

/// On which side of equal elements searchsorted inserts.
enum class Side { left, right };
/// Returns the positions (int64) at which `values` can be inserted into the ascending 1-d array `sorted`: before (left)
/// or after (right) equal elements. numpy.searchsorted
CT_API Array searchsorted(const Array& sorted, const Operand& values, Side side = Side::left);
/// Returns the index (int64) of the bin of each value of x. Bins ascend or descend. With `right`, intervals include
/// their right edge. Throws ValueError for bins that are not monotonic. numpy.digitize
CT_API Array digitize(const Array& x, const Array& bins, bool right = false);

/// Options of unique: additional results, and the parts to compare.
struct UniqueOptions {
  bool return_index = false;
  bool return_inverse = false;
  bool return_counts = false;
  std::optional<int> axis = {};  ///< axis whose slices are compared as a whole, ordered by their first elements
  bool equal_nan = true;         ///< counts all NaNs as one value, but slices along an axis with NaN always differ
};
/// The result of unique.
struct UniqueResult {
  Array values;   ///< ascending
  Array index;    ///< positions of first occurrences in the flattened array or along the axis, if requested
  Array inverse;  ///< of x's shape, or 1-d for an axis: values(inverse) is x; if requested
  Array counts;   ///< how often each value occurs, if requested
};
/// Returns the distinct values of x, or the distinct slices along an axis, ascending. numpy.unique
CT_API Array unique(const Array& x);
CT_API UniqueResult unique(const Array& x, const UniqueOptions& options);
/// Returns for each element of x whether it is in `values`. numpy.isin
CT_API Array isin(const Array& x, const Array& values, bool invert = false);
/// Returns isin for flattened arrays. numpy.in1d
CT_API Array in1d(const Array& x, const Array& values, bool invert = false);
/// Return the ascending values that are in both arrays, in either, or in exactly one. numpy.intersect1d, union1d,
/// setxor1d
CT_API Array intersect1d(const Array& a, const Array& b);
CT_API Array union1d(const Array& a, const Array& b);
CT_API Array setxor1d(const Array& a, const Array& b);
/// Returns the ascending values that are in a and not in b. With assume_unique the values of a are not searched for
/// duplicates and keep their order. numpy.setdiff1d
CT_API Array setdiff1d(const Array& a, const Array& b, bool assume_unique = false);
/// The result of intersect1d_indices.
struct CommonValues {
  Array values;   ///< ascending
  Array a_index;  ///< of first occurrences in flattened a
  Array b_index;  ///< of first occurrences in flattened b
};
/// Returns the values that are in both arrays, and their positions. numpy.intersect1d(return_indices=True)
CT_API CommonValues intersect1d_indices(const Array& a, const Array& b);

/// Counts (int64) how often each of 0, 1, … occurs among the integers x (1-d), or sums their weights (float64). Throws
/// ValueError for negative values, DtypeError for floats. numpy.bincount
CT_API Array bincount(const Array& x, const std::optional<Array>& weights = {}, std::int64_t minlength = 0);

/// The bins of a histogram: a number of bins of equal width, or ascending edges. The last bin includes its right edge.
class HistogramBins {
 public:
  template <std::integral T>
  HistogramBins(T count) : count_(static_cast<std::int64_t>(count)) {}
  HistogramBins(const Array& edges) : edges_(edges) {}
  std::int64_t count() const { return count_; }
  /// Returns the edges, undefined if a number was given.
  const Array& edges() const { return edges_; }

 private:
  std::int64_t count_ = 0;
  Array edges_;
};
/// Options of histogram.
struct HistogramOptions {
  std::optional<std::pair<double, double>> range = {};  ///< default: the range of x
  std::optional<Array> weights = {};
  bool density = false;  ///< normalises so that the integral is 1
};
/// Counts x in bins, as int64 or in the weights' dtype, and returns the counts and the edges. Throws ValueError for
/// bins < 1, edges that do not ascend, or a range that is not finite or not ascending. numpy.histogram
CT_API std::pair<Array, Array> histogram(const Array& x, const HistogramBins& bins = 10,
                                         const HistogramOptions& options = {});

/// Options of histogramdd.
struct HistogramddOptions {
  std::vector<std::optional<std::pair<double, double>>> ranges = {};  ///< of each axis; default: the points' range
  std::optional<Array> weights = {};
  bool density = false;  ///< normalises so that the integral is 1
};
/// The result of histogramdd.
struct HistogramddResult {
  Array counts;  ///< floating, with one axis for each coordinate of the points
  std::vector<Array> edges;
};
/// Counts the points, which are rows of `sample`, in each box. Throws as histogram does, ShapeError unless sample is
/// 2-d, and ValueError for bins or ranges for another number of axes. numpy.histogramdd
CT_API HistogramddResult histogramdd(const Array& sample, const std::vector<HistogramBins>& bins,
                                     const HistogramddOptions& options = {});

/// Options of histogram2d.
struct Histogram2dOptions {
  std::optional<std::pair<double, double>> x_range = {};  ///< default: the range of x
  std::optional<std::pair<double, double>> y_range = {};  ///< default: the range of y
  std::optional<Array> weights = {};
  bool density = false;  ///< normalises so that the integral is 1
};
/// The result of histogram2d.
struct Histogram2dResult {
  Array counts;  ///< float64: [bins of x, bins of y]
  Array x_edges;
  Array y_edges;
};
/// Counts the points (x[i], y[i]) of two 1-d arrays in each rectangle. Throws as histogram does, and ShapeError for
/// arrays of different lengths. numpy.histogram2d
CT_API Histogram2dResult histogram2d(const Array& x, const Array& y, const HistogramBins& bins = 10,
                                     const Histogram2dOptions& options = {});
/// Counts points in rectangles with different bins for x and y.
CT_API Histogram2dResult histogram2d(const Array& x, const Array& y, const HistogramBins& x_bins,
                                     const HistogramBins& y_bins, const Histogram2dOptions& options = {});

/// Returns the median: the middle of the sorted values, or the mean of the two middle values. NaN if there is a NaN.
/// numpy.median
CT_API Array median(const Array& x, const AxisArg& axis = {}, bool keepdims = false);
/// Returns the median of the values that are not NaN. numpy.nanmedian
CT_API Array nanmedian(const Array& x, const AxisArg& axis = {}, bool keepdims = false);

/// NumPy's methods to compute a quantile, by its names.
enum class QuantileMethod {
  linear,
  lower,
  higher,
  midpoint,
  nearest,
  inverted_cdf,
  averaged_inverted_cdf,
  closest_observation,
  interpolated_inverted_cdf,
  hazen,
  weibull,
  median_unbiased,
  normal_unbiased
};
/// Returns the q-th quantile along `axis`, by default interpolated linearly between neighbours as in NumPy. q must be
/// in [0, 1], else ValueError is thrown. Several q become the first axis of the result. The result is float64, or the
/// dtype that x and an array q promote to. An array q must be 0-d or 1-d, else ShapeError is thrown. NaN if there is a
/// NaN. numpy.quantile
CT_API Array quantile(const Array& x, double q, const AxisArg& axis = {}, bool keepdims = false,
                      QuantileMethod method = QuantileMethod::linear);
CT_API Array quantile(const Array& x, const std::vector<double>& q, const AxisArg& axis = {}, bool keepdims = false,
                      QuantileMethod method = QuantileMethod::linear);
CT_API Array quantile(const Array& x, const Array& q, const AxisArg& axis = {}, bool keepdims = false,
                      QuantileMethod method = QuantileMethod::linear);
/// Returns quantile(x, q / 100). numpy.percentile
CT_API Array percentile(const Array& x, double q, const AxisArg& axis = {}, bool keepdims = false,
                        QuantileMethod method = QuantileMethod::linear);
CT_API Array percentile(const Array& x, const std::vector<double>& q, const AxisArg& axis = {}, bool keepdims = false,
                        QuantileMethod method = QuantileMethod::linear);
CT_API Array percentile(const Array& x, const Array& q, const AxisArg& axis = {}, bool keepdims = false,
                        QuantileMethod method = QuantileMethod::linear);

/// Returns the quantile of the values that are not NaN, or NaN if there are none. numpy.nanquantile
CT_API Array nanquantile(const Array& x, double q, const AxisArg& axis = {}, bool keepdims = false,
                         QuantileMethod method = QuantileMethod::linear);
CT_API Array nanquantile(const Array& x, const std::vector<double>& q, const AxisArg& axis = {}, bool keepdims = false,
                         QuantileMethod method = QuantileMethod::linear);
CT_API Array nanquantile(const Array& x, const Array& q, const AxisArg& axis = {}, bool keepdims = false,
                         QuantileMethod method = QuantileMethod::linear);
/// Returns nanquantile(x, q / 100). numpy.nanpercentile
CT_API Array nanpercentile(const Array& x, double q, const AxisArg& axis = {}, bool keepdims = false,
                           QuantileMethod method = QuantileMethod::linear);
CT_API Array nanpercentile(const Array& x, const std::vector<double>& q, const AxisArg& axis = {},
                           bool keepdims = false, QuantileMethod method = QuantileMethod::linear);
CT_API Array nanpercentile(const Array& x, const Array& q, const AxisArg& axis = {}, bool keepdims = false,
                           QuantileMethod method = QuantileMethod::linear);

}  // namespace catenary
