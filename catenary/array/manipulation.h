#pragma once
// Functions that change the form of arrays: axes, joining, splitting, repeating, padding. Names and argument order are
// NumPy's. Results are views where possible. Results that may be copies are const (array/array.h).

#include <concepts>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "catenary/array/array.h"
#include "catenary/core/fields.h"

namespace catenary {

// Axes.

/// Returns a view with another shape where strides allow it, else a copy. The size of one axis may be -1: it is
/// computed. (numpy.reshape)
inline const Array reshape(const Array& a, const Shape& shape) { return a.reshape(shape); }
/// Returns the flattened array: a view where strides allow it, else a copy. (numpy.ravel)
inline const Array ravel(const Array& a) { return a.ravel(); }
/// Returns a view with the axes in another order, by default reversed. (numpy.transpose)
inline Array transpose(const Array& a, const Axes& axes = {}) { return a.transpose(axes); }
inline Array permute_dims(const Array& a, const Axes& axes) { return a.transpose(axes); }
/// Returns a view with the last two axes swapped. (numpy.matrix_transpose)
CT_API Array matrix_transpose(const Array& a);
/// Returns a view with two axes exchanged. (numpy.swapaxes)
CT_API Array swapaxes(const Array& a, int axis1, int axis2);
/// Returns a view with axes moved to new positions. The other axes keep their order. (numpy.moveaxis)
CT_API Array moveaxis(const Array& a, const Axes& source, const Axes& destination);
inline Array moveaxis(const Array& a, int source, int destination) {
  return moveaxis(a, Axes{source}, Axes{destination});
}
/// Returns a view with an axis moved before `start`. (numpy.rollaxis)
CT_API Array rollaxis(const Array& a, int axis, int start = 0);
/// Returns a view with axes of size 1 at the given positions of the result. (numpy.expand_dims)
CT_API Array expand_dims(const Array& a, const AxisArg& axis);
/// Returns a view without the axes of size 1, or without the given ones. (numpy.squeeze)
inline Array squeeze(const Array& a, const AxisArg& axis = {}) { return a.squeeze(axis); }
/// Returns a view of another shape that x broadcasts to. Do not write to it. Throws ShapeError. (numpy.broadcast_to)
inline const Array broadcast_to(const Array& a, const Shape& shape) { return a.broadcast_to(shape); }
/// Returns views with the shape that all arrays broadcast to. (numpy.broadcast_arrays)
CT_API std::vector<Array> broadcast_arrays(const std::vector<Array>& arrays);
/// Returns the shape that all shapes broadcast to. (numpy.broadcast_shapes)
CT_API Shape broadcast_shapes(const std::vector<Shape>& shapes);
/// Return views with at least one, two or three dimensions. (numpy.atleast_1d …)
CT_API Array atleast_1d(const Array& a);
CT_API Array atleast_2d(const Array& a);
CT_API Array atleast_3d(const Array& a);
/// Return views that are reversed along the given axes, by default all. (numpy.flip)
CT_API Array flip(const Array& a, const AxisArg& axis = {});
CT_API Array fliplr(const Array& a);
CT_API Array flipud(const Array& a);
/// Returns a view turned k times by 90 degrees in the plane of two axes, from the first to the second. (numpy.rot90)
CT_API Array rot90(const Array& a, int k = 1, const Axes& axes = {0, 1});

// Views of possible copies are const, too.
#define CT_VIEW_OF_COPY(function, parameters, arguments) \
  template <detail::MaybeCopy A>                         \
  const Array function parameters {                      \
    return function arguments;                           \
  }
CT_VIEW_OF_COPY(transpose, (A && a, const Axes& axes = {}), (a, axes))
CT_VIEW_OF_COPY(permute_dims, (A && a, const Axes& axes), (a, axes))
CT_VIEW_OF_COPY(matrix_transpose, (A && a), (a))
CT_VIEW_OF_COPY(swapaxes, (A && a, int axis1, int axis2), (a, axis1, axis2))
CT_VIEW_OF_COPY(moveaxis, (A && a, const Axes& source, const Axes& destination), (a, source, destination))
CT_VIEW_OF_COPY(moveaxis, (A && a, int source, int destination), (a, source, destination))
CT_VIEW_OF_COPY(rollaxis, (A && a, int axis, int start = 0), (a, axis, start))
CT_VIEW_OF_COPY(expand_dims, (A && a, const AxisArg& axis), (a, axis))
CT_VIEW_OF_COPY(squeeze, (A && a, const AxisArg& axis = {}), (a, axis))
CT_VIEW_OF_COPY(atleast_1d, (A && a), (a))
CT_VIEW_OF_COPY(atleast_2d, (A && a), (a))
CT_VIEW_OF_COPY(atleast_3d, (A && a), (a))
CT_VIEW_OF_COPY(flip, (A && a, const AxisArg& axis = {}), (a, axis))
CT_VIEW_OF_COPY(fliplr, (A && a), (a))
CT_VIEW_OF_COPY(flipud, (A && a), (a))
CT_VIEW_OF_COPY(rot90, (A && a, int k = 1, const Axes& axes = {0, 1}), (a, k, axes))
#undef CT_VIEW_OF_COPY

/// Returns a view of all windows of a shape: axes of positions, then axes of the window. `axis` has one entry for each
/// axis of the window. The default is all axes in order. Windows share elements, so do not write to them. Throws
/// ShapeError for a window that is larger than the array. (numpy.lib.stride_tricks.sliding_window_view)
CT_API const Array sliding_window_view(const Array& a, const Shape& window, const AxisArg& axis = {});

// Joining.

/// Joins arrays along an axis, or flattened if the axis is empty. dtypes promote. Throws ShapeError if other axes
/// differ in size or there is no array. (numpy.concatenate)
CT_API Array concatenate(const std::vector<Array>& arrays, const std::optional<int>& axis = 0);
/// Joins arrays of equal shape along a new axis. (numpy.stack)
CT_API Array stack(const std::vector<Array>& arrays, int axis = 0);
/// Joins arrays along the first axis. 1-d arrays become rows. (numpy.vstack)
CT_API Array vstack(const std::vector<Array>& arrays);
/// Joins arrays along the second axis, 1-d arrays along the first. (numpy.hstack)
CT_API Array hstack(const std::vector<Array>& arrays);
/// Joins arrays along the third axis. (numpy.dstack)
CT_API Array dstack(const std::vector<Array>& arrays);
/// Joins 1-d arrays as columns. (numpy.column_stack)
CT_API Array column_stack(const std::vector<Array>& arrays);
/// Appends `values` to `a` along an axis, or both flattened without an axis. (numpy.append)
CT_API Array append(const Array& a, const Array& values, const std::optional<int>& axis = {});

// Splitting.

/// How to split: into a number of parts, `split(x, 3)`, or at positions, `split(x, {1, 4})`.
class CT_API Sections {
 public:
  template <std::integral T>
  Sections(T parts) : parts_(static_cast<std::int64_t>(parts)) {}
  Sections(std::initializer_list<std::int64_t> positions) : positions_(positions) {}
  Sections(const std::vector<std::int64_t>& positions) : positions_(positions) {}
  const std::optional<std::int64_t>& parts() const { return parts_; }
  const std::vector<std::int64_t>& positions() const { return positions_; }

 private:
  std::optional<std::int64_t> parts_;
  std::vector<std::int64_t> positions_;
};
/// Returns views of equal parts, or of the parts between positions. Throws ValueError if the parts would not be equal.
/// (numpy.split)
CT_API std::vector<Array> split(const Array& a, const Sections& sections, int axis = 0);
/// Returns views as split does, but the first parts may be longer by one. (numpy.array_split)
CT_API std::vector<Array> array_split(const Array& a, const Sections& sections, int axis = 0);
/// Split along the second axis (the first for a 1-d array), the first, and the third. (numpy.hsplit, vsplit, dsplit)
CT_API std::vector<Array> hsplit(const Array& a, const Sections& sections);
CT_API std::vector<Array> vsplit(const Array& a, const Sections& sections);
CT_API std::vector<Array> dsplit(const Array& a, const Sections& sections);
/// Returns one view for each position on an axis. (numpy.unstack)
CT_API std::vector<Array> unstack(const Array& a, int axis = 0);

// Repeating and reordering.

/// Repeats the whole array along each axis. (numpy.tile)
CT_API Array tile(const Array& a, const Shape& repetitions);
inline Array tile(const Array& a, std::int64_t repetitions) { return tile(a, Shape{repetitions}); }
/// Repeats each element along an axis, or of the flattened array. An integer array gives a count for each element.
/// (numpy.repeat)
CT_API Array repeat(const Array& a, const Operand& repeats, const std::optional<int>& axis = {});
/// Shifts elements along axes. Elements that leave at one end enter at the opposite end. Without an axis, shifts the
/// flattened array. (numpy.roll)
CT_API Array roll(const Array& a, std::int64_t shift, const std::optional<int>& axis = {});
CT_API Array roll(const Array& a, const Axes& shift, const Axes& axis);
/// Returns an array of a new shape, filled with repetitions of the flattened array. (numpy.resize)
CT_API Array resize(const Array& a, const Shape& shape);
/// Returns a copy with `values` inserted before a position, slice or index array along an axis, or into the flattened
/// array. (numpy.insert)
CT_API Array insert(const Array& a, const Index& at, const Operand& values, const std::optional<int>& axis = {});
/// Returns a copy without a position, slice, index array or mask along an axis, or of the flattened
/// array. (numpy.delete)
CT_API Array delete_(const Array& a, const Index& at, const std::optional<int>& axis = {});
/// Returns a 1-d view without the zeros at the front ("f"), the back ("b") or both. (numpy.trim_zeros)
CT_API Array trim_zeros(const Array& a, const std::string& trim = "fb");
template <detail::MaybeCopy A>
const Array trim_zeros(A&& a, const std::string& trim = "fb") {
  return trim_zeros(a, trim);
}

/// Applies `function` to each 1-d slice of a along `axis`. Its results, all of one shape, replace the axis. Throws
/// ValueError if there is no slice. (numpy.apply_along_axis)
CT_API Array apply_along_axis(const std::function<Array(const Array&)>& function, int axis, const Array& a);

// Padding.

/// The modes of numpy.pad.
enum class PadMode : std::uint8_t {
  constant,
  edge,
  linear_ramp,
  maximum,
  mean,
  median,
  minimum,
  reflect,
  symmetric,
  wrap,
  empty
};

/// A value for both sides of all axes (`2`), for before and after (`{1, 2}`), or pairs for each axis (`{{1, 0}, {0,
/// 2}}`).
template <class T>
class PerSide {
 public:
  using Pair = std::pair<T, T>;
  template <class V>
  requires(std::is_arithmetic_v<V>) PerSide(V both) : pairs_{Pair{T(both), T(both)}} {}
  template <class V, class W>
  requires(std::is_arithmetic_v<V>&& std::is_arithmetic_v<W>) PerSide(V before, W after)
      : pairs_{Pair{T(before), T(after)}} {}
  PerSide(std::initializer_list<Pair> pairs) : pairs_(pairs) {}
  PerSide(const std::vector<Pair>& pairs) : pairs_(pairs) {}
  /// Returns the pairs, one for each axis or a single pair for all axes.
  const std::vector<Pair>& pairs() const { return pairs_; }

 private:
  std::vector<Pair> pairs_;
};

/// Options of pad.
struct PadOptions {
  PadMode mode = PadMode::constant;
  PerSide<Scalar> constant_value = 0;  ///< PadMode::constant: the value to write
  PerSide<Scalar> end_value = 0;       ///< PadMode::linear_ramp: the final value
  std::optional<PerSide<std::int64_t>> stat_length =
      {};            ///< maximum, mean, median, minimum: number of elements at each end that are used; default: all
  bool odd = false;  ///< reflect, symmetric: 2 * edge - value (reflect_type="odd")
};
CT_FIELDS(PadOptions, mode, constant_value, end_value, stat_length, odd)
/// Returns the array with borders added. (numpy.pad)
CT_API Array pad(const Array& a, const PerSide<std::int64_t>& width, const PadOptions& options = {});

}  // namespace catenary
