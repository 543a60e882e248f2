#include "catenary/array/manipulation.h"

#include <algorithm>
#include <numeric>

#include "catenary/array/axes.h"
#include "catenary/array/body.h"
#include "catenary/array/creation.h"
#include "catenary/array/elementwise_core.h"
#include "catenary/array/index_plan.h"
#include "catenary/array/indexing.h"
#include "catenary/core/format.h"

namespace catenary {

using detail::check_same_device;
using detail::iota;
using detail::slice_axis;

Array matrix_transpose(const Array& a) {
  if (a.ndim() < 2) fail<ShapeError>("matrix transpose with ndim < 2 is undefined, the shape is {}", a.shape());
  return swapaxes(a, -1, -2);
}

Array swapaxes(const Array& a, int axis1, int axis2) {
  const int i = normalize_axis(axis1, a.ndim(), "swapaxes"), j = normalize_axis(axis2, a.ndim(), "swapaxes");
  Axes order;
  for (int axis = 0; axis < a.ndim(); ++axis) order.push_back(axis == i ? j : axis == j ? i : axis);
  return a.transpose(order);
}

Array moveaxis(const Array& a, const Axes& source, const Axes& destination) {
  if (source.size() != destination.size())
    fail<ShapeError>("moveaxis: source {} and destination {} must have equal lengths", source, destination);
  const Axes from = normalize_axes(source, a.ndim(), "moveaxis"),
             to = normalize_axes(destination, a.ndim(), "moveaxis");
  Axes order = Axes::filled(a.ndim(), -1);
  unsigned moved = 0;
  for (int i = 0; i < from.size(); ++i) {
    order[static_cast<int>(to[i])] = from[i];
    moved |= 1u << from[i];
  }
  int next = 0;
  for (std::int64_t& axis : order) {
    if (axis >= 0) continue;
    while (moved & (1u << next)) ++next;
    axis = next++;
  }
  return a.transpose(order);
}

Array rollaxis(const Array& a, int axis, int start) {
  const int from = normalize_axis(axis, a.ndim(), "rollaxis");
  if (start < -a.ndim() || start > a.ndim())
    fail<ShapeError>("rollaxis: start {} is out of bounds for an array of {} dimensions", start, a.ndim());
  if (start < 0) start += a.ndim();
  return moveaxis(a, from, from < start ? start - 1 : start);
}

Array expand_dims(const Array& a, const AxisArg& axis) {
  const Axes added = axis.all() ? Axes{} : normalize_axes(axis.axes(), a.ndim() + axis.axes().size(), "expand_dims");
  unsigned is_new = 0;
  for (std::int64_t i : added) is_new |= 1u << i;
  Shape shape;
  Strides strides;
  for (int i = 0, old = 0; i < a.ndim() + added.size(); ++i) {
    const bool fresh = (is_new & (1u << i)) != 0;
    shape.push_back(fresh ? 1 : a.shape()[old]);
    strides.push_back(fresh ? 0 : a.strides()[old]);
    old += !fresh;
  }
  return a.as_strided(shape, strides);
}

Shape broadcast_shapes(const std::vector<Shape>& shapes) {
  Shape result;
  for (const Shape& shape : shapes) result = broadcast_shapes(result, shape, "broadcast_shapes");
  return result;
}

std::vector<Array> broadcast_arrays(const std::vector<Array>& arrays) {
  Shape shape;
  for (const Array& a : arrays) shape = broadcast_shapes(shape, a.shape(), "broadcast_arrays");
  std::vector<Array> result;
  for (const Array& a : arrays) result.push_back(a.broadcast_to(shape));
  return result;
}

Array atleast_1d(const Array& a) { return a.ndim() >= 1 ? a : a.reshape({1}); }
Array atleast_2d(const Array& a) { return a.ndim() >= 2 ? a : expand_dims(atleast_1d(a), 0); }
Array atleast_3d(const Array& a) { return a.ndim() >= 3 ? a : expand_dims(atleast_2d(a), 2); }

Array flip(const Array& a, const AxisArg& axis) {
  Strides strides = a.strides();
  std::int64_t offset = 0;
  for (std::int64_t i : axis.normalized(a.ndim(), "flip")) {
    const int at = static_cast<int>(i);
    offset += (a.shape()[at] - 1) * strides[at];
    strides[at] = -strides[at];
  }
  return a.as_strided(a.shape(), strides, a.size() == 0 ? 0 : offset);
}
Array fliplr(const Array& a) {
  if (a.ndim() < 2) fail<ShapeError>("fliplr: the array must be at least 2-d, its shape is {}", a.shape());
  return flip(a, 1);
}
Array flipud(const Array& a) {
  if (a.ndim() < 1) throw ShapeError("flipud: the array must be at least 1-d");
  return flip(a, 0);
}

Array rot90(const Array& a, int k, const Axes& axes) {
  if (axes.size() != 2) fail<ShapeError>("rot90: two axes are needed, got {}", axes);
  const Axes plane = normalize_axes(axes, a.ndim(), "rot90");
  const int i = static_cast<int>(plane[0]), j = static_cast<int>(plane[1]);
  switch ((k % 4 + 4) % 4) {
    case 0:
      return a.as_strided(a.shape(), a.strides());
    case 1:
      return swapaxes(flip(a, j), i, j);
    case 2:
      return flip(a, Axes{i, j});
    default:
      return flip(swapaxes(a, i, j), j);
  }
}

const Array sliding_window_view(const Array& a, const Shape& window, const AxisArg& axis) {
  Axes axes = axis.axes();
  for (int i = 0; axis.all() && i < a.ndim(); ++i) axes.push_back(i);
  if (axes.size() != window.size())
    fail<ShapeError>("sliding_window_view: window {} needs as many axes, got {} for an array of shape {}", window, axes,
                     a.shape());
  Shape shape = a.shape();
  Strides strides = a.strides();
  for (int i = 0; i < window.size(); ++i) {
    // an axis may be named twice: windows of the windows
    const int at = normalize_axis(axes[i], a.ndim(), "sliding_window_view");
    if (window[i] < 0 || window[i] > shape[at] + (window[i] == 0))
      fail<ShapeError>("sliding_window_view: window {} is larger than the array of shape {}", window, a.shape());
    shape[at] -= window[i] - 1;
    shape.push_back(window[i]);
    strides.push_back(a.strides()[at]);
  }
  return a.as_strided(shape, strides);
}

Array concatenate(const std::vector<Array>& arrays, const std::optional<int>& axis) {
  if (arrays.empty()) throw ShapeError("concatenate: need at least one array");
  if (!axis) {
    std::vector<Array> flat;
    for (const Array& a : arrays) flat.push_back(a.ravel());
    return concatenate(flat, 0);
  }
  const Array& first = arrays[0];
  if (first.ndim() == 0) throw ShapeError("concatenate: a 0-d array has no axis to join along");
  const int at = normalize_axis(*axis, first.ndim(), "concatenate");
  Shape shape = first.shape();
  shape[at] = 0;
  const Dtype dtype = detail::common_dtype(arrays);
  for (std::size_t i = 0; i < arrays.size(); ++i) {
    const Array& a = arrays[i];
    Shape others = a.shape();
    if (a.ndim() == first.ndim()) others[at] = first.shape()[at];
    if (!(others == first.shape())) {
      fail<ShapeError>(
          "concatenate: all sizes but that of axis {} must match: array 0 has shape {}, array {} has shape {}", at,
          first.shape(), i, a.shape());
    }
    check_same_device(first, a, "concatenate");
    shape[at] += a.shape()[at];
  }
  // the result takes the memory order of the arrays
  std::vector<Strides> strides;
  std::vector<const Strides*> all;
  for (const Array& a : arrays) strides.push_back(broadcast_strides(a.shape(), a.strides(), a.shape()));
  for (const Strides& s : strides) all.push_back(&s);
  const Array result = Array::empty(shape, dtype, first.device())
                           .as_strided(shape, strides_in_order(shape, memory_order(shape.size(), all)));
  if (result.size() == 0) return result;
  std::vector<Array> kept;
  std::vector<View> parts;
  for (const Array& a : arrays) parts.push_back(readable(kept.emplace_back(detail::as_dtype(a, dtype))));
  compute(first.device(), primitives::Join{parts, at, writable(result)});
  return result;
}

Array stack(const std::vector<Array>& arrays, int axis) {
  if (arrays.empty()) throw ShapeError("stack: need at least one array");
  const int at = normalize_axis(axis, arrays[0].ndim() + 1, "stack");
  std::vector<Array> expanded;
  for (const Array& a : arrays) {
    if (!(a.shape() == arrays[0].shape()))
      fail<ShapeError>("stack: the arrays must have equal shapes, not {} and {}", arrays[0].shape(), a.shape());
    expanded.push_back(expand_dims(a, at));
  }
  return concatenate(expanded, at);
}

namespace {
template <class F>
std::vector<Array> each(const std::vector<Array>& arrays, F&& form) {
  std::vector<Array> result;
  for (const Array& a : arrays) result.push_back(form(a));
  return result;
}
}  // namespace

Array vstack(const std::vector<Array>& arrays) {
  return concatenate(each(arrays, [](const Array& a) { return atleast_2d(a); }), 0);
}
Array hstack(const std::vector<Array>& arrays) {
  const std::vector<Array> parts = each(arrays, [](const Array& a) { return atleast_1d(a); });
  return concatenate(parts, !parts.empty() && parts[0].ndim() == 1 ? 0 : 1);
}
Array dstack(const std::vector<Array>& arrays) {
  return concatenate(each(arrays, [](const Array& a) { return atleast_3d(a); }), 2);
}
Array column_stack(const std::vector<Array>& arrays) {
  return concatenate(each(arrays, [](const Array& a) { return a.ndim() < 2 ? a.reshape({a.size(), 1}) : a; }), 1);
}
Array append(const Array& a, const Array& values, const std::optional<int>& axis) {
  return concatenate({a, values}, axis);
}

std::vector<Array> array_split(const Array& a, const Sections& sections, int axis) {
  const int at = normalize_axis(axis, a.ndim(), "array_split");
  const std::int64_t n = a.shape()[at];
  std::vector<Array> parts;
  std::int64_t begin = 0;
  if (!sections.parts()) {
    const auto clamp = [&](std::int64_t i) { return std::clamp<std::int64_t>(i < 0 ? i + n : i, 0, n); };
    for (std::int64_t position : sections.positions()) {
      parts.push_back(slice_axis(a, at, begin, std::max(begin, clamp(position))));
      begin = clamp(position);
    }
    parts.push_back(slice_axis(a, at, begin, n));
    return parts;
  }
  const std::int64_t count = *sections.parts();
  if (count <= 0) fail<ValueError>("array_split: at least one section is needed, {} were given", count);
  for (std::int64_t i = 0; i < count; ++i) {
    const std::int64_t end = begin + n / count + (i < n % count);
    parts.push_back(slice_axis(a, at, begin, end));
    begin = end;
  }
  return parts;
}

std::vector<Array> split(const Array& a, const Sections& sections, int axis) {
  const int at = normalize_axis(axis, a.ndim(), "split");
  if (sections.parts() && *sections.parts() > 0 && a.shape()[at] % *sections.parts() != 0) {
    fail<ValueError>("split: axis {} of shape {} cannot be split into {} equal parts", at, a.shape(),
                     *sections.parts());
  }
  return array_split(a, sections, at);
}

std::vector<Array> hsplit(const Array& a, const Sections& sections) {
  if (a.ndim() == 0) throw ShapeError("hsplit: at least one axis is needed, a 0-d array was given");
  return split(a, sections, a.ndim() > 1 ? 1 : 0);
}
std::vector<Array> vsplit(const Array& a, const Sections& sections) {
  if (a.ndim() < 2) fail<ShapeError>("vsplit: at least two axes are needed, the shape is {}", a.shape());
  return split(a, sections, 0);
}
std::vector<Array> dsplit(const Array& a, const Sections& sections) {
  if (a.ndim() < 3) fail<ShapeError>("dsplit: at least three axes are needed, the shape is {}", a.shape());
  return split(a, sections, 2);
}

std::vector<Array> unstack(const Array& a, int axis) {
  if (a.ndim() == 0) throw ShapeError("unstack: the array must be at least 1-d");
  const Array moved = moveaxis(a, axis, 0);
  std::vector<Array> parts;
  for (std::int64_t i = 0; i < moved.shape()[0]; ++i) parts.push_back(moved[i]);
  return parts;
}

Array tile(const Array& a, const Shape& repetitions) {
  const int ndim = std::max(a.ndim(), repetitions.size());
  Shape shape, wide, result;  // each repeated axis gets an additional axis of repetitions before it
  for (int i = 0; i < ndim; ++i) {
    const int own = i - (ndim - a.ndim()), given = i - (ndim - repetitions.size());
    const std::int64_t extent = own < 0 ? 1 : a.shape()[own], times = given < 0 ? 1 : repetitions[given];
    if (times < 0) fail<ShapeError>("tile: negative repetitions in {}", repetitions);
    if (times != 1) {
      shape.push_back(1);
      wide.push_back(times);
    }
    shape.push_back(extent);
    wide.push_back(extent);
    result.push_back(times * extent);
  }
  return a.reshape(shape).broadcast_to(wide).copy().reshape(result);
}

Array repeat(const Array& a, const Operand& repeats, const std::optional<int>& axis) {
  if (!axis) return repeat(a.ravel(), repeats, 0);
  const int at = normalize_axis(*axis, a.ndim(), "repeat");
  const std::int64_t n = a.shape()[at];
  if (repeats.is_array() && repeats.array().size() != 1) {
    if (!is_integer(repeats.array().dtype()) && repeats.array().dtype() != Dtype::bool_)
      fail<DtypeError>("repeat: counts must be integers, not {}", repeats.array().dtype());
    if (repeats.array().dtype() == Dtype::uint64)
      throw DtypeError("repeat: counts of uint64 may not fit into int64; use a cast");
    if (repeats.array().ndim() != 1)
      fail<ShapeError>("repeat: the counts must be 1-d, their shape is {}", repeats.array().shape());
    if (repeats.array().size() != n)
      fail<ShapeError>("repeat: the counts and axis {} of shape {} must have the same length, not {}", at, a.shape(),
                       repeats.array().size());
    std::vector<std::int64_t> positions;
    std::int64_t position = 0;
    for (std::int64_t count : repeats.array().to_vector<std::int64_t>()) {
      if (count < 0) fail<ValueError>("repeat: negative count {} at position {}", count, position);
      positions.insert(positions.end(), static_cast<std::size_t>(count), position++);
    }
    return take(
        a, Array::from_host(positions.data(), {static_cast<std::int64_t>(positions.size())}, Dtype::int64, a.device()),
        at);
  }
  const std::int64_t count = repeats.is_array() ? repeats.array().item<std::int64_t>() : repeats.scalar().integer();
  if (count < 0) fail<ValueError>("repeat: the count may not be negative, got {}", count);
  Shape wide = a.shape(), result = a.shape();
  wide.insert(at + 1, count);
  result[at] *= count;
  return expand_dims(a, at + 1).broadcast_to(wide).copy().reshape(result);
}

Array roll(const Array& a, std::int64_t shift, const std::optional<int>& axis) {
  if (!axis) return roll(a.ravel(), Axes{shift}, Axes{0}).reshape(a.shape());
  return roll(a, Axes{shift}, Axes{*axis});
}

Array roll(const Array& a, const Axes& shift, const Axes& axis) {
  if (shift.size() != axis.size() && shift.size() != 1 && axis.size() != 1)
    fail<ShapeError>("roll: shifts {} and axes {} must have equal lengths", shift, axis);
  Shape offsets = Shape::filled(a.ndim(), 0);
  for (int i = 0; i < std::max(shift.size(), axis.size()); ++i) {
    const int at = normalize_axis(axis[axis.size() == 1 ? 0 : i], a.ndim(), "roll");
    const std::int64_t n = std::max<std::int64_t>(a.shape()[at], 1);
    offsets[at] = ((offsets[at] + shift[shift.size() == 1 ? 0 : i] % n) % n + n) % n;
  }
  // Each rolled axis consists of two runs. Copy every combination of runs to its destination.
  std::vector<std::pair<Array, Array>> parts{{a, Array::empty(a.shape(), a.dtype(), a.device())}};
  const Array result = parts[0].second;
  if (a.size() == 0) return result;
  for (int axis_at = 0; axis_at < a.ndim(); ++axis_at) {
    const std::int64_t offset = offsets[axis_at], n = a.shape()[axis_at];
    if (offset == 0) continue;
    std::vector<std::pair<Array, Array>> next;
    for (const auto& [from, to] : parts) {
      next.emplace_back(slice_axis(from, axis_at, 0, n - offset), slice_axis(to, axis_at, offset, n));
      next.emplace_back(slice_axis(from, axis_at, n - offset, n), slice_axis(to, axis_at, 0, offset));
    }
    parts = std::move(next);
  }
  for (const auto& [from, to] : parts) copyto(to, from);
  return result;
}

Array resize(const Array& a, const Shape& shape) {
  const std::int64_t n = checked_size(shape, "resize");
  if (a.size() == 0) {
    const Array result = Array::empty(shape, a.dtype(), a.device());
    result.fill(0);
    return result;
  }
  return slice_axis(tile(a.ravel(), (n + a.size() - 1) / a.size()), 0, 0, n).reshape(shape);
}

namespace {

/// Returns the positions in [0, n) that an index names along one axis. For insert, n itself is also valid.
std::vector<std::int64_t> positions_of(const Index& at, std::int64_t n, int axis, bool end_allowed, const char* what) {
  std::vector<std::int64_t> positions;
  switch (at.kind()) {
    case Index::Kind::integer:
      positions.push_back(at.integer());
      break;
    case Index::Kind::slice:
      for (std::int64_t i : iota(n, Device()).get({at}).to_vector<std::int64_t>()) positions.push_back(i);
      return positions;
    case Index::Kind::array:
      if (at.array().ndim() > 1)
        fail<ShapeError>("{}: an index array must be 0- or 1-d, its shape is {}", what, at.array().shape());
      if (at.array().dtype() == Dtype::bool_) {
        if (!end_allowed && at.array().size() != n) {
          fail<ShapeError>("{}: a mask of {} elements does not fit axis {} with size {}", what, at.array().size(), axis,
                           n);
        }
        positions = nonzero_positions(at.array()).to_vector<std::int64_t>();
      } else {
        if (!is_integer(at.array().dtype()))
          fail<IndexError>("{}: indices must be integers, not {}", what, at.array().dtype());
        positions = at.array().to_vector<std::int64_t>();
      }
      break;
    default:
      fail<IndexError>("{}: an integer, a slice, or an array of integers or bools is expected", what);
  }
  for (std::int64_t& i : positions) {
    if (i < -n || i >= n + end_allowed)
      fail<IndexError>("{}: index {} is out of bounds for axis {} with size {}", what, i, axis, n);
    if (i < 0) i += n;
  }
  return positions;
}

Array on_device(const std::vector<std::int64_t>& positions, const Array& a) {
  return Array::from_host(positions.data(), {static_cast<std::int64_t>(positions.size())}, Dtype::int64, a.device());
}

}  // namespace

Array insert(const Array& a, const Index& at, const Operand& values, const std::optional<int>& axis) {
  if (!axis) return insert(a.ravel(), at, values, 0);
  const int place = normalize_axis(*axis, a.ndim(), "insert");
  const std::int64_t n = a.shape()[place];
  const std::vector<std::int64_t> positions = positions_of(at, n, place, true, "insert");
  const bool scalar = at.kind() == Index::Kind::integer || (at.kind() == Index::Kind::array && at.array().ndim() == 0);
  Array given;
  if (values.is_array()) {
    check_same_device(a, values.array(), "insert");
    given = values.array();
    while (given.ndim() < a.ndim()) given = expand_dims(given, 0);
    if (scalar) given = moveaxis(given, 0, place);
  } else {
    given = full(Shape::filled(a.ndim(), 1), values, a.dtype()).to_device(a.device());
  }
  if (given.ndim() != a.ndim())
    fail<ShapeError>("insert: values of shape {} do not fit an array of shape {}", given.shape(), a.shape());
  Shape shape = a.shape(), block = a.shape();
  if (positions.size() == 1) {
    const std::int64_t begin = positions[0];
    block[place] = given.shape()[place];
    shape[place] += block[place];
    const Array result = Array::empty(shape, a.dtype(), a.device());
    copyto(slice_axis(result, place, 0, begin), slice_axis(a, place, 0, begin));
    copyto(slice_axis(result, place, begin, begin + block[place]), given);
    copyto(slice_axis(result, place, begin + block[place], shape[place]), slice_axis(a, place, begin, n));
    return result;
  }
  // New elements go before the element at their position, in the given order. Each moves by the number of those before
  // it.
  std::vector<std::size_t> order(positions.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t i, std::size_t j) { return positions[i] < positions[j]; });
  std::vector<std::int64_t> fresh = positions, old;
  std::vector<bool> taken(static_cast<std::size_t>(n) + positions.size(), false);
  for (std::size_t i = 0; i < order.size(); ++i) {
    fresh[order[i]] += static_cast<std::int64_t>(i);
    taken[static_cast<std::size_t>(fresh[order[i]])] = true;
  }
  for (std::size_t i = 0; i < taken.size(); ++i)
    if (!taken[i]) old.push_back(static_cast<std::int64_t>(i));
  shape[place] += static_cast<std::int64_t>(fresh.size());
  const Array result = Array::empty(shape, a.dtype(), a.device());
  std::vector<Index> index(static_cast<std::size_t>(place), Index(slice()));
  index.emplace_back(on_device(fresh, a));
  result.set_at(index, given);
  index.back() = Index(on_device(old, a));
  result.set_at(index, a);
  return result;
}

Array delete_(const Array& a, const Index& at, const std::optional<int>& axis) {
  if (!axis) return delete_(a.ravel(), at, 0);
  const int place = normalize_axis(*axis, a.ndim(), "delete_");
  const std::int64_t n = a.shape()[place];
  std::vector<bool> gone(static_cast<std::size_t>(n), false);
  for (std::int64_t i : positions_of(at, n, place, false, "delete_")) gone[static_cast<std::size_t>(i)] = true;
  std::vector<std::int64_t> kept;
  for (std::int64_t i = 0; i < n; ++i)
    if (!gone[static_cast<std::size_t>(i)]) kept.push_back(i);
  return take(a, on_device(kept, a), place);
}

Array trim_zeros(const Array& a, const std::string& trim) {
  if (a.ndim() == 0) return a;
  if (a.ndim() != 1) fail<ShapeError>("trim_zeros: a 1-d array is expected, the shape is {}", a.shape());
  if (trim != "fb" && trim != "bf" && trim != "f" && trim != "b")
    fail<ValueError>("trim_zeros: trim must be \"f\", \"b\" or \"fb\", not \"{}\"", trim);
  const Array positions = nonzero_positions(a);
  if (positions.size() == 0) return slice_axis(a, 0, 0, 0);
  const std::int64_t begin = trim == "b" ? 0 : positions[0].item<std::int64_t>();
  const std::int64_t end = trim == "f" ? a.size() : positions[-1].item<std::int64_t>() + 1;
  return slice_axis(a, 0, begin, end);
}

}  // namespace catenary
