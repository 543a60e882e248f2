#pragma once
// Changing the form of arrays: axes, joining, splitting, repeating, padding. NumPy's names and argument order. What can
// be a view is one; what may be a copy is const where it is returned (array/array.h).

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

// The axes.

/// A view with another shape where strides allow it, else a copy; one extent may be -1. (numpy.reshape)
inline const Array reshape(const Array& a, const Shape& shape) { return a.reshape(shape); }
/// 1-d; a view where strides allow it. (numpy.ravel)
inline const Array ravel(const Array& a) { return a.ravel(); }
/// A view with the axes in another order, reversed when none is given. (numpy.transpose)
inline Array transpose(const Array& a, const Axes& axes = {}) { return a.transpose(axes); }
inline Array permute_dims(const Array& a, const Axes& axes) { return a.transpose(axes); }
/// The last two axes swapped. (numpy.matrix_transpose)
CT_API Array matrix_transpose(const Array& a);
/// A view with two axes exchanged. (numpy.swapaxes)
CT_API Array swapaxes(const Array& a, int axis1, int axis2);
/// A view with axes moved to new places; the others keep their order. (numpy.moveaxis)
CT_API Array moveaxis(const Array& a, const Axes& source, const Axes& destination);
inline Array moveaxis(const Array& a, int source, int destination) {
  return moveaxis(a, Axes{source}, Axes{destination});
}
/// A view with an axis moved before `start`. (numpy.rollaxis)
CT_API Array rollaxis(const Array& a, int axis, int start = 0);
/// A view with axes of extent 1 at the given places of the result. (numpy.expand_dims)
CT_API Array expand_dims(const Array& a, const AxisArg& axis);
/// Without the axes of extent 1, or the given ones. (numpy.squeeze)
inline Array squeeze(const Array& a, const AxisArg& axis = {}) { return a.squeeze(axis); }
/// A view of another shape that x broadcasts to; it is not to be written to. Throws ShapeError. (numpy.broadcast_to)
inline const Array broadcast_to(const Array& a, const Shape& shape) { return a.broadcast_to(shape); }
/// Views with the shape that all broadcast to. (numpy.broadcast_arrays)
CT_API std::vector<Array> broadcast_arrays(const std::vector<Array>& arrays);
/// The shape that all broadcast to. (numpy.broadcast_shapes)
CT_API Shape broadcast_shapes(const std::vector<Shape>& shapes);
/// Views with at least one, two or three dimensions. (numpy.atleast_1d …)
CT_API Array atleast_1d(const Array& a);
CT_API Array atleast_2d(const Array& a);
CT_API Array atleast_3d(const Array& a);
/// Views that are reversed along the given axes, all when none is given. (numpy.flip)
CT_API Array flip(const Array& a, const AxisArg& axis = {});
CT_API Array fliplr(const Array& a);
CT_API Array flipud(const Array& a);
/// A view, turned k times by 90 degrees in the plane of two axes, from the first to the second. (numpy.rot90)
CT_API Array rot90(const Array& a, int k = 1, const Axes& axes = {0, 1});

// Views of what may be a copy are const, too.
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

/// A view of all windows of a shape: the axes of positions, then those of the windows. One axis for each extent of the
/// window; none: all axes in order. Elements are shared, do not write. Throws ShapeError for a window that is larger
/// than the array. (numpy.lib.stride_tricks.sliding_window_view)
CT_API const Array sliding_window_view(const Array& a, const Shape& window, const AxisArg& axis = {});

// Joining.

/// Arrays one after the other along an axis; none: all flattened. dtypes promote. Throws ShapeError when other extents
/// differ or there is no array. (numpy.concatenate)
CT_API Array concatenate(const std::vector<Array>& arrays, const std::optional<int>& axis = 0);
/// Arrays of one shape along a new axis. (numpy.stack)
CT_API Array stack(const std::vector<Array>& arrays, int axis = 0);
/// Along the first axis, 1-d arrays as rows. (numpy.vstack)
CT_API Array vstack(const std::vector<Array>& arrays);
/// Along the second axis, 1-d arrays along the first. (numpy.hstack)
CT_API Array hstack(const std::vector<Array>& arrays);
/// Along the third axis. (numpy.dstack)
CT_API Array dstack(const std::vector<Array>& arrays);
/// 1-d arrays as columns. (numpy.column_stack)
CT_API Array column_stack(const std::vector<Array>& arrays);
/// `values` after `a` along an axis; none: both flattened. (numpy.append)
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
/// Views of equal parts, or of the parts between positions. Throws ValueError when the parts would not be equal.
/// (numpy.split)
CT_API std::vector<Array> split(const Array& a, const Sections& sections, int axis = 0);
/// The same, but the first parts may be one longer. (numpy.array_split)
CT_API std::vector<Array> array_split(const Array& a, const Sections& sections, int axis = 0);
/// Along the second axis, the first of a 1-d array. (numpy.hsplit)
CT_API std::vector<Array> hsplit(const Array& a, const Sections& sections);
CT_API std::vector<Array> vsplit(const Array& a, const Sections& sections);
CT_API std::vector<Array> dsplit(const Array& a, const Sections& sections);
/// One view for each position on an axis. (numpy.unstack)
CT_API std::vector<Array> unstack(const Array& a, int axis = 0);

// Repeating and reordering.

/// The array repeated so many times along each axis. (numpy.tile)
CT_API Array tile(const Array& a, const Shape& repetitions);
inline Array tile(const Array& a, std::int64_t repetitions) { return tile(a, Shape{repetitions}); }
/// Each element repeated, along an axis or of the flattened array. Counts for each element are an integer array.
/// (numpy.repeat)
CT_API Array repeat(const Array& a, const Operand& repeats, const std::optional<int>& axis = {});
/// Elements shifted along axes; what leaves at one end enters at the other. No axis: the flattened array. (numpy.roll)
CT_API Array roll(const Array& a, std::int64_t shift, const std::optional<int>& axis = {});
CT_API Array roll(const Array& a, const Axes& shift, const Axes& axis);
/// A new shape, filled with repetitions of the flattened array. (numpy.resize)
CT_API Array resize(const Array& a, const Shape& shape);
/// A copy with `values` before a position, slice or index array along an axis; none: of the flattened array.
/// (numpy.insert)
CT_API Array insert(const Array& a, const Index& at, const Operand& values, const std::optional<int>& axis = {});
/// A copy without a position, slice, index array or mask along an axis; none: of the flattened array. (numpy.delete)
CT_API Array delete_(const Array& a, const Index& at, const std::optional<int>& axis = {});
/// A 1-d view without the zeros at the front ("f"), the back ("b") or both. (numpy.trim_zeros)
CT_API Array trim_zeros(const Array& a, const std::string& trim = "fb");
template <detail::MaybeCopy A>
const Array trim_zeros(A&& a, const std::string& trim = "fb") {
  return trim_zeros(a, trim);
}

/// `function` of each 1-d slice of a along `axis`; what it gives, of one shape each time, takes the axis's place.
/// Throws ValueError where there is no slice. (numpy.apply_along_axis)
CT_API Array apply_along_axis(const std::function<Array(const Array&)>& function, int axis, const Array& a);

// Padding.

/// numpy.pad's modes.
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
  /// One pair: for all axes.
  const std::vector<Pair>& pairs() const { return pairs_; }

 private:
  std::vector<Pair> pairs_;
};

/// Options of pad.
struct PadOptions {
  PadMode mode = PadMode::constant;
  PerSide<Scalar> constant_value = 0;  ///< PadMode::constant: what to write
  PerSide<Scalar> end_value = 0;       ///< PadMode::linear_ramp: where to go
  std::optional<PerSide<std::int64_t>> stat_length =
      {};            ///< maximum, mean, median, minimum: of so many elements at the end; else of all
  bool odd = false;  ///< reflect, symmetric: 2 * edge - value (reflect_type="odd")
};
CT_FIELDS(PadOptions, mode, constant_value, end_value, stat_length, odd)
/// The array with borders. (numpy.pad)
CT_API Array pad(const Array& a, const PerSide<std::int64_t>& width, const PadOptions& options = {});

}  // namespace catenary
