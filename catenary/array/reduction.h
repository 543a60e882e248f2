#pragma once
// Reductions and scans, with NumPy's names, result dtypes and treatment of NaN.
//
// An argument that is passed by value may be a temporary: its pending operations run inside the reduction's loop, and
// it is never stored. Sums and products of bools and integers are int64 or uint64, and means of them are float64.
// 16-bit floats are accumulated in float32 and rounded once.

#include <optional>

#include "catenary/array/array.h"

namespace catenary {

/// Computes the sum over `axis`, by default all axes. numpy.sum
CT_API Array sum(Array x, const AxisArg& axis = {}, bool keepdims = false, std::optional<Dtype> dtype = {});
/// Computes the product over `axis`. numpy.prod
CT_API Array prod(Array x, const AxisArg& axis = {}, bool keepdims = false, std::optional<Dtype> dtype = {});
/// Computes the arithmetic mean over `axis`; NaN over no elements. numpy.mean
CT_API Array mean(Array x, const AxisArg& axis = {}, bool keepdims = false, std::optional<Dtype> dtype = {});
/// Computes the variance: the sum of squared deviations divided by n - ddof. numpy.var
CT_API Array var(const Array& x, const AxisArg& axis = {}, bool keepdims = false, double ddof = 0);
/// Computes the standard deviation: the square root of var. numpy.std
CT_API Array std(const Array& x, const AxisArg& axis = {}, bool keepdims = false, double ddof = 0);
/// Returns the largest element, or NaN if there is a NaN. Throws ValueError for a reduction over no elements. numpy.max
CT_API Array max(Array x, const AxisArg& axis = {}, bool keepdims = false);
/// Returns the smallest element, or NaN if there is a NaN. Throws ValueError for a reduction over no elements.
/// numpy.min
CT_API Array min(Array x, const AxisArg& axis = {}, bool keepdims = false);
/// Other names of max and min. numpy.amax, numpy.amin
CT_API Array amax(Array x, const AxisArg& axis = {}, bool keepdims = false);
CT_API Array amin(Array x, const AxisArg& axis = {}, bool keepdims = false);
/// Returns max - min. numpy.ptp
CT_API Array ptp(const Array& x, const AxisArg& axis = {}, bool keepdims = false);
/// Returns whether any element is true (not 0). numpy.any
CT_API Array any(Array x, const AxisArg& axis = {}, bool keepdims = false);
/// Returns whether all elements are true. numpy.all
CT_API Array all(Array x, const AxisArg& axis = {}, bool keepdims = false);
/// Counts the true elements, as int64. numpy.count_nonzero
CT_API Array count_nonzero(Array x, const AxisArg& axis = {}, bool keepdims = false);
/// Computes log(sum(exp(x))) without overflow. scipy.special.logsumexp
CT_API Array logsumexp(const Array& x, const AxisArg& axis = {}, bool keepdims = false);

/// Returns the index (int64) of the largest element along `axis`, or in the flattened array. Among equal elements, or
/// if there are NaNs, it is the first. Throws ValueError if there is no element. numpy.argmax
CT_API Array argmax(const Array& x, const std::optional<int>& axis = {}, bool keepdims = false);
/// Returns the index (int64) of the smallest element, as argmax. numpy.argmin
CT_API Array argmin(const Array& x, const std::optional<int>& axis = {}, bool keepdims = false);

/// Compute the functions of these names without the NaN elements. If all elements are NaN, sums are 0, products 1,
/// other results NaN. numpy.nansum, …
CT_API Array nansum(const Array& x, const AxisArg& axis = {}, bool keepdims = false);
CT_API Array nanprod(const Array& x, const AxisArg& axis = {}, bool keepdims = false);
CT_API Array nanmean(const Array& x, const AxisArg& axis = {}, bool keepdims = false);
CT_API Array nanvar(const Array& x, const AxisArg& axis = {}, bool keepdims = false, double ddof = 0);
CT_API Array nanstd(const Array& x, const AxisArg& axis = {}, bool keepdims = false, double ddof = 0);
CT_API Array nanmax(const Array& x, const AxisArg& axis = {}, bool keepdims = false);
CT_API Array nanmin(const Array& x, const AxisArg& axis = {}, bool keepdims = false);
/// Returns the index (int64) of the largest element that is not NaN, as argmax. Throws ValueError if all elements are
/// NaN. numpy.nanargmax
CT_API Array nanargmax(const Array& x, const std::optional<int>& axis = {}, bool keepdims = false);
/// Returns the index (int64) of the smallest element that is not NaN, as nanargmax. numpy.nanargmin
CT_API Array nanargmin(const Array& x, const std::optional<int>& axis = {}, bool keepdims = false);

/// Computes the mean weighted by `weights`, which have x's shape or are 1-d along the only axis given. Throws
/// ShapeError for other weights, ValueError for weights that sum to 0. numpy.average
CT_API Array average(const Array& x, const AxisArg& axis = {}, const std::optional<Array>& weights = {},
                     bool keepdims = false);

/// Computes the running sum along `axis`, or of the flattened array. Result dtypes are as in sum. numpy.cumsum
CT_API Array cumsum(const Array& x, const std::optional<int>& axis = {}, std::optional<Dtype> dtype = {});
/// Computes the running product, as cumsum. numpy.cumprod
CT_API Array cumprod(const Array& x, const std::optional<int>& axis = {}, std::optional<Dtype> dtype = {});
/// Computes the running sum with NaN counted as 0. numpy.nancumsum
CT_API Array nancumsum(const Array& x, const std::optional<int>& axis = {}, std::optional<Dtype> dtype = {});
/// Computes the running product with NaN counted as 1. numpy.nancumprod
CT_API Array nancumprod(const Array& x, const std::optional<int>& axis = {}, std::optional<Dtype> dtype = {});
/// Computes the n-th difference of neighbours along `axis`; for bools, whether they differ. Throws ValueError for n <
/// 0. numpy.diff
CT_API Array diff(const Array& x, int n = 1, int axis = -1);

/// Computes the differences of neighbours in the flattened array, with to_begin before them and to_end after them, in
/// x's dtype. Throws DtypeError if to_begin or to_end does not fit that dtype. numpy.ediff1d
CT_API Array ediff1d(const Array& x, const std::optional<Operand>& to_end = {},
                     const std::optional<Operand>& to_begin = {});
/// Computes cross products of vectors of 2 or 3 elements along axisa and axisb, which lie along axisc of the result.
/// Two vectors of 2 elements give only the third component. `axis` sets all three axes. Throws ShapeError for other
/// vectors. numpy.cross
CT_API Array cross(const Array& a, const Array& b, int axisa = -1, int axisb = -1, int axisc = -1,
                   std::optional<int> axis = {});
/// Integrates y along `axis` by the trapezoidal rule, at the points x (1-d, or of y's shape), else with spacing dx.
/// numpy.trapezoid
CT_API Array trapezoid(const Array& y, const std::optional<Array>& x = {}, double dx = 1, int axis = -1);

}  // namespace catenary
