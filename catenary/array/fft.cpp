#include "catenary/array/fft.h"

#include <cmath>
#include <numbers>

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

/// Returns cos(2 pi k / n) and sin(2 pi k / n) for k < m as `dtype`. Long tables are products of two short ones.
std::pair<Array, Array> turns(std::int64_t m, std::int64_t n, Dtype dtype, const Device& device) {
  constexpr std::int64_t kBlock = 1024;
  const auto of = [&](std::int64_t count, std::int64_t step) {
    const double turn = 2 * std::numbers::pi * static_cast<double>(step) / static_cast<double>(n);
    const Array angles = multiply(detail::iota(count, device).astype(Dtype::float64), turn);
    return std::pair(cos(angles), sin(angles));
  };
  if (m <= 4 * kBlock) {
    const auto [real, imaginary] = of(m, 1);
    return {real.astype(dtype), imaginary.astype(dtype)};
  }
  const std::int64_t rows = (m + kBlock - 1) / kBlock;
  const auto [fine, fine_sin] = of(kBlock, 1);
  const auto [steps, steps_sin] = of(rows, kBlock);
  const Array coarse = steps.reshape({rows, 1}), coarse_sin = steps_sin.reshape({rows, 1});
  const auto flat = [&](const Array& table) { return slice_axis(table.astype(dtype).reshape({-1}), 0, 0, m); };
  return {flat(subtract(multiply(coarse, fine), multiply(coarse_sin, fine_sin))),
          flat(add(multiply(coarse, fine_sin), multiply(coarse_sin, fine)))};
}

/// Returns whether a transform of n real numbers along an axis of `like` takes less time at half length. Its factors
/// and sums cost a fixed time.
bool pays_at_half_length(std::int64_t n, const Array& like) {
  constexpr std::int64_t kFewNumbers = 1 << 15;
  return n % 2 == 0 && like.size() >= kFewNumbers && has_float64(like.device());
}

/// Axes of an array that has n elements along a middle axis.
Shape around_axis(const Shape& shape, int axis, std::int64_t n) {
  std::int64_t outer = 1;
  for (int k = 0; k < axis; ++k) outer *= shape[k];
  return {outer, n, shape.product() / shape[axis] / outer};
}

/// Returns every other element of a middle axis of a contiguous array, from the first or the second on.
View every_other(View view, std::int64_t first) {
  view.shape[1] /= 2;
  view.offset += first * view.strides[1];
  view.strides[1] *= 2;
  return view;
}

/// Transforms n real numbers along an axis, an even number, to half a spectrum by a transform of n / 2 complex numbers,
/// whose real parts are the even elements and whose imaginary parts are the odd ones.
Array transform_to_half(const Array& x, int axis, std::int64_t n, double scale) {
  const std::int64_t m = n / 2;
  const Shape around = around_axis(x.shape(), axis, n);
  Shape shape = around;
  shape[1] = m;
  const Array a = Array::empty(shape, x.dtype(), x.device()), b = Array::empty(shape, x.dtype(), x.device());
  const Array numbers = x.reshape(around);
  const View view = readable(numbers), odd = every_other(view, 1);
  compute(x.device(), primitives::Fft{false, scale / 2, every_other(view, 0), &odd, writable(a), writable(b)});
  shape = x.shape();
  shape[axis] = m + 1;
  const Array out = Array::empty(shape, promote(x.dtype(), Dtype::complex64), x.device());
  const Array all = out.reshape({around[0], m + 1, around[2]}), re = real(all), im = imag(all);
  const Array a0 = slice_axis(a, 1, 0, 1), b0 = slice_axis(b, 1, 0, 1);
  copyto(slice_axis(re, 1, 0, 1), multiply(add(a0, b0), 2));
  copyto(slice_axis(re, 1, m, m + 1), multiply(subtract(a0, b0), 2));
  slice_axis(im, 1, 0, 1).fill(0);
  slice_axis(im, 1, m, m + 1).fill(0);
  if (m == 1) return out;
  const auto [cosines, sines] = turns(m, n, x.dtype(), x.device());
  const Array c = slice_axis(cosines, 0, 1, m).reshape({1, m - 1, 1}),
              s = slice_axis(sines, 0, 1, m).reshape({1, m - 1, 1});
  const Array a_here = slice_axis(a, 1, 1, m), b_here = slice_axis(b, 1, 1, m);
  const Array a_there = flip(a_here, 1), b_there = flip(b_here, 1);
  const Array odd_re = add(b_here, b_there), odd_im = subtract(a_there, a_here);
  copyto(slice_axis(re, 1, 1, m), add(add(a_here, a_there), add(multiply(c, odd_re), multiply(s, odd_im))));
  copyto(slice_axis(im, 1, 1, m), add(subtract(b_here, b_there), subtract(multiply(c, odd_im), multiply(s, odd_re))));
  return out;
}

Array half_transform(const Array& x, const Options& options, const char* function) {
  if (is_complex(x.dtype())) fail<DtypeError>("fft::{}: real numbers are needed, {} was given", function, x.dtype());
  const int axis = normalize_axis(options.axis, x.ndim(), function);
  const std::int64_t n = length_of(x, axis, options.n, function);
  const double scale = scale_of(n, false, options.norm);
  if (pays_at_half_length(n, x))
    return transform_to_half(of_length(detail::as_dtype(x, part_of(x)), axis, n), axis, n, scale);
  const Array whole = transform(x, axis, n, false, scale);
  return copy(slice_axis(whole, axis, 0, n / 2 + 1));
}

/// Transforms half a spectrum along an axis to n real numbers, an even number, by a transform of n / 2 complex numbers:
/// their real parts are the even elements, their imaginary parts the odd ones.
Array transform_half(const Array& half, int axis, std::int64_t n, double scale) {
  const std::int64_t m = n / 2;
  const Dtype part = part_dtype(half.dtype());
  const auto along = [&](const Array& x, std::int64_t begin, std::int64_t end) {
    return slice_axis(x, axis, begin, end);
  };
  Shape beside = Shape::filled(half.ndim(), 1);
  beside[axis] = m;
  const auto [cosines, sines] = turns(m, n, part, half.device());
  const Array c = cosines.reshape(beside), s = sines.reshape(beside), re = real(half), im = imag(half);
  const Array a = along(re, 0, m), b = along(im, 0, m);
  const Array a_end = flip(along(re, 1, m + 1), axis), b_end = flip(along(im, 1, m + 1), axis);
  const Array odd_re = subtract(a, a_end), odd_im = add(b, b_end);
  const Array z_re = subtract(add(a, a_end), add(multiply(odd_re, s), multiply(odd_im, c))).eval();
  const Array z_im = add(subtract(b, b_end), subtract(multiply(odd_re, c), multiply(odd_im, s))).eval();
  // for real results the first and the last element of the half are real
  copyto(along(z_re, 0, 1), add(along(re, 0, 1), along(re, m, m + 1)));
  copyto(along(z_im, 0, 1), subtract(along(re, 0, 1), along(re, m, m + 1)));
  Shape shape = half.shape();
  shape[axis] = n;
  const Array out = Array::empty(shape, part, half.device());
  const Array from_re = z_re.reshape(around_axis(z_re.shape(), axis, m)),
              from_im = z_im.reshape(around_axis(z_im.shape(), axis, m));
  const View imaginary = readable(from_im), view = writable(out.reshape(around_axis(shape, axis, n)));
  compute(out.device(),
          primitives::Fft{true, scale, readable(from_re), &imaginary, every_other(view, 0), every_other(view, 1)});
  return out;
}

Array real_transform(const Array& x, const Options& options, const char* function) {
  const int axis = normalize_axis(options.axis, x.ndim(), function);
  const std::int64_t n = options.n.value_or(2 * (x.shape()[axis] - 1));
  if (n < 1) fail<ValueError>("fft::{}: a transform needs at least one element, {} were asked for", function, n);
  const Array half = of_length(detail::as_dtype(x, promote(part_of(x), Dtype::complex64)), axis, n / 2 + 1);
  if (pays_at_half_length(n, half)) {
    const Array whole = transform_half(half, axis, n, scale_of(n, true, options.norm));
    return is_16bit_float(x.dtype()) ? whole.astype(x.dtype()) : whole;
  }
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
