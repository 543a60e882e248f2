#include "catenary/array/fft.h"

#include <cmath>

#include "catenary/array/axes.h"
#include "catenary/array/body.h"
#include "catenary/array/creation.h"
#include "catenary/array/elementwise_core.h"
#include "catenary/array/manipulation.h"
#include "catenary/array/view.h"
#include "catenary/core/format.h"
#include "catenary/device/float64.h"

namespace catenary {

namespace detail {

std::pair<Array, Array> fourier_transform(const char* function, const Array& re, const std::optional<Array>& im,
                                          bool inverse, double scale) {
  if (re.ndim() == 0 || re.shape().back() == 0)
    fail<ShapeError>("{}: a transform needs a last axis with elements, not shape {}", function, re.shape());
  if (!is_floating(re.dtype()) || (im && im->dtype() != re.dtype()))
    fail<DtypeError>("{}: the parts must have one floating dtype, not {} and {}", function, re.dtype(),
                     im ? im->dtype() : re.dtype());
  if (im && im->shape() != re.shape())
    fail<ShapeError>("{}: the parts must have one shape, not {} and {}", function, re.shape(), im->shape());
  if (im && im->device() != re.device())
    fail<DeviceError>("{}: the real part is on {}, the imaginary one on {}", function, re.device().name(),
                      im->device().name());
  if (is_16bit_float(re.dtype())) {
    const auto wide = fourier_transform(function, re.astype(Dtype::float32),
                                        im ? std::optional(im->astype(Dtype::float32)) : im, inverse, scale);
    return {wide.first.astype(re.dtype()), wide.second.astype(re.dtype())};
  }
  const Array out_re = Array::empty(re.shape(), re.dtype(), re.device()),
              out_im = Array::empty(re.shape(), re.dtype(), re.device());
  if (re.size() == 0) return {out_re, out_im};
  const Shape rows{re.size() / re.shape().back(), re.shape().back(), 1};
  const Array x = re.reshape(rows), y = im ? im->reshape(rows) : x;
  const View imaginary = readable(y);
  compute(re.device(), primitives::Fft{inverse, scale, readable(x), im ? &imaginary : nullptr,
                                       writable(out_re.reshape(rows)), writable(out_im.reshape(rows))});
  return {out_re, out_im};
}

}  // namespace detail

namespace fft {

namespace {

using detail::slice_axis;

/// Returns the dtype of the real and imaginary parts in a transform.
Dtype part_of(const Array& x) {
  const Dtype part = part_dtype(x.dtype());
  if (is_16bit_float(part)) return Dtype::float32;
  return is_floating(part) ? part : widest_float(x.device());
}

/// Returns the first n elements along an axis, padded with zeros.
Array of_length(const Array& x, int axis, std::int64_t n) {
  const std::int64_t have = x.shape()[axis];
  if (have == n) return x;
  if (have > n) return slice_axis(x, axis, 0, n);
  Shape shape = x.shape();
  shape[axis] = n;
  const Array longer = detail::filled(shape, 0, x.dtype(), x.device());
  copyto(slice_axis(longer, axis, 0, have), x);
  return longer;
}

std::int64_t length_of(const Array& x, int axis, const std::optional<std::int64_t>& n, const char* function) {
  const std::int64_t length = n.value_or(x.shape()[axis]);
  if (length < 1)
    fail<ValueError>("fft::{}: a transform needs at least one element, {} were asked for", function, length);
  return length;
}

/// Returns the factor of a transform of n elements.
double scale_of(std::int64_t n, bool inverse, Norm norm) {
  const auto count = static_cast<double>(n);
  if (norm == Norm::ortho) return 1 / std::sqrt(count);
  return inverse == (norm == Norm::backward) ? 1 / count : 1;
}

/// Transforms n elements along an axis, in place if `is_own` says that x has no other user.
Array transform(const Array& x, int axis, std::int64_t n, bool inverse, double scale, bool is_own = false) {
  const Dtype part = part_of(x);
  const bool has_imag = is_complex(x.dtype());
  const Dtype result = promote(part, Dtype::complex64);
  const Array in = of_length(detail::as_dtype(x, has_imag ? result : part), axis, n);
  const Array out = is_own && in.is(x) ? x : Array::empty(in.shape(), result, x.device());
  if (out.size() > 0) {
    std::int64_t outer = 1;
    for (int k = 0; k < axis; ++k) outer *= in.shape()[k];
    const Shape around{outer, n, out.size() / n / outer};
    const Array from = in.reshape(around), to = out.reshape(around);
    const View imaginary = readable(has_imag ? imag(from) : from);
    compute(x.device(), primitives::Fft{inverse, scale, readable(real(from)), has_imag ? &imaginary : nullptr,
                                        writable(real(to)), writable(imag(to))});
  }
  return out;
}

Array complex_transform(const Array& x, const Options& options, bool inverse, const char* function,
                        bool is_own = false) {
  const int axis = normalize_axis(options.axis, x.ndim(), function);
  const std::int64_t n = length_of(x, axis, options.n, function);
  return transform(x, axis, n, inverse, scale_of(n, inverse, options.norm), is_own);
}

Array half_transform(const Array& x, const Options& options, const char* function) {
  if (is_complex(x.dtype())) fail<DtypeError>("fft::{}: real numbers are needed, {} was given", function, x.dtype());
  const int axis = normalize_axis(options.axis, x.ndim(), function);
  const std::int64_t n = length_of(x, axis, options.n, function);
  const Array whole = transform(x, axis, n, false, scale_of(n, false, options.norm));
  return copy(slice_axis(whole, axis, 0, n / 2 + 1));
}

Array real_transform(const Array& x, const Options& options, const char* function) {
  const int axis = normalize_axis(options.axis, x.ndim(), function);
  const std::int64_t n = options.n.value_or(2 * (x.shape()[axis] - 1));
  if (n < 1) fail<ValueError>("fft::{}: a transform needs at least one element, {} were asked for", function, n);
  const Array half = of_length(detail::as_dtype(x, promote(part_of(x), Dtype::complex64)), axis, n / 2 + 1);
  // the second half is the conjugate of the first half, reversed
  Shape shape = half.shape();
  shape[axis] = n;
  const Array whole = Array::empty(shape, half.dtype(), x.device());
  copyto(slice_axis(whole, axis, 0, n / 2 + 1), half);
  const std::int64_t mirrored = (n - 1) / 2;
  if (mirrored > 0)
    copyto(slice_axis(whole, axis, n / 2 + 1, n), conjugate(flip(slice_axis(half, axis, 1, mirrored + 1), axis)));
  // for real results these elements are real
  imag(slice_axis(whole, axis, 0, 1)).fill(0);
  if (n % 2 == 0) imag(slice_axis(whole, axis, n / 2, n / 2 + 1)).fill(0);
  const Array result = real(transform(whole, axis, n, true, scale_of(n, true, options.norm)));
  return is_16bit_float(x.dtype()) ? result.astype(x.dtype()) : copy(result);
}

/// The axes and their lengths. A length is empty if it follows from half a spectrum.
struct Plan {
  Axes axes;
  std::vector<std::optional<std::int64_t>> lengths;
};
Plan plan_of(const Array& x, const OptionsN& options, const char* function, bool last_is_half = false) {
  Plan plan;
  if (options.axes) {
    // an axis that is named twice is transformed twice
    for (const std::int64_t axis : *options.axes)
      plan.axes.push_back(normalize_axis(static_cast<int>(axis), x.ndim(), function));
  } else {
    const int count = options.s ? options.s->size() : x.ndim();
    if (count > x.ndim()) fail<ShapeError>("fft::{}: {} lengths for an array of shape {}", function, count, x.shape());
    for (int axis = x.ndim() - count; axis < x.ndim(); ++axis) plan.axes.push_back(axis);
  }
  if (options.s && options.s->size() != plan.axes.size())
    fail<ShapeError>("fft::{}: {} lengths for {} axes", function, options.s->size(), plan.axes.size());
  for (int i = 0; i < plan.axes.size(); ++i) {
    const bool half = last_is_half && i == plan.axes.size() - 1;
    plan.lengths.push_back(options.s ? std::optional((*options.s)[i])
                           : half    ? std::nullopt
                                     : std::optional(x.shape()[static_cast<int>(plan.axes[i])]));
  }
  return plan;
}

Options one_of(const Plan& plan, int i, Norm norm) {
  return {plan.lengths[static_cast<std::size_t>(i)], static_cast<int>(plan.axes[i]), norm};
}

Array along_all(const Array& x, const OptionsN& options, bool inverse, const char* function) {
  const Plan plan = plan_of(x, options, function);
  Array y = x;
  for (int i = plan.axes.size(); i-- > 0;)
    y = complex_transform(y, one_of(plan, i, options.norm), inverse, function, i + 1 < plan.axes.size());
  return plan.axes.empty() ? x.astype(promote(part_of(x), Dtype::complex64)) : y;
}

Norm other_way(Norm norm) {
  return norm == Norm::backward ? Norm::forward : norm == Norm::forward ? Norm::backward : norm;
}

Array shifted(const Array& x, const AxisArg& axes, bool back, const char* function) {
  Axes along, shifts;
  for (const std::int64_t axis : axes.all() ? axes.normalized(x.ndim(), function) : axes.axes()) {
    along.push_back(normalize_axis(axis, x.ndim(), function));
    const std::int64_t half = x.shape()[static_cast<int>(along.back())] / 2;
    shifts.push_back(back ? -half : half);
  }
  return roll(x, shifts, along);
}

}  // namespace

Array fft(const Array& x, const Options& options) { return complex_transform(x, options, false, "fft"); }
Array ifft(const Array& x, const Options& options) { return complex_transform(x, options, true, "ifft"); }
Array rfft(const Array& x, const Options& options) { return half_transform(x, options, "rfft"); }
Array irfft(const Array& x, const Options& options) { return real_transform(x, options, "irfft"); }
Array hfft(const Array& x, const Options& options) {
  Options other = options;
  other.norm = other_way(options.norm);
  return real_transform(is_complex(x.dtype()) ? conjugate(x) : x, other, "hfft");
}
Array ihfft(const Array& x, const Options& options) {
  Options other = options;
  other.norm = other_way(options.norm);
  return conjugate(half_transform(x, other, "ihfft"));
}

Array fftn(const Array& x, const OptionsN& options) { return along_all(x, options, false, "fftn"); }
Array ifftn(const Array& x, const OptionsN& options) { return along_all(x, options, true, "ifftn"); }
Array rfftn(const Array& x, const OptionsN& options) {
  const Plan plan = plan_of(x, options, "rfftn");
  if (plan.axes.empty()) fail<ShapeError>("fft::rfftn: at least one axis is needed");
  const int last = plan.axes.size() - 1;
  Array y = half_transform(x, one_of(plan, last, options.norm), "rfftn");
  for (int i = last; i-- > 0;) y = complex_transform(y, one_of(plan, i, options.norm), false, "rfftn", true);
  return y;
}
Array irfftn(const Array& x, const OptionsN& options) {
  const Plan plan = plan_of(x, options, "irfftn", true);
  if (plan.axes.empty()) fail<ShapeError>("fft::irfftn: at least one axis is needed");
  const int last = plan.axes.size() - 1;
  Array y = x;
  for (int i = 0; i < last; ++i) y = complex_transform(y, one_of(plan, i, options.norm), true, "irfftn", i > 0);
  return real_transform(y, one_of(plan, last, options.norm), "irfftn");
}

Array fftfreq(std::int64_t n, double d) {
  if (n < 1) fail<ValueError>("fft::fftfreq: n must be at least 1, {} was given", n);
  const std::int64_t positive = (n + 1) / 2;
  const Array whole = concatenate({arange(positive), arange(-(n - positive), std::int64_t{0})});
  return multiply(whole.astype(widest_float(current_device())), 1 / (static_cast<double>(n) * d));
}
Array rfftfreq(std::int64_t n, double d) {
  if (n < 1) fail<ValueError>("fft::rfftfreq: n must be at least 1, {} was given", n);
  return multiply(arange(n / 2 + 1).astype(widest_float(current_device())), 1 / (static_cast<double>(n) * d));
}
Array fftshift(const Array& x, const AxisArg& axes) { return shifted(x, axes, false, "fftshift"); }
Array ifftshift(const Array& x, const AxisArg& axes) { return shifted(x, axes, true, "ifftshift"); }

}  // namespace fft
}  // namespace catenary
