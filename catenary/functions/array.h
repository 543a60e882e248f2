#pragma once
// Functions that rearrange elements: axes, joining, splitting, repeating, picking. All can be differentiated twice.
// broadcast_to, sum_to, sum, reshape, transpose, get_item, cast, copy and identity are in autograd/operators.h.

#include <array>
#include <cstddef>
#include <optional>
#include <vector>

#include "catenary/array/manipulation.h"
#include "catenary/autograd/operators.h"

namespace catenary::functions {

// Axes. Results are views where possible.

/// Exchanges two axes. Here and below, throws ShapeError for axes that x does not have. (chainer.functions.swapaxes)
CT_API Variable swapaxes(const Variable& x, int axis1, int axis2);
/// Moves axes to new positions. The other axes keep their order. (chainer.functions.moveaxis)
CT_API Variable moveaxis(const Variable& x, const Axes& source, const Axes& destination);
inline Variable moveaxis(const Variable& x, int source, int destination) {
  return moveaxis(x, Axes{source}, Axes{destination});
}
/// Moves an axis before `start`. (chainer.functions.rollaxis)
CT_API Variable rollaxis(const Variable& x, int axis, int start = 0);
/// Inserts an axis of length 1. (chainer.functions.expand_dims)
CT_API Variable expand_dims(const Variable& x, int axis);
/// Removes the axes of length 1, or the given axes. Throws ShapeError if a given axis is longer.
/// (chainer.functions.squeeze)
CT_API Variable squeeze(const Variable& x, const AxisArg& axis = {});
/// Returns x as a 1-d array. (chainer.functions.flatten)
CT_API Variable flatten(const Variable& x);
/// Reverses an axis. (chainer.functions.flip)
CT_API Variable flip(const Variable& x, int axis);
/// Reverse the second (first) axis. Throw ShapeError if x has too few axes. (chainer.functions.fliplr, flipud)
CT_API Variable fliplr(const Variable& x);
CT_API Variable flipud(const Variable& x);
/// Broadcasts all to their common shape. (chainer.functions.broadcast)
CT_API Variables broadcast(const std::vector<Variable>& xs);
/// Returns a copy of x's elements with another geometry: element (i, j, …) is the one at offset + i strides[0] + j
/// strides[1] + … in C order. Elements may repeat. Throws ShapeError if shape and strides differ in length, and
/// IndexError for elements outside x. (chainer.functions.as_strided, for a C-ordered array)
CT_API Variable as_strided(const Variable& x, const Shape& shape, const Strides& strides, std::int64_t offset = 0);
/// Spreads blocks of r² channels over space: [n, r² c, h, w] becomes [n, c, r h, r w]. Throws ShapeError.
/// (chainer.functions.depth2space)
CT_API Variable depth2space(const Variable& x, int r);
/// Reverses depth2space. (chainer.functions.space2depth)
CT_API Variable space2depth(const Variable& x, int r);

// Joining and splitting. Throws DtypeError unless the dtypes are equal.

/// Joins arrays along an axis. Throws ShapeError if other axes differ, and ValueError for an empty list.
/// (chainer.functions.concat)
CT_API Variable concat(const std::vector<Variable>& xs, int axis = 1);
/// Joins arrays along a new axis. (chainer.functions.stack)
CT_API Variable stack(const std::vector<Variable>& xs, int axis = 0);
/// Joins arrays along the second axis, 1-d arrays along the first. (chainer.functions.hstack)
CT_API Variable hstack(const std::vector<Variable>& xs);
/// Joins arrays along the first axis, with 1-d arrays as rows. (chainer.functions.vstack)
CT_API Variable vstack(const std::vector<Variable>& xs);
/// Joins arrays along the third axis. (chainer.functions.dstack)
CT_API Variable dstack(const std::vector<Variable>& xs);
/// Splits x into equal parts, or at the given indices. Throws ValueError if the parts would not be equal.
/// (chainer.functions.split_axis)
CT_API Variables split_axis(const Variable& x, const Sections& sections, int axis);
/// Returns n equal parts that can be named: `auto [q, k, v] = F::split_axis<3>(x, -1)`. Throws ValueError if the parts
/// would not be equal.
template <std::size_t n>
std::array<Variable, n> split_axis(const Variable& x, int axis) {
  const Variables parts = split_axis(x, Sections(n), axis);
  std::array<Variable, n> all;
  for (std::size_t i = 0; i < n; ++i) all[i] = parts[i];
  return all;
}
/// Returns a slice for each index of an axis. (chainer.functions.separate)
CT_API Variables separate(const Variable& x, int axis = 0);
/// Joins sequences [length…, d…] into an array [n, longest, d…], or [n, length, d…] with a given length. Fills it up
/// with `padding`. Throws ShapeError if d… differ or a sequence is longer than `length`.
/// (chainer.functions.pad_sequence)
CT_API Variable pad_sequence(const std::vector<Variable>& xs, std::optional<std::int64_t> length = {},
                             double padding = 0);
/// Returns an array for each time step, of all sequences that last that long. Sequences must be sorted by length,
/// longest first, else throws ShapeError. (chainer.functions.transpose_sequence)
CT_API Variables transpose_sequence(const std::vector<Variable>& xs);

// Repeating.

/// Repeats x along each axis. (chainer.functions.tile)
CT_API Variable tile(const Variable& x, const Shape& repetitions);
inline Variable tile(const Variable& x, std::int64_t repetitions) { return tile(x, Shape{repetitions}); }
/// Repeats each element along an axis, or of the flattened x. `repeats` is a single count or a count for each index.
/// Throws ValueError. (chainer.functions.repeat)
CT_API Variable repeat(const Variable& x, const Shape& repeats, std::optional<int> axis = {});
inline Variable repeat(const Variable& x, std::int64_t repeats, std::optional<int> axis = {}) {
  return repeat(x, Shape{repeats}, axis);
}
/// Adds borders to x. Throws ValueError for modes that compute new values (linear_ramp, maximum, mean, minimum, empty,
/// odd reflections), which have no gradient. Unlike in Chainer, elements repeated by edge, reflect, symmetric and wrap
/// receive gradients from their copies. (chainer.functions.pad)
CT_API Variable pad(const Variable& x, const PerSide<std::int64_t>& width, const PadOptions& options = {});

// Picking.

/// Returns x where the condition is true, else y. All three broadcast. The condition has no gradient.
/// (chainer.functions.where)
CT_API Variable where(const Variable& condition, const Variable& x, const Variable& y);
/// Returns x where the condition is true, else a number, which does not change the dtype: `F::where(mask, x,
/// -INFINITY)`.
CT_API Variable where(const Variable& condition, const Variable& x, const Scalar& y);
CT_API Variable where(const Variable& condition, const Scalar& x, const Variable& y);
/// Returns y[i] = x[i, t[i]]. Throws ShapeError, DtypeError and IndexError. (chainer.functions.select_item)
CT_API Variable select_item(const Variable& x, const Variable& t);
/// Reorders slices along an axis by a permutation, or by its inverse. (chainer.functions.permutate)
CT_API Variable permutate(const Variable& x, const Variable& indices, int axis = 0, bool inv = false);
/// Returns a copy of a with b added at indices. Throws ShapeError unless b has the shape that the indices select.
/// (chainer.functions.scatter_add)
CT_API Variable scatter_add(const Variable& a, const std::vector<Index>& indices, const Variable& b);
/// Returns the diagonals of two axes as the last axis. (chainer.functions.diagonal)
CT_API Variable diagonal(const Variable& x, std::int64_t offset = 0, int axis1 = 0, int axis2 = 1);

}  // namespace catenary::functions
