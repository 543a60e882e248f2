// Pooling, and operators that put windows back into images.

#include <algorithm>
#include <limits>

#include "catenary/array/creation.h"
#include "catenary/array/elementwise_core.h"
#include "catenary/array/indexing.h"
#include "catenary/array/manipulation.h"
#include "catenary/onnx/operators.h"
#include "catenary/onnx/windows.h"

namespace catenary::onnx {

namespace {

bool is_dilated(const Windows& w) {
  return std::any_of(w.dilations.begin(), w.dilations.end(), [](std::int64_t d) { return d != 1; });
}

/// Returns the number of taps of a window. Throws ValueError if it is impossible.
std::int64_t taps_in(const Call& c, const Integers& kernel) {
  constexpr std::int64_t kMost = std::int64_t{1} << 31;
  std::int64_t count = 1;
  for (const std::int64_t size : kernel)
    if (size < 0 || (count *= size) > kMost) c.fail("a window has more than {} elements", kMost);
  return count;
}

/// Adds windows that begin inside the padded input, as ceil_mode does.
void round_up(Windows& w, const Shape& shape) {
  for (std::size_t i = 0; i < w.kernel.size(); ++i) {
    const std::int64_t size = shape[static_cast<int>(i) + 2] + w.before[i] + w.after[i];
    const std::int64_t taps = (w.kernel[i] - 1) * w.dilations[i] + 1, rest = (size - taps) % w.strides[i];
    if (rest == 0 || size < taps) continue;
    // the last window must begin in the input or in the padding before it
    const std::int64_t start = size - taps - rest + w.strides[i];
    if (start < shape[static_cast<int>(i) + 2] + w.before[i]) w.after[i] += w.strides[i] - rest;
  }
}

/// Reads kernel_shape, ceil_mode and the other attributes of a pooling.
Windows pooling_windows(const Call& c, const Shape& shape) {
  const Integers kernel = c.list("kernel_shape").value_or(Integers());
  Windows w = windows_of(c, shape, kernel);
  if (c.integer("ceil_mode", 0) != 0) round_up(w, shape);
  for (std::size_t i = 0; i < kernel.size(); ++i)
    if (kernel[i] < 1 || w.strides[i] < 1 || w.dilations[i] < 1) c.fail("kernel, stride or dilation is not positive");
  return w;
}

/// Calls f(elements) for each tap of the windows over x, in C order. x contains its padding.
template <class Each>
void for_each_tap(const Call& c, const Variable& x, const Windows& w, Each&& f) {
  const std::size_t n = w.kernel.size();
  Integers last;  // the first element of the last window
  for (std::size_t i = 0; i < n; ++i) {
    last.push_back(x.shape(static_cast<int>(i) + 2) - (w.kernel[i] - 1) * w.dilations[i] - 1);
    if (last[i] < 0) c.fail("no window fits into an input of shape {} with padding", x.shape());
  }
  constexpr std::int64_t kMostDilated = std::int64_t{1} << 16;
  const std::int64_t count = taps_in(c, w.kernel);
  if (count > kMostDilated) c.fail("dilated windows of {} elements are not supported", count);
  for (std::int64_t tap = 0; tap < count; ++tap) {
    std::vector<Index> at(n + 2, Index(slice()));
    std::int64_t rest = tap;
    for (std::size_t i = n; i-- > 0; rest /= w.kernel[i]) {
      const std::int64_t start = rest % w.kernel[i] * w.dilations[i];
      at[i + 2] = Index(slice(start, start + last[i] + 1, w.strides[i]));
    }
    f(F::get_item(x, at), tap);
  }
}

/// Returns the positions of maxima in the flattened input. `taps` are their positions in the windows.
Array positions_of(const Call& c, const Array& taps, const Windows& w, const Shape& shape) {
  const std::size_t n = w.kernel.size();
  const bool by_column = c.integer("storage_order", 0) != 0;
  const int ndim = shape.size();
  const auto numbers = [&](int axis, std::int64_t size) {
    return arange(size).reshape(shape_along(ndim, axis, size)).to_device(c.device());
  };
  Array flat;
  std::int64_t tap_stride = taps_in(c, w.kernel), stride = 1;
  for (std::size_t i = 0; i < n; ++i) {
    const int axis = static_cast<int>(i) + 2;
    tap_stride /= w.kernel[i];
    const Array tap = remainder(floor_divide(taps, tap_stride), w.kernel[i]);
    const Array start = subtract(multiply(numbers(axis, taps.shape(axis)), w.strides[i]), w.before[i]);
    const Array position = add(start, multiply(tap, w.dilations[i]));
    if (i == 0)
      flat = position;
    else
      flat = by_column ? add(flat, multiply(position, stride)) : add(multiply(flat, shape[axis]), position);
    stride *= shape[axis];
  }
  const Array plane = add(multiply(numbers(0, shape[0]), shape[1]), numbers(1, shape[1]));
  return add(flat, multiply(plane, stride));
}

Values max_pooling(const Call& c) {
  const Variable given = c.x(0);
  Windows w = pooling_windows(c, given.shape());
  const Windows plain = w;
  const Dtype dtype = given.dtype();
  const Variable x = is_floating(dtype) ? given : Variable(given.array().astype(Dtype::float32));
  constexpr double kLeast = -std::numeric_limits<double>::infinity();
  const bool wants_places = c.wants(1);
  Variable y;
  Array taps;
  if (is_dilated(w)) {
    for_each_tap(c, padded(x, w.before, w.after, kLeast), w, [&](const Variable& elements, std::int64_t tap) {
      if (wants_places) {
        const Array here = full_like(elements.array(), tap, Dtype::int64);
        taps = y.defined() ? where(greater(elements.array(), y.array()), here, taps) : here;
      }
      y = y.defined() ? F::maximum(y, elements) : elements;
    });
  } else {
    F::MaxPoolingOptions options;
    const Variable filled = padded(x, w, kLeast);
    options.stride = per_axis(w.strides);
    options.pad = per_axis(w.before);
    options.cover_all = false;
    if (wants_places) options.return_indices = &taps;
    y = F::max_pooling_nd(filled, per_axis(w.kernel), options);
  }
  Values result{y.dtype() == dtype ? y : Variable(y.array().astype(dtype))};
  c.integer("storage_order", 0);
  if (wants_places) result.emplace_back(positions_of(c, taps, plain, given.shape()));
  return result;
}

/// Returns the mean of each window. x contains its padding.
Variable window_means(const Call& c, const Variable& x, const Windows& w) {
  if (is_dilated(w)) {
    Variable sum;
    for_each_tap(c, x, w,
                 [&](const Variable& elements, std::int64_t) { sum = sum.defined() ? sum + elements : elements; });
    return sum / static_cast<double>(taps_in(c, w.kernel));
  }
  F::AveragePoolingOptions options;
  options.stride = per_axis(w.strides);
  return F::average_pooling_nd(x, per_axis(w.kernel), options);
}

Values average_pooling(const Call& c) {
  const Variable x = c.x(0);
  const bool counts_padding = c.integer("count_include_pad", 0) != 0;
  const Windows w = pooling_windows(c, x.shape()), plain = windows_of(c, x.shape(), w.kernel);
  // the mean over a window with zeros, divided by the share of its elements that count
  const Variable all(ones(x.shape(), x.dtype()).to_device(x.device()));
  Integers none(w.kernel.size(), 0), added;  // by ceil_mode, which never counts
  for (std::size_t i = 0; i < w.kernel.size(); ++i) added.push_back(w.after[i] - plain.after[i]);
  const Variable counted = counts_padding ? padded(padded(all, plain.before, plain.after, 1.0), none, added, 0.0)
                                          : padded(all, plain.before, w.after, 0.0);
  return {window_means(c, padded(x, plain.before, w.after, 0.0), w) / window_means(c, counted, w)};
}

/// Returns |x|^p, and the p-th root.
Variable to_power(const Variable& x, std::int64_t p) {
  if (p == 2) return x * x;
  return p == 1 ? F::absolute(x) : F::power(F::absolute(x), static_cast<double>(p));
}
Variable root_of(const Variable& x, std::int64_t p) {
  if (p == 2) return F::sqrt(x);
  return p == 1 ? x : F::power(x, 1 / static_cast<double>(p));
}

std::int64_t order_of(const Call& c) {
  const std::int64_t p = c.integer("p", 2);
  if (p < 1) c.fail("p is {} where a positive number is needed", p);
  return p;
}

Values lp_pooling(const Call& c) {
  const Variable x = c.x(0);
  const std::int64_t p = order_of(c);
  const Windows w = pooling_windows(c, x.shape());
  const Variable means = window_means(c, padded(to_power(x, p), w.before, w.after, 0.0), w);
  return {root_of(means * static_cast<double>(taps_in(c, w.kernel)), p)};
}

Values global_lp_pooling(const Call& c) {
  const std::int64_t p = order_of(c);
  return {root_of(F::sum(to_power(c.x(0), p), axes_from(2, c.x(0).ndim()), true), p)};
}

Values max_unpooling(const Call& c) {
  const Array x = c.array(0), positions = c.array(1);
  const Integers kernel = c.list("kernel_shape").value_or(Integers());
  const std::size_t n = kernel.size();
  const Integers strides = or_ones(c, "strides", n), pads = c.list("pads").value_or(Integers(2 * n, 0));
  if (static_cast<std::size_t>(x.ndim()) != n + 2 || pads.size() != 2 * n || positions.shape() != x.shape())
    c.fail("shapes {} and {} do not fit {} spatial axes", x.shape(), positions.shape(), n);
  Shape shape{x.shape(0), x.shape(1)};
  for (std::size_t i = 0; i < n; ++i)
    shape.push_back((x.shape(static_cast<int>(i) + 2) - 1) * strides[i] + kernel[i] - pads[i] - pads[n + i]);
  const Array flat = zeros({shape.product()}, x.dtype()).to_device(c.device());
  flat.set_at({Index(positions.reshape({-1}))}, x.reshape({-1}));
  const Array inner = flat.reshape(shape);
  if (!c.has(2)) return {Variable(inner)};
  const Shape wanted(*c.integers(2));
  if (wanted.size() != shape.size()) c.fail("output_shape is {} where {} has as many axes as x", wanted, shape);
  const Array result = zeros(wanted, x.dtype()).to_device(c.device());
  std::vector<Index> at;
  for (int i = 0; i < shape.size(); ++i) {
    if (wanted[i] < shape[i]) c.fail("output_shape is {} where at least {} is needed", wanted, shape);
    at.emplace_back(slice(0, shape[i]));
  }
  result.set_at(at, inner);
  return {Variable(result)};
}

/// Col2Im is a transposed convolution with a filter for each tap.
Values image_of_columns(const Call& c) {
  const Variable x = c.x(0);
  const Integers image = c.integers(1).value_or(Integers()), block = c.integers(2).value_or(Integers());
  const std::size_t n = image.size();
  const Integers strides = or_ones(c, "strides", n), dilations = or_ones(c, "dilations", n),
                 pads = c.list("pads").value_or(Integers(2 * n, 0));
  constexpr std::int64_t kMost = std::int64_t{1} << 31;
  if (std::ranges::any_of(image, [](std::int64_t size) { return size < 0 || size > kMost; }))
    c.fail("an image of shape ({}) is impossible", fmt::join(image, ", "));
  const std::int64_t taps = taps_in(c, block);
  if (x.ndim() != 3 || n < 1 || block.size() != n || pads.size() != 2 * n || taps < 1 || x.shape(1) % taps != 0)
    c.fail("columns of shape {} do not fit an image with {} axes and blocks of {}", x.shape(), n, taps);
  const std::int64_t channels = x.shape(1) / taps;
  Shape columns{x.shape(0) * channels, taps}, filter{taps, 1}, full, shape{x.shape(0), channels};
  std::vector<Index> kept(2, Index(slice()));
  for (std::size_t i = 0; i < n; ++i) {
    const std::int64_t size = image[i] + pads[i] + pads[n + i], reach = (block[i] - 1) * dilations[i] + 1;
    if (strides[i] < 1 || size < reach) c.fail("no block fits into axis {} of the image", i);
    columns.push_back((size - reach) / strides[i] + 1);
    filter.push_back(block[i]);
    full.push_back(size);
    shape.push_back(image[i]);
    kept.emplace_back(slice(pads[i], pads[i] + image[i]));
  }
  F::DeconvolutionOptions options;
  options.stride = per_axis(strides);
  options.dilate = per_axis(dilations);
  options.outsize = full;
  const Variable filters(eye(taps, taps, 0, x.dtype()).reshape(filter).to_device(c.device()));
  return {F::reshape(F::get_item(F::deconvolution_nd(F::reshape(x, columns), filters, options), kept), shape)};
}

}  // namespace

std::span<const Operator> pooling_operators() {
  static const Operator rows[] = {
      {"MaxPool", 1, max_pooling},
      {"AveragePool", 1, average_pooling},
      {"LpPool", 2, lp_pooling},
      {"GlobalAveragePool", 1,
       [](const Call& c) { return Values{F::mean(c.x(0), axes_from(2, c.x(0).ndim()), true)}; }},
      {"GlobalMaxPool", 1, [](const Call& c) { return Values{F::max(c.x(0), axes_from(2, c.x(0).ndim()), true)}; }},
      {"GlobalLpPool", 2, global_lp_pooling},
      {"MaxUnpool", 9, max_unpooling},
      {"Col2Im", 18, image_of_columns},
  };
  return rows;
}

}  // namespace catenary::onnx
