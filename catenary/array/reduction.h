#pragma once
// Reductions and scans, with NumPy's names, result dtypes and treatment of NaN.
//
// An argument taken by value may be a temporary: what is still pending of it is computed inside the reduction's loop
// and never stored. Sums and products of bools and integers are int64 or uint64; means of them are float64; 16-bit
// floats are accumulated in float32 and rounded once.

#include <optional>

#include "catenary/array/array.h"

namespace catenary {

/// Sum over `axis` (all by default). numpy.sum
CT_API Array sum(Array x, const AxisArg& axis = {}, bool keepdims = false, std::optional<Dtype> dtype = {});
/// Product over `axis`. numpy.prod
CT_API Array prod(Array x, const AxisArg& axis = {}, bool keepdims = false, std::optional<Dtype> dtype = {});
/// Arithmetic mean over `axis`; NaN over no elements. numpy.mean
CT_API Array mean(Array x, const AxisArg& axis = {}, bool keepdims = false, std::optional<Dtype> dtype = {});
/// Mean of squared deviations, divided by n - ddof. numpy.var
CT_API Array var(const Array& x, const AxisArg& axis = {}, bool keepdims = false, double ddof = 0);
/// Square root of var. numpy.std
CT_API Array std(const Array& x, const AxisArg& axis = {}, bool keepdims = false, double ddof = 0);
/// Largest element; NaN if there is one. Throws ValueError for a reduction over no elements. numpy.max
CT_API Array max(Array x, const AxisArg& axis = {}, bool keepdims = false);
/// Smallest element; NaN if there is one. Throws ValueError for a reduction over no elements. numpy.min
CT_API Array min(Array x, const AxisArg& axis = {}, bool keepdims = false);
/// The same as max and min, by their other names.
CT_API Array amax(Array x, const AxisArg& axis = {}, bool keepdims = false);
CT_API Array amin(Array x, const AxisArg& axis = {}, bool keepdims = false);
/// max - min. numpy.ptp
CT_API Array ptp(const Array& x, const AxisArg& axis = {}, bool keepdims = false);
/// Is any element true (not 0)? numpy.any
CT_API Array any(Array x, const AxisArg& axis = {}, bool keepdims = false);
/// Are all elements true? numpy.all
CT_API Array all(Array x, const AxisArg& axis = {}, bool keepdims = false);
/// How many elements are true, as int64. numpy.count_nonzero
CT_API Array count_nonzero(Array x, const AxisArg& axis = {}, bool keepdims = false);
/// log(sum(exp(x))), computed without overflow. scipy.special.logsumexp
CT_API Array logsumexp(const Array& x, const AxisArg& axis = {}, bool keepdims = false);

/// Index (int64) of the largest element along `axis`, or in the flattened array; the first of equals, the first NaN if
/// there is one. Throws ValueError where there is no element. numpy.argmax
CT_API Array argmax(const Array& x, const std::optional<int>& axis = {}, bool keepdims = false);
/// Index (int64) of the smallest element, as argmax. numpy.argmin
CT_API Array argmin(const Array& x, const std::optional<int>& axis = {}, bool keepdims = false);

/// The same without the elements that are NaN. Over nothing but NaN: 0, 1, and NaN. numpy.nansum, …
CT_API Array nansum(const Array& x, const AxisArg& axis = {}, bool keepdims = false);
CT_API Array nanprod(const Array& x, const AxisArg& axis = {}, bool keepdims = false);
CT_API Array nanmean(const Array& x, const AxisArg& axis = {}, bool keepdims = false);
CT_API Array nanvar(const Array& x, const AxisArg& axis = {}, bool keepdims = false, double ddof = 0);
CT_API Array nanstd(const Array& x, const AxisArg& axis = {}, bool keepdims = false, double ddof = 0);
CT_API Array nanmax(const Array& x, const AxisArg& axis = {}, bool keepdims = false);
CT_API Array nanmin(const Array& x, const AxisArg& axis = {}, bool keepdims = false);
/// Index (int64) of the largest element that is not NaN, as argmax. Throws ValueError where there is nothing but NaN.
/// numpy.nanargmax
CT_API Array nanargmax(const Array& x, const std::optional<int>& axis = {}, bool keepdims = false);
/// Index (int64) of the smallest element that is not NaN, as nanargmax. numpy.nanargmin
CT_API Array nanargmin(const Array& x, const std::optional<int>& axis = {}, bool keepdims = false);

/// Mean weighted by `weights`: of x's shape, or 1-d along the only axis given. Throws ShapeError for other weights and
/// ValueError where they sum to 0. numpy.average
CT_API Array average(const Array& x, const AxisArg& axis = {}, const std::optional<Array>& weights = {},
                     bool keepdims = false);

/// Running sum along `axis`, or of the flattened array; result dtypes as sum. numpy.cumsum
CT_API Array cumsum(const Array& x, const std::optional<int>& axis = {}, std::optional<Dtype> dtype = {});
/// Running product, as cumsum. numpy.cumprod
CT_API Array cumprod(const Array& x, const std::optional<int>& axis = {}, std::optional<Dtype> dtype = {});
/// Running sum in which NaN counts as 0. numpy.nancumsum
CT_API Array nancumsum(const Array& x, const std::optional<int>& axis = {}, std::optional<Dtype> dtype = {});
/// Running product in which NaN counts as 1. numpy.nancumprod
CT_API Array nancumprod(const Array& x, const std::optional<int>& axis = {}, std::optional<Dtype> dtype = {});
/// The n-th difference of neighbours along `axis`; of bools "differs". Throws ValueError for n < 0. numpy.diff
CT_API Array diff(const Array& x, int n = 1, int axis = -1);

/// The differences of neighbours in the flattened array, between what is put before and after them, in x's dtype.
/// Throws DtypeError where to_begin or to_end does not fit into it. numpy.ediff1d
CT_API Array ediff1d(const Array& x, const std::optional<Operand>& to_end = {},
                     const std::optional<Operand>& to_begin = {});
/// Cross products of the vectors of 2 or 3 elements along axisa and axisb, which lie along axisc of the result; of two
/// of 2 elements the third component alone. `axis` stands for all three. Throws ShapeError for other vectors.
/// numpy.cross
CT_API Array cross(const Array& a, const Array& b, int axisa = -1, int axisb = -1, int axisc = -1,
                   std::optional<int> axis = {});
/// The integral of y along `axis` by the trapezoidal rule, at the points x (1-d, or as y), else at a distance of dx.
/// numpy.trapezoid
CT_API Array trapezoid(const Array& y, const std::optional<Array>& x = {}, double dx = 1, int axis = -1);

}  // namespace catenary
