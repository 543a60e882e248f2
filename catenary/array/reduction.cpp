#include "catenary/array/reduction.h"

#include <cmath>
#include <limits>
#include <vector>

#include "catenary/array/axes.h"
#include "catenary/array/creation.h"
#include "catenary/array/elementwise_core.h"
#include "catenary/array/lazy.h"
#include "catenary/array/spread.h"
#include "catenary/array/view.h"
#include "catenary/core/format.h"
#include "catenary/device/backend.h"

namespace catenary {

using detail::as_dtype;
using detail::axis_bits;
using detail::kept_shape;
using detail::mean_dtype;
using detail::reduced_count;
using detail::slice_axis;
using detail::sum_dtype;

namespace {

Array reduce(Array x, ops::Reduce op, const AxisArg& axis, bool keepdims, Dtype as, Dtype result, const char* what) {
  const unsigned bits = axis_bits(axis.normalized(x.ndim(), what));
  const Shape shape = x.shape();
  if (bits == 0) return as_dtype(x, as).astype(result);
  if ((op == ops::Reduce::max || op == ops::Reduce::min) && reduced_count(shape, bits) == 0)
    fail<ValueError>("{}: there is no element along the reduced axes of an array of shape {}", what, shape);
  if (shape.product() == 0) {
    const bool one = op == ops::Reduce::prod || op == ops::Reduce::all;
    return detail::filled(kept_shape(shape, bits, keepdims), one ? 1 : 0, result, x.device());
  }
  Array out = lazy::reduce(std::move(x), op, bits, as, result);
  return keepdims ? out.reshape(kept_shape(shape, bits, true)) : out;
}

/// Returns the dtype for intermediate results. 16-bit floats use float32, so that they are rounded once.
Dtype wide(Dtype dtype) { return is_16bit_float(dtype) ? Dtype::float32 : dtype; }

double element_count(const Array& x, const AxisArg& axis, const char* what) {
  return static_cast<double>(reduced_count(x.shape(), axis_bits(axis.normalized(x.ndim(), what))));
}

Array arg_reduce(const Array& x, bool largest, const std::optional<int>& axis, bool keepdims, const char* what) {
  const Array flat = axis ? x : x.reshape({-1});
  const int a = axis ? normalize_axis(*axis, x.ndim(), what) : 0;
  if (flat.shape()[a] == 0)
    fail<ValueError>("{}: there is no element along axis {} of an array of shape {}", what, a, x.shape());
  if (is_complex(x.dtype())) {  // the first element equal to the largest, or NaN
    const Array end = largest ? max(flat, a, true) : min(flat, a, true);
    return arg_reduce(logical_or(equal(flat, end), isnan(flat)).reshape(x.shape()), true, axis, keepdims, what);
  }
  const unsigned bit = 1u << a;
  const Array out = Array::empty(kept_shape(flat.shape(), bit, false), Dtype::int64, x.device());
  if (out.size() > 0) compute(x.device(), primitives::ArgReduce{largest, readable(flat), a, writable(out)});
  if (!keepdims) return out;
  return out.reshape(axis ? kept_shape(x.shape(), bit, true) : Shape::filled(x.ndim(), 1));
}

/// Scans complex numbers. Sums scan both parts separately; products combine elements at distances 1, 2, 4, …
Array scan_complex(const Array& x, ScanOp op, int axis) {
  Array out = copy(x);
  if (op == ScanOp::sum) {
    for (const Array& part : {real(out), imag(out)})
      if (out.size() > 0) compute(x.device(), primitives::Scan{op, readable(copy(part)), axis, writable(part)});
    return out;
  }
  const std::int64_t n = x.shape()[axis];
  for (std::int64_t step = 1; step < n; step *= 2) {
    const Array next = copy(out);
    copyto(slice_axis(next, axis, step, n),
           multiply(slice_axis(out, axis, step, n), slice_axis(out, axis, 0, n - step)));
    out = next;
  }
  return out;
}

Array scan(const Array& x, ScanOp op, const std::optional<int>& axis, std::optional<Dtype> dtype, const char* what) {
  const Dtype result = dtype.value_or(sum_dtype(x.dtype()));
  const Array flat = as_dtype(axis ? x : x.reshape({-1}), result);
  const int a = axis ? normalize_axis(*axis, x.ndim(), what) : 0;
  if (is_complex(result)) return scan_complex(flat, op, a);
  const Array out = Array::empty(flat.shape(), result, x.device());
  if (out.size() > 0) compute(x.device(), primitives::Scan{op, readable(flat), a, writable(out)});
  return out;
}

/// Returns which values of x are not NaN.
Array not_nan(const Array& x) { return equal(x, x); }

/// Returns x with `instead` in place of NaN.
Array without_nan(const Array& x, double instead) { return is_inexact(x.dtype()) ? where(not_nan(x), x, instead) : x; }

Array nan_arg_reduce(const Array& x, bool largest, const std::optional<int>& axis, bool keepdims, const char* what) {
  if (!is_inexact(x.dtype())) return arg_reduce(x, largest, axis, keepdims, what);
  const double infinity = std::numeric_limits<double>::infinity();
  const Array found = arg_reduce(without_nan(x, largest ? -infinity : infinity), largest, axis, keepdims, what);
  const Array valid = any(not_nan(x), axis ? AxisArg(*axis) : AxisArg(), keepdims);
  if (!all(valid).item<bool>()) fail<ValueError>("{}: there is nothing but NaN along the reduced axis", what);
  return found;
}

/// Returns |x|^2, which is x^2 for a real number.
Array squared_size(Array x) {
  if (!is_complex(x.dtype())) return square(std::move(x));
  return add(square(real(x)), square(imag(x)));
}

/// Returns whether squared differences are as small as the rounding error of a mean over n elements may be, so that the
/// mean needs a correction. Always false on devices, where the host would have to wait for the answer.
bool is_rounding(const Array& mean, const Array& total, double n) {
  if (mean.dtype() != Dtype::float32 || !mean.device().is_cpu()) return false;
  constexpr double kRelative = 1024 * double{std::numeric_limits<float>::epsilon()};
  const std::vector<float> means = mean.to_vector<float>(), totals = total.to_vector<float>();
  for (std::size_t i = 0; i < means.size(); ++i) {
    const double largest = kRelative * double{means[i]};
    if (totals[i] > 0 && totals[i] <= largest * largest * n) return true;
  }
  return false;
}

Array variance(const Array& x, const AxisArg& axis, bool keepdims, double ddof, const char* what) {
  const Dtype result = mean_dtype(x.dtype());
  const double n = element_count(x, axis, what);
  const Array total = detail::spread_of(x, axis, wide(result), keepdims).total;
  return as_dtype(divide(total, std::max(n - ddof, 0.0)), part_dtype(result));
}

Array nan_variance(const Array& x, const AxisArg& axis, bool keepdims, double ddof) {
  const Dtype result = x.dtype();
  const Array wide_x = as_dtype(x, wide(result));
  const Array valid = not_nan(wide_x);
  Array center = nanmean(wide_x, axis, true);
  const auto squares = [&] { return sum(where(valid, squared_size(subtract(wide_x, center)), 0), axis, keepdims); };
  Array total = squares();
  if (is_rounding(center, total, element_count(x, axis, "nanvar"))) {
    center = add(center, nanmean(subtract(wide_x, center), axis, true));
    total = squares();
  }
  const Array n = subtract(count_nonzero(valid, axis, keepdims), ddof);
  return as_dtype(
      divide(where(greater(n, 0), total, std::numeric_limits<double>::quiet_NaN()), n.astype(total.dtype())),
      part_dtype(result));
}

Array nan_extremum(const Array& x, bool largest, const AxisArg& axis, bool keepdims) {
  if (!is_inexact(x.dtype())) return largest ? max(x, axis, keepdims) : min(x, axis, keepdims);
  const double infinity = largest ? -std::numeric_limits<double>::infinity() : std::numeric_limits<double>::infinity();
  const Array valid = not_nan(x);
  Array filled = where(valid, x, infinity);
  const Array found = largest ? max(std::move(filled), axis, keepdims) : min(std::move(filled), axis, keepdims);
  // A result is NaN only where `found` is infinite. The host knows that at once, and then reads the elements once only.
  if (x.device().backend().host_addressable() && !any(equal(found, infinity)).item<bool>()) return found;
  return where(any(valid, axis, keepdims), found, std::numeric_limits<double>::quiet_NaN());
}

}  // namespace

Array sum(Array x, const AxisArg& axis, bool keepdims, std::optional<Dtype> dtype) {
  const Dtype result = dtype.value_or(sum_dtype(x.dtype()));
  // addition of bools is `any`
  const ops::Reduce op = result == Dtype::bool_ ? ops::Reduce::any : ops::Reduce::sum;
  return reduce(std::move(x), op, axis, keepdims, result, result, "sum");
}

Array prod(Array x, const AxisArg& axis, bool keepdims, std::optional<Dtype> dtype) {
  const Dtype result = dtype.value_or(sum_dtype(x.dtype()));
  const ops::Reduce op = result == Dtype::bool_ ? ops::Reduce::all : ops::Reduce::prod;
  return reduce(std::move(x), op, axis, keepdims, result, result, "prod");
}

Array mean(Array x, const AxisArg& axis, bool keepdims, std::optional<Dtype> dtype) {
  const Dtype result = dtype.value_or(mean_dtype(x.dtype()));
  if (!is_inexact(result)) fail<DtypeError>("mean: the result's dtype must be floating, {} was given", result);
  const double n = element_count(x, axis, "mean");
  Array total = reduce(std::move(x), ops::Reduce::sum, axis, keepdims, wide(result), wide(result), "mean");
  return as_dtype(divide(total, n), result);
}

detail::Spread detail::spread_of(const Array& x, const AxisArg& axis, Dtype dtype, bool keepdims) {
  const auto wide_x = [&] { return as_dtype(x, dtype); };  // each use computes it again: a value with a handle is
                                                           // stored
  Spread s{catenary::mean(wide_x(), axis, true), {}};
  const auto squares = [&] { return sum(squared_size(subtract(wide_x(), s.mean)), axis, keepdims); };
  s.total = squares();
  if (is_rounding(s.mean, s.total, element_count(x, axis, "var"))) {
    s.mean = add(s.mean, catenary::mean(subtract(wide_x(), s.mean), axis, true));
    s.total = squares();
  }
  return s;
}

Array var(const Array& x, const AxisArg& axis, bool keepdims, double ddof) {
  return variance(x, axis, keepdims, ddof, "var");
}

Array std(const Array& x, const AxisArg& axis, bool keepdims, double ddof) {
  const Dtype result = mean_dtype(x.dtype());
  return as_dtype(sqrt(variance(as_dtype(x, wide(result)), axis, keepdims, ddof, "std")), part_dtype(result));
}

Array max(Array x, const AxisArg& axis, bool keepdims) {
  const Dtype d = x.dtype();
  return reduce(std::move(x), ops::Reduce::max, axis, keepdims, d, d, "max");
}
Array min(Array x, const AxisArg& axis, bool keepdims) {
  const Dtype d = x.dtype();
  return reduce(std::move(x), ops::Reduce::min, axis, keepdims, d, d, "min");
}
Array amax(Array x, const AxisArg& axis, bool keepdims) { return max(std::move(x), axis, keepdims); }
Array amin(Array x, const AxisArg& axis, bool keepdims) { return min(std::move(x), axis, keepdims); }
Array ptp(const Array& x, const AxisArg& axis, bool keepdims) {
  return subtract(max(x, axis, keepdims), min(x, axis, keepdims));
}

Array any(Array x, const AxisArg& axis, bool keepdims) {
  return reduce(std::move(x), ops::Reduce::any, axis, keepdims, Dtype::bool_, Dtype::bool_, "any");
}
Array all(Array x, const AxisArg& axis, bool keepdims) {
  return reduce(std::move(x), ops::Reduce::all, axis, keepdims, Dtype::bool_, Dtype::bool_, "all");
}
Array count_nonzero(Array x, const AxisArg& axis, bool keepdims) {
  return reduce(not_equal(std::move(x), 0), ops::Reduce::sum, axis, keepdims, Dtype::int64, Dtype::int64,
                "count_nonzero");
}

Array logsumexp(const Array& x, const AxisArg& axis, bool keepdims) {
  if (is_complex(x.dtype())) detail::refuse_complex(x.dtype());
  const Dtype result = mean_dtype(x.dtype());
  const Array wide_x = as_dtype(x, wide(result));
  Array top = max(wide_x, axis, true);
  top = where(isfinite(top), top, 0);
  const Array total = log(sum(exp(subtract(wide_x, top)), axis, keepdims));
  return as_dtype(add(total, top.reshape(total.shape())), result);
}

Array argmax(const Array& x, const std::optional<int>& axis, bool keepdims) {
  return arg_reduce(x, true, axis, keepdims, "argmax");
}
Array argmin(const Array& x, const std::optional<int>& axis, bool keepdims) {
  return arg_reduce(x, false, axis, keepdims, "argmin");
}

Array nansum(const Array& x, const AxisArg& axis, bool keepdims) { return sum(without_nan(x, 0), axis, keepdims); }
Array nanprod(const Array& x, const AxisArg& axis, bool keepdims) { return prod(without_nan(x, 1), axis, keepdims); }
Array nanmean(const Array& x, const AxisArg& axis, bool keepdims) {
  if (!is_inexact(x.dtype())) return mean(x, axis, keepdims);
  const Array valid = not_nan(x);
  const Dtype as = wide(x.dtype());
  const Array total = sum(where(valid, as_dtype(x, as), 0), axis, keepdims);
  return as_dtype(divide(total, count_nonzero(valid, axis, keepdims).astype(as)), x.dtype());
}
Array nanvar(const Array& x, const AxisArg& axis, bool keepdims, double ddof) {
  return is_inexact(x.dtype()) ? nan_variance(x, axis, keepdims, ddof) : var(x, axis, keepdims, ddof);
}
Array nanstd(const Array& x, const AxisArg& axis, bool keepdims, double ddof) {
  return as_dtype(sqrt(nanvar(as_dtype(x, wide(x.dtype())), axis, keepdims, ddof)), part_dtype(mean_dtype(x.dtype())));
}
Array nanmax(const Array& x, const AxisArg& axis, bool keepdims) { return nan_extremum(x, true, axis, keepdims); }
Array nanmin(const Array& x, const AxisArg& axis, bool keepdims) { return nan_extremum(x, false, axis, keepdims); }

Array nanargmax(const Array& x, const std::optional<int>& axis, bool keepdims) {
  return nan_arg_reduce(x, true, axis, keepdims, "nanargmax");
}
Array nanargmin(const Array& x, const std::optional<int>& axis, bool keepdims) {
  return nan_arg_reduce(x, false, axis, keepdims, "nanargmin");
}
Array nancumsum(const Array& x, const std::optional<int>& axis, std::optional<Dtype> dtype) {
  return cumsum(without_nan(x, 0), axis, dtype);
}
Array nancumprod(const Array& x, const std::optional<int>& axis, std::optional<Dtype> dtype) {
  return cumprod(without_nan(x, 1), axis, dtype);
}

Array average(const Array& x, const AxisArg& axis, const std::optional<Array>& weights, bool keepdims) {
  if (!weights) return mean(x, axis, keepdims);
  Array w = *weights;
  const Axes axes = axis.normalized(x.ndim(), "average");
  if (w.shape() != x.shape()) {
    if (axis.all() || axes.size() != 1 || w.ndim() != 1 || w.shape()[0] != x.shape()[static_cast<int>(axes[0])])
      fail<ShapeError>("average: weights of shape {} fit neither the array of shape {} nor one given axis of it",
                       w.shape(), x.shape());
    Shape spread = Shape::filled(x.ndim(), 1);
    spread[static_cast<int>(axes[0])] = w.shape()[0];
    w = w.reshape(spread).broadcast_to(x.shape());
  }
  Dtype result = promote(x.dtype(), w.dtype());
  if (!is_inexact(x.dtype())) result = promote(result, Dtype::float64);
  const Dtype as = wide(result);
  w = as_dtype(w, as);
  const Array total = sum(w, axis, keepdims);
  if (any(equal(total, 0)).item<bool>()) fail<ValueError>("average: the weights sum to 0");
  return as_dtype(divide(sum(multiply(as_dtype(x, as), w), axis, keepdims), total), result);
}

Array cumsum(const Array& x, const std::optional<int>& axis, std::optional<Dtype> dtype) {
  return scan(x, ScanOp::sum, axis, dtype, "cumsum");
}
Array cumprod(const Array& x, const std::optional<int>& axis, std::optional<Dtype> dtype) {
  return scan(x, ScanOp::prod, axis, dtype, "cumprod");
}

Array diff(const Array& x, int n, int axis) {
  if (n < 0) fail<ValueError>("diff: n must not be negative, {} was given", n);
  const int a = normalize_axis(axis, x.ndim(), "diff");
  Array out = x;
  for (int i = 0; i < n; ++i) {
    const std::int64_t extent = out.shape()[a];
    const std::int64_t first = std::min<std::int64_t>(1, extent), last = std::max<std::int64_t>(extent - 1, 0);
    const Array after = slice_axis(out, a, first, extent), before = slice_axis(out, a, 0, last);
    out = x.dtype() == Dtype::bool_ ? not_equal(after, before) : subtract(after, before);
  }
  return out;
}

#define CT_REDUCTION_MEMBER(name)                                                                                \
  Array Array::name(const AxisArg& axis, bool keepdims) const& { return catenary::name(*this, axis, keepdims); } \
  Array Array::name(const AxisArg& axis, bool keepdims)&& { return catenary::name(std::move(*this), axis, keepdims); }
#define CT_TYPED_REDUCTION_MEMBER(name)                                                      \
  Array Array::name(const AxisArg& axis, bool keepdims, std::optional<Dtype> dtype) const& { \
    return catenary::name(*this, axis, keepdims, dtype);                                     \
  }                                                                                          \
  Array Array::name(const AxisArg& axis, bool keepdims, std::optional<Dtype> dtype)&& {      \
    return catenary::name(std::move(*this), axis, keepdims, dtype);                          \
  }
CT_TYPED_REDUCTION_MEMBER(sum)
CT_TYPED_REDUCTION_MEMBER(prod)
CT_TYPED_REDUCTION_MEMBER(mean)
CT_REDUCTION_MEMBER(max)
CT_REDUCTION_MEMBER(min)
Array Array::var(const AxisArg& axis, bool keepdims, double ddof) const {
  return catenary::var(*this, axis, keepdims, ddof);
}
Array Array::std(const AxisArg& axis, bool keepdims, double ddof) const {
  return catenary::std(*this, axis, keepdims, ddof);
}
Array Array::argmax(const std::optional<int>& axis, bool keepdims) const {
  return catenary::argmax(*this, axis, keepdims);
}
Array Array::argmin(const std::optional<int>& axis, bool keepdims) const {
  return catenary::argmin(*this, axis, keepdims);
}
Array Array::cumsum(const std::optional<int>& axis, std::optional<Dtype> dtype) const {
  return catenary::cumsum(*this, axis, dtype);
}
Array Array::cumprod(const std::optional<int>& axis, std::optional<Dtype> dtype) const {
  return catenary::cumprod(*this, axis, dtype);
}
Array Array::any(const AxisArg& axis, bool keepdims) const { return catenary::any(*this, axis, keepdims); }
Array Array::all(const AxisArg& axis, bool keepdims) const { return catenary::all(*this, axis, keepdims); }
bool Array::any() const& { return catenary::any(*this).item<bool>(); }
bool Array::any() && { return catenary::any(std::move(*this)).item<bool>(); }
bool Array::all() const& { return catenary::all(*this).item<bool>(); }
bool Array::all() && { return catenary::all(std::move(*this)).item<bool>(); }

}  // namespace catenary
