// Fourier transforms and windows of signals.

#include <algorithm>
#include <cmath>
#include <numbers>

#include "catenary/array/creation.h"
#include "catenary/array/elementwise_core.h"
#include "catenary/array/manipulation.h"
#include "catenary/device/float64.h"
#include "catenary/onnx/operators.h"

namespace catenary::onnx {

namespace {

/// A signal as real and imaginary parts. Its last axis has 1 or 2 elements: these parts.
using Parts = std::pair<Variable, Variable>;

Parts parts_of(const Call& c, const Variable& x) {
  const std::int64_t last = x.ndim() < 2 ? 0 : x.shape(x.ndim() - 1);
  if (last != 1 && last != 2) c.fail("a signal of shape {} does not end in an axis of 1 or 2", x.shape());
  const Variable re = F::get_item(x, {Index(ellipsis), Index(0)});
  return {re, last == 2 ? F::get_item(x, {Index(ellipsis), Index(1)}) : re * 0};
}

/// Cuts the last axis to n elements, or pads it with zeros.
Variable of_length(const Variable& x, std::int64_t n) {
  const std::int64_t length = x.shape(x.ndim() - 1);
  if (n <= length) return n == length ? x : F::get_item(x, {Index(ellipsis), Index(slice(0, n))});
  std::vector<PerSide<std::int64_t>::Pair> widths(static_cast<std::size_t>(x.ndim()), {0, 0});
  widths.back().second = n - length;
  return F::pad(x, PerSide<std::int64_t>(widths));
}

/// Returns the elements 0 to n / 2 of the last axis: the others follow from them if the signal is real.
Variable half_of(const Variable& x) { return of_length(x, x.shape(x.ndim() - 1) / 2 + 1); }

/// Appends the conjugates to half of a spectrum, so that its last axis has n elements.
Variable whole_of(const Variable& half, std::int64_t n, double sign) {
  const Variable first = of_length(half, n / 2 + 1);
  const Variable mirrored =
      F::flip(F::get_item(first, {Index(ellipsis), Index(slice(1, (n + 1) / 2))}), half.ndim() - 1);
  return F::concat({first, mirrored * sign}, half.ndim() - 1);
}

std::optional<std::int64_t> number(const Call& c, int i) {
  const std::optional<Integers> given = c.integers(i);
  if (given && given->size() != 1) c.fail("input {} has {} elements instead of 1", i, given->size());
  return given ? std::optional(given->front()) : std::nullopt;
}

Values fourier_transform(const Call& c) {
  // rounding errors are relative to the largest element, so float32 is too coarse for small ones
  const Dtype wide = itemsize(c.x(0).dtype()) < 4 ? Dtype::float32 : widest_float(c.device());
  const Variable x = F::cast(c.x(0), wide);
  const auto narrow = [&](const Variable& y) { return Values{F::cast(y, c.x(0).dtype())}; };
  const bool inverse = c.integer("inverse", 0) != 0, onesided = c.integer("onesided", 0) != 0;
  const std::int64_t given = c.opset() >= 20 ? number(c, 2).value_or(-2) : c.integer("axis", 1);
  const int axis = axis_of(c, given, x.ndim()), last = x.ndim() - 2;
  if (axis > last) c.fail("axis {} holds the real and imaginary parts", axis);
  auto [re, im] = parts_of(c, x);
  const bool real = x.shape(x.ndim() - 1) == 1;
  if (onesided && real == inverse) c.fail("onesided needs {} input", inverse ? "complex" : "real");
  const std::int64_t length = x.shape(axis);
  const std::int64_t n = number(c, 1).value_or(onesided && inverse ? 2 * (length - 1) : length);
  if (n < 1) c.fail("dft_length is {}", n);
  re = F::moveaxis(re, axis, last);
  im = F::moveaxis(im, axis, last);
  if (onesided && inverse) {
    const Variable y = F::ifft({whole_of(re, n, 1), whole_of(im, n, -1)}).first;
    return narrow(F::expand_dims(F::moveaxis(y, last, axis), x.ndim() - 1));
  }
  const Parts all{of_length(re, n), of_length(im, n)};
  Parts y = inverse ? F::ifft(all) : F::fft(all);
  if (onesided) y = {half_of(y.first), half_of(y.second)};
  return narrow(F::stack({F::moveaxis(y.first, last, axis), F::moveaxis(y.second, last, axis)}, x.ndim() - 1));
}

Values short_time_fourier_transform(const Call& c) {
  const Variable x = c.x(0);
  const bool onesided = c.integer("onesided", 1) != 0;
  const std::optional<std::int64_t> step = number(c, 1);
  const std::int64_t length = number(c, 3).value_or(c.has(2) ? c.x(2).size() : 0);
  if (x.ndim() != 3) c.fail("a signal of shape {} has not 3 axes", x.shape());
  if (!step || *step < 1 || length < 1 || length > x.shape(1))
    c.fail("frames of {} with a step of {} do not fit a signal of shape {}", length, step.value_or(0), x.shape());
  if (c.has(2) && c.x(2).shape() != Shape{length})
    c.fail("a window of shape {} does not fit frames of {}", c.x(2).shape(), length);
  if (onesided && x.shape(2) != 1) c.fail("onesided needs real input");
  const std::int64_t frames = (x.shape(1) - length) / *step + 1;
  const Array starts = multiply(arange(frames).reshape({frames, 1}), *step);
  const Array at = add(starts, arange(length)).to_device(c.device());
  const auto framed = [&](const Variable& v) {
    const Variable y = F::get_item(v, {Index(slice()), Index(at)});
    return c.has(2) ? y * c.x(2) : y;
  };
  const auto [re, im] = parts_of(c, x);
  Parts y = F::fft({framed(re), framed(im)});
  if (onesided) y = {half_of(y.first), half_of(y.second)};
  return {F::stack({y.first, y.second}, 3)};
}

/// Returns a window of cosines: Σ terms[k] cos(2 π k t / n).
Values cosine_window(const Call& c, const std::vector<double>& terms) {
  const std::optional<std::int64_t> size = number(c, 0);
  const bool periodic = c.integer("periodic", 1) != 0;
  const Dtype dtype = dtype_to(c, c.integer("output_datatype", 1));
  if (!size || *size < 0) c.fail("the size of a window must be a number");
  const double n = std::max(1.0, static_cast<double>(periodic ? *size : *size - 1));
  check_count(static_cast<double>(*size));
  std::vector<double> window;
  for (std::int64_t t = 0; t < *size; ++t) {
    double sum = 0;
    for (std::size_t k = 0; k < terms.size(); ++k)
      sum += terms[k] * std::cos(2 * std::numbers::pi * static_cast<double>(k) * static_cast<double>(t) / n);
    window.push_back(sum);
  }
  const Array values = Array::from_host(window.data(), {*size}, Dtype::float64, Device());
  return {Variable(values.astype(dtype).to_device(c.device()))};
}

/// Returns the bins of a Fourier transform in which `count` + 2 points on the mel scale lie.
Integers mel_points(std::int64_t count, std::int64_t length, double rate, double low, double high) {
  const auto mel = [](double hertz) { return 2595 * std::log10(1 + hertz / 700); };
  const double step = (mel(high) - mel(low)) / static_cast<double>(count + 2);
  Integers points;
  for (std::int64_t i = 0; i < count + 2; ++i) {
    const double hertz = 700 * (std::pow(10, (mel(low) + static_cast<double>(i) * step) / 2595) - 1);
    points.push_back(static_cast<std::int64_t>(std::floor(static_cast<double>(length + 1) * hertz / rate)));
  }
  return points;
}

Values mel_weights(const Call& c) {
  const std::int64_t count = number(c, 0).value_or(0), length = number(c, 1).value_or(0),
                     rate = number(c, 2).value_or(0);
  const auto real = [&](int i) { return c.array(i).astype(Dtype::float64).reshape({}).item<double>(); };
  const double low = real(3), high = real(4);
  const Dtype dtype = dtype_to(c, c.integer("output_datatype", 1));
  if (count < 1 || length < 1 || rate < 1) c.fail("num_mel_bins, dft_length and sample_rate must be positive");
  const std::int64_t bins = length / 2 + 1;
  check_count((static_cast<double>(bins) + 3) * static_cast<double>(count));
  const Integers points = mel_points(count, length, static_cast<double>(rate), low, high);
  if (!std::is_sorted(points.begin(), points.end()) || points.front() < 0 || points.back() > bins)
    c.fail("the band from {} to {} Hz does not fit a sample rate of {}", low, high, rate);
  std::vector<double> weights(static_cast<std::size_t>(bins * count), 0);
  for (std::int64_t i = 0; i < count; ++i) {
    const auto k = static_cast<std::size_t>(i);
    const std::int64_t from = points[k], centre = points[k + 1], to = points[k + 2];
    const auto at = [&](std::int64_t bin) -> double& { return weights[static_cast<std::size_t>(bin * count + i)]; };
    const auto share = [](std::int64_t part, std::int64_t all) {
      return static_cast<double>(part) / static_cast<double>(all);
    };
    for (std::int64_t j = from; j < centre; ++j) at(j) = share(j - from, centre - from);
    for (std::int64_t j = centre; j < to; ++j) at(j) = share(to - j, to - centre);
    if (centre < bins) at(centre) = 1;
  }
  const Array all = Array::from_host(weights.data(), {bins, count}, Dtype::float64, Device());
  return {Variable(all.astype(dtype).to_device(c.device()))};
}

}  // namespace

std::span<const Operator> signal_operators() {
  static const Operator rows[] = {
      {"DFT", 17, fourier_transform},
      {"STFT", 17, short_time_fourier_transform},
      {"HannWindow", 17,
       [](const Call& c) {
         return cosine_window(c, {0.5, -0.5});
       }},
      {"HammingWindow", 17,
       [](const Call& c) {
         return cosine_window(c, {25.0 / 46, -21.0 / 46});
       }},
      {"BlackmanWindow", 17,
       [](const Call& c) {
         return cosine_window(c, {0.42, -0.5, 0.08});
       }},
      {"MelWeightMatrix", 17, mel_weights},
  };
  return rows;
}

}  // namespace catenary::onnx
