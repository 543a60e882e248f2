#include "catenary/array/pad.h"

#include <algorithm>
#include <vector>

#include "catenary/array/axes.h"
#include "catenary/array/elementwise_core.h"
#include "catenary/array/indexing.h"
#include "catenary/array/manipulation.h"
#include "catenary/array/run_text.h"
#include "catenary/array/sorting.h"
#include "catenary/array/view.h"
#include "catenary/core/format.h"

namespace catenary {

using detail::iota;
using detail::slice_axis;

namespace {

using Width = std::pair<std::int64_t, std::int64_t>;

template <class T>
std::pair<T, T> of_axis(const PerSide<T>& sides, int axis, int ndim, const char* what) {
  const auto& pairs = sides.pairs();
  if (pairs.size() != 1 && static_cast<int>(pairs.size()) != ndim)
    fail<ShapeError>("pad: {} pairs of {} for an array of {} dimensions; one for all axes or one for each is expected",
                     pairs.size(), what, ndim);
  return pairs[pairs.size() == 1 ? 0 : static_cast<std::size_t>(axis)];
}

/// An axis as kernels/pad.kernel takes it. `stride` is that of the operand that is read.
struct PadAxis {
  std::int64_t n, out, before, stride;
  std::int64_t period = 0, mirror = 0;

  PadAxis(PadMode mode, std::int64_t extent, Width width, std::int64_t step)
      : n(extent), out(width.first + extent + width.second), before(width.first), stride(step) {
    if (!padded() || mode == PadMode::edge || (mode == PadMode::reflect && n == 1)) return;
    period = mode == PadMode::wrap ? n : mode == PadMode::reflect ? 2 * (n - 1) : 2 * n;
    mirror = mode == PadMode::wrap ? 0 : mode == PadMode::reflect ? period : period - 1;
  }
  bool padded() const { return out != n; }
};

constexpr std::size_t kPadAxes = 4;

/// Returns the axes of x. Axes without borders are merged if memory allows it.
std::vector<PadAxis> pad_axes(PadMode mode, const Shape& extents, const std::vector<Width>& widths,
                              const Strides& strides) {
  std::vector<PadAxis> axes;
  for (int axis = 0; axis < extents.size(); ++axis) {
    const PadAxis next(mode, extents[axis], widths[static_cast<std::size_t>(axis)], strides[axis]);
    if (next.n == 1 && !next.padded()) continue;
    if (!axes.empty() && !axes.back().padded() && !next.padded() && axes.back().stride == next.n * next.stride) {
      const std::int64_t n = axes.back().n * next.n;
      axes.back() = PadAxis(mode, n, {0, 0}, next.stride);
    } else {
      axes.push_back(next);
    }
  }
  const PadAxis none(mode, 1, {0, 0}, 0);
  while (axes.size() < kPadAxes) axes.insert(axes.begin(), none);
  return axes;
}

/// The kernels' arguments after the arrays.
struct PadNumbers {
  Dims n, out, before, period, mirror, stride;
  explicit PadNumbers(const std::vector<PadAxis>& axes) {
    for (const PadAxis& axis : axes) {
      n.push_back(axis.n);
      out.push_back(axis.out);
      before.push_back(axis.before);
      period.push_back(axis.period);
      mirror.push_back(axis.mirror);
      stride.push_back(axis.stride);
    }
  }
};

/// Returns the widths of the first axis with borders, and those of the others.
std::pair<std::vector<Width>, std::vector<Width>> split(const std::vector<Width>& widths) {
  std::vector<Width> first(widths.size(), {0, 0}), rest = widths;
  for (std::size_t axis = 0; axis < widths.size(); ++axis) {
    if (widths[axis] == Width{0, 0}) continue;
    std::swap(first[axis], rest[axis]);
    break;
  }
  return {first, rest};
}

Shape padded_shape(Shape shape, const std::vector<Width>& widths) {
  for (int axis = 0; axis < shape.size(); ++axis) {
    const auto [before, after] = widths[static_cast<std::size_t>(axis)];
    shape[axis] += before + after;
  }
  return shape;
}

Array repeated(const Array& a, const std::vector<Width>& widths, PadMode mode) {
  if (a.dtype() == Dtype::complex128)  // no integer type of the kernels is as wide
    return complex(repeated(real(a), widths, mode), repeated(imag(a), widths, mode));
  const std::vector<PadAxis> axes = pad_axes(mode, a.shape(), widths, a.strides());
  if (axes.size() > kPadAxes) {  // one at a time, which needs all arrays in C order
    const auto [first, rest] = split(widths);
    return repeated(repeated(a.copy(), first, mode), rest, mode);
  }
  const Array y = Array::empty(padded_shape(a.shape(), widths), a.dtype(), a.device());
  const PadNumbers p(axes);
  // a CPU copies rows, the threads of a GPU take neighbouring elements
  const std::int64_t row = p.out[3], block = a.device().is_cpu() ? std::max<std::int64_t>(row, 1) : 1;
  const std::int64_t units = row == 0 ? 0 : y.size() / row * ((row + block - 1) / block);
  detail::run_text(
      "pad", "pad", units,
      {detail::reads_bits(a), detail::writes_bits(y), block, p.n, p.out, p.before, p.period, p.mirror, p.stride});
  return y;
}

Array repeated_back(const Array& gy, const Shape& shape, const std::vector<Width>& widths, PadMode mode) {
  const std::vector<PadAxis> axes = pad_axes(mode, shape, widths, gy.strides());
  if (axes.size() > kPadAxes) {
    const auto [first, rest] = split(widths);
    return repeated_back(repeated_back(gy.copy(), padded_shape(shape, first), rest, mode), shape, first, mode);
  }
  const Array gx = Array::empty(shape, gy.dtype(), gy.device());
  const PadNumbers p(axes);
  detail::run_text("pad", "pad_back", gx.size(),
                   {detail::reads(gy), detail::writes(gx), p.n, p.out, p.before, p.period, p.mirror, p.stride});
  return gx;
}

/// Pads by reflection through the edge point: 2 * edge - value. Wide borders reflect earlier reflections again.
Array padded_odd(const Array& a, int axis, Width width, bool with_edge) {
  const std::int64_t n = a.shape()[axis], period = with_edge ? n : n - 1;
  Array result = a;
  auto [left, right] = width;
  const int skip = with_edge ? 0 : 1;
  while (left > 0 || right > 0) {
    const std::int64_t length = result.shape()[axis], usable = (length - skip) / period * period;
    std::vector<Array> parts{result};
    if (const std::int64_t count = std::min(left, usable); count > 0) {
      parts.insert(parts.begin(),
                   slice_axis(result, axis, 0, 1) * 2 - flip(slice_axis(result, axis, skip, skip + count), axis));
      left -= count;
    }
    if (const std::int64_t count = std::min(right, usable); count > 0) {
      parts.push_back(slice_axis(result, axis, length - 1, length) * 2 -
                      flip(slice_axis(result, axis, length - skip - count, length - skip), axis));
      right -= count;
    }
    result = concatenate(parts, axis);
  }
  return result;
}

/// Computes steps from `end` towards the edge, which is not reached, in float64.
Array ramp(const Scalar& end, const Array& edge, std::int64_t width, int axis) {
  const Array start = Array::empty({}, Dtype::float64, edge.device());
  start.fill(end);
  const Array delta = edge.astype(Dtype::float64) - start;
  const Array step = delta / static_cast<double>(width);
  Shape shape = Shape::filled(edge.ndim(), 1);
  shape[axis] = width;
  const Array counter = iota(width, edge.device()).astype(Dtype::float64).reshape(shape);
  const Array values = ((step == 0.0).any() ? counter / static_cast<double>(width) * delta : counter * step) + start;
  return is_integer(edge.dtype()) ? floor(values) : values;
}

Array statistic(PadMode mode, const Array& part, int axis) {
  if (mode == PadMode::maximum) return part.max(axis, true);
  if (mode == PadMode::minimum) return part.min(axis, true);
  const Array middle = mode == PadMode::mean ? part.mean(axis, true) : median(part, axis, true);
  return is_integer(part.dtype()) ? rint(middle) : middle;
}

std::vector<Width> pad_widths(const Array& a, const PerSide<std::int64_t>& width, PadMode mode) {
  std::vector<Width> widths;
  for (int axis = 0; axis < a.ndim(); ++axis) {
    widths.push_back(of_axis(width, axis, a.ndim(), "widths"));
    const auto [before, after] = widths.back();
    if (before < 0 || after < 0) fail<ValueError>("pad: negative width {} or {} for axis {}", before, after, axis);
    constexpr std::int64_t most = std::int64_t{1} << 59;  // above every array size, and sums do not wrap
    if (before > most || after > most)
      fail<ShapeError>("pad: no array has borders as wide as {} and {}, of axis {}", before, after, axis);
    if (a.shape()[axis] == 0 && before + after > 0 && mode != PadMode::constant && mode != PadMode::empty)
      fail<ValueError>(
          "pad: axis {} is empty, so only the modes constant and empty can fill its borders; the shape is {}", axis,
          a.shape());
  }
  return widths;
}

/// The borders of one axis of a padded array, and the elements between them.
struct Borders {
  Array region, left, right;  ///< region has the borders of earlier axes, but not of later ones
  std::int64_t before, n, after;
  int axis;

  Array between(std::int64_t begin, std::int64_t end) const { return slice_axis(region, axis, begin, end); }
};

Borders borders_of(const Array& result, const Shape& inside, const std::vector<Width>& widths, int axis) {
  const auto [before, after] = widths[static_cast<std::size_t>(axis)];
  const std::int64_t n = inside[axis], end = before + n;
  Array region = result;
  for (int i = axis + 1; i < inside.size(); ++i) {
    const std::int64_t begin = widths[static_cast<std::size_t>(i)].first;
    region = slice_axis(region, i, begin, begin + inside[i]);
  }
  return {region, slice_axis(region, axis, 0, before), slice_axis(region, axis, end, end + after), before, n, after,
          axis};
}

void fill_with_ramps(const Borders& b, const std::pair<Scalar, Scalar>& ends) {
  const std::int64_t end = b.before + b.n;
  if (b.before) copyto(b.left, ramp(ends.first, b.between(b.before, b.before + 1), b.before, b.axis));
  if (b.after) copyto(b.right, flip(ramp(ends.second, b.between(end - 1, end), b.after, b.axis), b.axis));
}

void fill_with_statistics(const Borders& b, const PadOptions& options, int ndim) {
  const std::int64_t end = b.before + b.n;
  Width lengths{b.n, b.n};
  if (options.stat_length) {
    const auto given = of_axis(*options.stat_length, b.axis, ndim, "stat lengths");
    lengths = {std::min(b.n, given.first), std::min(b.n, given.second)};
    if (lengths.first <= 0 || lengths.second <= 0)
      throw ValueError("pad: stat_length of 0 yields no value for padding");
  }
  const Array first = statistic(options.mode, b.between(b.before, b.before + lengths.first), b.axis);
  const Array second = statistic(options.mode, b.between(end - lengths.second, end), b.axis);
  copyto(b.left, first);
  copyto(b.right, second);
}

void fill_with_odd_reflections(const Borders& b, PadMode mode) {
  const Array body = b.between(b.before, b.before + b.n);
  if (mode == PadMode::reflect && b.n == 1) {  // there is nothing to reflect
    copyto(b.left, body);
    copyto(b.right, body);
  } else {
    copyto(b.region, padded_odd(body, b.axis, {b.before, b.after}, mode == PadMode::symmetric));
  }
}

}  // namespace

namespace detail {

bool pad_repeats(PadMode mode) {
  return mode == PadMode::edge || mode == PadMode::reflect || mode == PadMode::symmetric || mode == PadMode::wrap;
}

Array pad_back(const Array& gy, const Shape& shape, const PerSide<std::int64_t>& width, PadMode mode) {
  std::vector<Width> widths;
  for (int axis = 0; axis < shape.size(); ++axis) widths.push_back(of_axis(width, axis, shape.size(), "widths"));
  return repeated_back(gy, shape, widths, mode);
}

}  // namespace detail

Array pad(const Array& a, const PerSide<std::int64_t>& width, const PadOptions& options) {
  const std::vector<Width> widths = pad_widths(a, width, options.mode);
  const Shape shape = padded_shape(a.shape(), widths);
  checked_size(shape, "pad");
  const bool odd = options.odd && (options.mode == PadMode::reflect || options.mode == PadMode::symmetric);
  if (detail::pad_repeats(options.mode) && !odd) return repeated(a, widths, options.mode);

  const Array result = Array::empty(shape, a.dtype(), a.device());
  Array inside = result;
  for (int axis = 0; axis < a.ndim(); ++axis) {
    const std::int64_t begin = widths[static_cast<std::size_t>(axis)].first;
    inside = slice_axis(inside, axis, begin, begin + a.shape()[axis]);
  }
  copyto(inside, a);
  for (int axis = 0; axis < a.ndim(); ++axis) {
    const Borders borders = borders_of(result, a.shape(), widths, axis);
    if (borders.before + borders.after == 0) continue;
    switch (options.mode) {
      case PadMode::constant: {
        const auto [first, second] = of_axis(options.constant_value, axis, a.ndim(), "constant values");
        borders.left.fill(first);
        borders.right.fill(second);
        break;
      }
      case PadMode::linear_ramp:
        fill_with_ramps(borders, of_axis(options.end_value, axis, a.ndim(), "end values"));
        break;
      case PadMode::maximum:
      case PadMode::mean:
      case PadMode::median:
      case PadMode::minimum:
        fill_with_statistics(borders, options, a.ndim());
        break;
      case PadMode::reflect:
      case PadMode::symmetric:
        fill_with_odd_reflections(borders, options.mode);
        break;
      case PadMode::edge:
      case PadMode::wrap:
      case PadMode::empty:
        break;
    }
  }
  return result;
}

}  // namespace catenary
