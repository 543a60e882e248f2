#pragma once
// Sorting, searching, sets and counting, with NumPy's names. Sorts are stable and put NaN last; -0.0 and 0.0 are equal.

#include <concepts>
#include <optional>
#include <utility>
#include <vector>

#include "catenary/array/array.h"

namespace catenary {

/// A sorted copy along `axis` (nullopt: of the flattened array). numpy.sort(kind="stable")
CT_API Array sort(const Array& x, std::optional<int> axis = -1);
/// The indices (int64) that sort x along `axis`. numpy.argsort(kind="stable")
CT_API Array argsort(const Array& x, std::optional<int> axis = -1);
/// A copy whose kth element along `axis` is where sorting would put it, with no larger one before and no smaller one
/// after it; without a full sort. Negative kth count from the end. Throws ValueError for kth out of range.
/// numpy.partition
CT_API Array partition(const Array& x, std::int64_t kth, std::optional<int> axis = -1);
/// The same for several kth at once; at least one.
CT_API Array partition(const Array& x, const std::vector<std::int64_t>& kth, std::optional<int> axis = -1);
/// The indices (int64) that partition x. numpy.argpartition
CT_API Array argpartition(const Array& x, std::int64_t kth, std::optional<int> axis = -1);
CT_API Array argpartition(const Array& x, const std::vector<std::int64_t>& kth, std::optional<int> axis = -1);
/// The indices (int64) that sort by the last of 1-d keys, ties by the one before it, and so on. numpy.lexsort
CT_API Array lexsort(const std::vector<Array>& keys);
/// The same with the rows of a 2-d array as keys.
CT_API Array lexsort(const Array& keys);

/// The k largest (or smallest) elements along `axis` and their indices (int64), from the largest (smallest) on; of
/// equal ones the first comes first; NaN is the largest. Only the k are sorted. Throws ValueError for k out of range.
/// torch.topk
CT_API std::pair<Array, Array> topk(const Array& x, std::int64_t k, int axis = -1, bool largest = true);

/// On which side of equal elements searchsorted inserts.
enum class Side { left, right };
/// Where (int64) to insert `values` into the ascending 1-d array `sorted`: before (left) or after (right) equal ones.
/// numpy.searchsorted
CT_API Array searchsorted(const Array& sorted, const Operand& values, Side side = Side::left);
/// Index (int64) of the bin that each value of x falls into; bins ascend or descend. right: intervals include their
/// right edge. Throws ValueError for bins that are not monotonic. numpy.digitize
CT_API Array digitize(const Array& x, const Array& bins, bool right = false);

/// What unique gives beside the values, and what it compares.
struct UniqueOptions {
  bool return_index = false;
  bool return_inverse = false;
  bool return_counts = false;
  std::optional<int> axis = {};  ///< of the parts that are compared as a whole, in the order of their first elements
  bool equal_nan = true;         ///< NaN counts as one value; along an axis each is another
};
/// What unique gives.
struct UniqueResult {
  Array values;   ///< ascending
  Array index;    ///< of the first occurrences in the flattened array, or along the axis; when asked for
  Array inverse;  ///< of x's shape, or 1-d for an axis: values(inverse) is x; when asked for
  Array counts;   ///< how often each occurs; when asked for
};
/// The different values of x, or the different parts along an axis, ascending. numpy.unique
CT_API Array unique(const Array& x);
CT_API UniqueResult unique(const Array& x, const UniqueOptions& options);
/// For each element of x: is it among `values`? numpy.isin
CT_API Array isin(const Array& x, const Array& values, bool invert = false);
/// isin for flattened arrays. numpy.in1d
CT_API Array in1d(const Array& x, const Array& values, bool invert = false);
/// Ascending values that are in both, in either, in one of them only. numpy.intersect1d, union1d, setxor1d
CT_API Array intersect1d(const Array& a, const Array& b);
CT_API Array union1d(const Array& a, const Array& b);
CT_API Array setxor1d(const Array& a, const Array& b);
/// Ascending values that are in a and not in b. With assume_unique a's values are not looked through for equal ones,
/// and keep their order. numpy.setdiff1d
CT_API Array setdiff1d(const Array& a, const Array& b, bool assume_unique = false);
/// What intersect1d_indices gives.
struct CommonValues {
  Array values;   ///< ascending
  Array a_index;  ///< of the first occurrences in a, flattened
  Array b_index;  ///< of the first occurrences in b, flattened
};
/// Values that are in both, and where they are. numpy.intersect1d(return_indices=True)
CT_API CommonValues intersect1d_indices(const Array& a, const Array& b);

/// How often (int64) each of 0, 1, … is among the integers x (1-d), or the sums (float64) of their weights. Throws
/// ValueError for negative values, DtypeError for floats. numpy.bincount
CT_API Array bincount(const Array& x, const std::optional<Array>& weights = {}, std::int64_t minlength = 0);

/// Bins of a histogram: so many of equal width, or those between ascending edges, whose last includes its right edge.
class HistogramBins {
 public:
  template <std::integral T>
  HistogramBins(T count) : count_(static_cast<std::int64_t>(count)) {}
  HistogramBins(const Array& edges) : edges_(edges) {}
  std::int64_t count() const { return count_; }
  /// Undefined where a number was given.
  const Array& edges() const { return edges_; }

 private:
  std::int64_t count_ = 0;
  Array edges_;
};
/// Options of histogram.
struct HistogramOptions {
  std::optional<std::pair<double, double>> range = {};  ///< x's own where not given
  std::optional<Array> weights = {};
  bool density = false;  ///< divides so that the integral is 1
};
/// Counts of x in bins, as int64 or as the weights, and the edges of the bins. Throws ValueError for bins < 1, edges
/// that do not ascend, or a range that is not finite or not ascending. numpy.histogram
CT_API std::pair<Array, Array> histogram(const Array& x, const HistogramBins& bins = 10,
                                         const HistogramOptions& options = {});

/// Options of histogramdd.
struct HistogramddOptions {
  std::vector<std::optional<std::pair<double, double>>> ranges = {};  ///< of each axis; the points' own where not given
  std::optional<Array> weights = {};
  bool density = false;  ///< divides so that the integral is 1
};
/// What histogramdd gives.
struct HistogramddResult {
  Array counts;  ///< floating: an axis for each of the points'
  std::vector<Array> edges;
};
/// How many of the points, which are rows, lie in each box. Throws as histogram does, ShapeError for what is not 2-d
/// and ValueError for bins or ranges of another number of axes. numpy.histogramdd
CT_API HistogramddResult histogramdd(const Array& sample, const std::vector<HistogramBins>& bins,
                                     const HistogramddOptions& options = {});

/// Options of histogram2d.
struct Histogram2dOptions {
  std::optional<std::pair<double, double>> x_range = {};  ///< x's own where not given
  std::optional<std::pair<double, double>> y_range = {};  ///< y's own where not given
  std::optional<Array> weights = {};
  bool density = false;  ///< divides so that the integral is 1
};
/// What histogram2d gives.
struct Histogram2dResult {
  Array counts;  ///< float64: [bins of x, bins of y]
  Array x_edges;
  Array y_edges;
};
/// How many points (x[i], y[i]) of two 1-d arrays lie in each rectangle. Throws as histogram does, and ShapeError for
/// arrays of two lengths. numpy.histogram2d
CT_API Histogram2dResult histogram2d(const Array& x, const Array& y, const HistogramBins& bins = 10,
                                     const Histogram2dOptions& options = {});
/// The same with other bins for y than for x.
CT_API Histogram2dResult histogram2d(const Array& x, const Array& y, const HistogramBins& x_bins,
                                     const HistogramBins& y_bins, const Histogram2dOptions& options = {});

/// The middle of the sorted values, the mean of two where there are two; NaN if there is one. numpy.median
CT_API Array median(const Array& x, const AxisArg& axis = {}, bool keepdims = false);
/// The median of what is not NaN. numpy.nanmedian
CT_API Array nanmedian(const Array& x, const AxisArg& axis = {}, bool keepdims = false);

/// What a quantile is made of: NumPy's methods, by its names.
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
/// The q-th quantile (q in [0, 1], else ValueError) along `axis`: NumPy's default, linear between the neighbours.
/// Several q come as the first axis of the result, which is float64, or what x and an array q (0-d or 1-d, else
/// ShapeError) promote to. NaN if there is one. numpy.quantile
CT_API Array quantile(const Array& x, double q, const AxisArg& axis = {}, bool keepdims = false,
                      QuantileMethod method = QuantileMethod::linear);
CT_API Array quantile(const Array& x, const std::vector<double>& q, const AxisArg& axis = {}, bool keepdims = false,
                      QuantileMethod method = QuantileMethod::linear);
CT_API Array quantile(const Array& x, const Array& q, const AxisArg& axis = {}, bool keepdims = false,
                      QuantileMethod method = QuantileMethod::linear);
/// quantile(x, q / 100). numpy.percentile
CT_API Array percentile(const Array& x, double q, const AxisArg& axis = {}, bool keepdims = false,
                        QuantileMethod method = QuantileMethod::linear);
CT_API Array percentile(const Array& x, const std::vector<double>& q, const AxisArg& axis = {}, bool keepdims = false,
                        QuantileMethod method = QuantileMethod::linear);
CT_API Array percentile(const Array& x, const Array& q, const AxisArg& axis = {}, bool keepdims = false,
                        QuantileMethod method = QuantileMethod::linear);

/// The quantile of what is not NaN; NaN where there is nothing else. numpy.nanquantile
CT_API Array nanquantile(const Array& x, double q, const AxisArg& axis = {}, bool keepdims = false,
                         QuantileMethod method = QuantileMethod::linear);
CT_API Array nanquantile(const Array& x, const std::vector<double>& q, const AxisArg& axis = {}, bool keepdims = false,
                         QuantileMethod method = QuantileMethod::linear);
CT_API Array nanquantile(const Array& x, const Array& q, const AxisArg& axis = {}, bool keepdims = false,
                         QuantileMethod method = QuantileMethod::linear);
/// nanquantile(x, q / 100). numpy.nanpercentile
CT_API Array nanpercentile(const Array& x, double q, const AxisArg& axis = {}, bool keepdims = false,
                           QuantileMethod method = QuantileMethod::linear);
CT_API Array nanpercentile(const Array& x, const std::vector<double>& q, const AxisArg& axis = {},
                           bool keepdims = false, QuantileMethod method = QuantileMethod::linear);
CT_API Array nanpercentile(const Array& x, const Array& q, const AxisArg& axis = {}, bool keepdims = false,
                           QuantileMethod method = QuantileMethod::linear);

}  // namespace catenary
