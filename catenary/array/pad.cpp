// numpy.pad.

#include <algorithm>

#include "catenary/array/axes.h"
#include "catenary/array/elementwise_core.h"
#include "catenary/array/indexing.h"
#include "catenary/array/manipulation.h"
#include "catenary/array/sorting.h"
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

/// Position in [0, n) that position i, outside or inside, takes its value from.
std::int64_t source(PadMode mode, std::int64_t i, std::int64_t n) {
  const auto modulo = [](std::int64_t x, std::int64_t period) { return (x % period + period) % period; };
  if (mode == PadMode::wrap) return modulo(i, n);
  if (mode == PadMode::edge || (mode == PadMode::reflect && n == 1)) return std::clamp<std::int64_t>(i, 0, n - 1);
  if (mode == PadMode::reflect) {
    const std::int64_t at = modulo(i, 2 * (n - 1));
    return at < n ? at : 2 * (n - 1) - at;
  }
  const std::int64_t at = modulo(i, 2 * n);
  return at < n ? at : 2 * n - 1 - at;
}

/// Writes `border`, positions from `begin` on outside of `body`: runs of it, forwards, backwards or of one element.
void write_border(const Array& border, const Array& body, int axis, std::int64_t begin, PadMode mode) {
  const std::int64_t n = body.shape()[axis], count = border.shape()[axis];
  const auto from = [&](std::int64_t i) { return source(mode, begin + i, n); };
  for (std::int64_t i = 0, end; i < count; i = end) {
    const std::int64_t first = from(i), step = i + 1 < count ? from(i + 1) - first : 0;
    end = i + 1;
    while (step >= -1 && step <= 1 && end < count && from(end) == first + (end - i) * step) ++end;
    const std::int64_t last = first + (end - 1 - i) * step;
    const Array run = slice_axis(body, axis, std::min(first, last), std::max(first, last) + 1);
    copyto(slice_axis(border, axis, i, end), last < first ? flip(run, axis) : run);
  }
}

/// Reflections through the edge's point: 2 * edge - value. Wide borders reflect again what was reflected before.
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

/// Steps from `end` towards the edge, which is not reached; computed in float64.
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

}  // namespace

Array pad(const Array& a, const PerSide<std::int64_t>& width, const PadOptions& options) {
  std::vector<Width> widths;
  Shape shape = a.shape();
  for (int axis = 0; axis < a.ndim(); ++axis) {
    widths.push_back(of_axis(width, axis, a.ndim(), "widths"));
    const auto [before, after] = widths.back();
    if (before < 0 || after < 0) fail<ValueError>("pad: negative width {} or {} for axis {}", before, after, axis);
    if (a.shape()[axis] == 0 && before + after > 0 && options.mode != PadMode::constant &&
        options.mode != PadMode::empty)
      fail<ValueError>("pad: axis {} is empty, so only constant and empty can fill what is added; the shape is {}",
                       axis, a.shape());
    shape[axis] += before + after;
  }
  checked_size(shape, "pad");
  const auto width_of = [&](int axis) { return widths[static_cast<std::size_t>(axis)]; };

  const Array result = Array::empty(shape, a.dtype(), a.device());
  Array inside = result;
  for (int axis = 0; axis < a.ndim(); ++axis)
    inside = slice_axis(inside, axis, width_of(axis).first, width_of(axis).first + a.shape()[axis]);
  copyto(inside, a);
  for (int axis = 0; axis < a.ndim(); ++axis) {
    const auto [before, after] = width_of(axis);
    const std::int64_t n = a.shape()[axis], end = before + n;
    if (before + after == 0) continue;
    // axes before this one have their borders, those after it are without
    Array region = result;
    for (int i = axis + 1; i < a.ndim(); ++i)
      region = slice_axis(region, i, width_of(i).first, width_of(i).first + a.shape()[i]);
    const Array left = slice_axis(region, axis, 0, before), right = slice_axis(region, axis, end, end + after);
    switch (options.mode) {
      case PadMode::constant: {
        const auto [first, second] = of_axis(options.constant_value, axis, a.ndim(), "constant values");
        left.fill(first);
        right.fill(second);
        break;
      }
      case PadMode::linear_ramp: {
        const auto [first, second] = of_axis(options.end_value, axis, a.ndim(), "end values");
        if (before) copyto(left, ramp(first, slice_axis(region, axis, before, before + 1), before, axis));
        if (after) copyto(right, flip(ramp(second, slice_axis(region, axis, end - 1, end), after, axis), axis));
        break;
      }
      case PadMode::maximum:
      case PadMode::mean:
      case PadMode::median:
      case PadMode::minimum: {
        Width lengths{n, n};
        if (options.stat_length) {
          const auto given = of_axis(*options.stat_length, axis, a.ndim(), "stat lengths");
          lengths = {std::min(n, given.first), std::min(n, given.second)};
          if (lengths.first <= 0 || lengths.second <= 0)
            throw ValueError("pad: stat_length of 0 yields no value for padding");
        }
        const Array first = statistic(options.mode, slice_axis(region, axis, before, before + lengths.first), axis);
        const Array second = statistic(options.mode, slice_axis(region, axis, end - lengths.second, end), axis);
        copyto(left, first);
        copyto(right, second);
        break;
      }
      case PadMode::edge:
      case PadMode::reflect:
      case PadMode::symmetric:
      case PadMode::wrap: {
        const Array body = slice_axis(region, axis, before, end);
        const bool mirrors = options.mode == PadMode::symmetric || (options.mode == PadMode::reflect && n > 1);
        if (options.odd && mirrors) {
          copyto(region, padded_odd(body, axis, {before, after}, options.mode == PadMode::symmetric));
        } else {
          write_border(left, body, axis, -before, options.mode);
          write_border(right, body, axis, n, options.mode);
        }
        break;
      }
      case PadMode::empty:
        break;
    }
  }
  return result;
}

}  // namespace catenary
