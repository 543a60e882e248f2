#pragma once
// Functions that move elements: axes, joining, splitting, repeating, picking. All can be differentiated twice.
// broadcast_to, sum_to, sum, reshape, transpose, get_item, cast, copy and identity are in autograd/operators.h.

#include <array>
#include <cstddef>
#include <optional>
#include <vector>

#include "catenary/array/manipulation.h"
#include "catenary/autograd/operators.h"

namespace catenary::functions {

// The axes. What can be a view is one.

/// Two axes exchanged. Throws ShapeError for an axis that x has not, here and below. (chainer.functions.swapaxes)
CT_API Variable swapaxes(const Variable& x, int axis1, int axis2);
/// Axes moved to new places; the others keep their order. (chainer.functions.moveaxis)
CT_API Variable moveaxis(const Variable& x, const Axes& source, const Axes& destination);
inline Variable moveaxis(const Variable& x, int source, int destination) {
  return moveaxis(x, Axes{source}, Axes{destination});
}
/// An axis moved before `start`. (chainer.functions.rollaxis)
CT_API Variable rollaxis(const Variable& x, int axis, int start = 0);
/// An axis of extent 1 at a place of the result. (chainer.functions.expand_dims)
CT_API Variable expand_dims(const Variable& x, int axis);
/// Without the axes of extent 1, or the given ones; throws ShapeError where one is longer. (chainer.functions.squeeze)
CT_API Variable squeeze(const Variable& x, const AxisArg& axis = {});
/// 1-d. (chainer.functions.flatten)
CT_API Variable flatten(const Variable& x);
/// Reversed along an axis. (chainer.functions.flip)
CT_API Variable flip(const Variable& x, int axis);
/// Reversed along the second and the first axis; throws ShapeError for too few. (chainer.functions.fliplr, flipud)
CT_API Variable fliplr(const Variable& x);
CT_API Variable flipud(const Variable& x);
/// All with the shape to which they broadcast. (chainer.functions.broadcast)
CT_API Variables broadcast(const std::vector<Variable>& xs);
/// x's elements in C order seen with other geometry: element (i, j, …) is number offset + i strides[0] + j strides[1]…;
/// an element may be seen more than once. A copy. Throws ShapeError for lists of different lengths and IndexError for
/// what lies outside. (chainer.functions.as_strided, for a C-ordered array)
CT_API Variable as_strided(const Variable& x, const Shape& shape, const Strides& strides, std::int64_t offset = 0);
/// Blocks of r² channels of [n, r² c, h, w] spread out: [n, c, r h, r w]. Throws ShapeError.
/// (chainer.functions.depth2space)
CT_API Variable depth2space(const Variable& x, int r);
/// The reverse. (chainer.functions.space2depth)
CT_API Variable space2depth(const Variable& x, int r);

// Joining and splitting. The dtypes must be equal (DtypeError).

/// One after the other along an axis. Throws ShapeError where other extents differ, ValueError for none at all.
/// (chainer.functions.concat)
CT_API Variable concat(const std::vector<Variable>& xs, int axis = 1);
/// Along a new axis. (chainer.functions.stack)
CT_API Variable stack(const std::vector<Variable>& xs, int axis = 0);
/// Along the second axis, 1-d ones along the first. (chainer.functions.hstack)
CT_API Variable hstack(const std::vector<Variable>& xs);
/// Along the first axis, 1-d ones as rows. (chainer.functions.vstack)
CT_API Variable vstack(const std::vector<Variable>& xs);
/// Along the third axis. (chainer.functions.dstack)
CT_API Variable dstack(const std::vector<Variable>& xs);
/// Equal parts, or the parts between positions. Throws ValueError when the parts would not be equal.
/// (chainer.functions.split_axis)
CT_API Variables split_axis(const Variable& x, const Sections& sections, int axis);
/// n equal parts, for names: `auto [q, k, v] = F::split_axis<3>(x, -1)`. Throws ValueError when they would not be
/// equal.
template <std::size_t n>
std::array<Variable, n> split_axis(const Variable& x, int axis) {
  const Variables parts = split_axis(x, Sections(n), axis);
  std::array<Variable, n> all;
  for (std::size_t i = 0; i < n; ++i) all[i] = parts[i];
  return all;
}
/// One for each position on an axis. (chainer.functions.separate)
CT_API Variables separate(const Variable& x, int axis = 0);
/// Sequences [length…, d…] of several lengths as one array [n, longest, d…], or of a given length, filled up with
/// `padding`. Throws ShapeError where d… differ or a sequence is longer. (chainer.functions.pad_sequence)
CT_API Variable pad_sequence(const std::vector<Variable>& xs, std::optional<std::int64_t> length = {},
                             double padding = 0);
/// Sequences, the longest first, as one array for each time: of all sequences that last so long. Throws ShapeError
/// where lengths rise. (chainer.functions.transpose_sequence)
CT_API Variables transpose_sequence(const std::vector<Variable>& xs);

// Repeating.

/// x repeated so many times along each axis. (chainer.functions.tile)
CT_API Variable tile(const Variable& x, const Shape& repetitions);
inline Variable tile(const Variable& x, std::int64_t repetitions) { return tile(x, Shape{repetitions}); }
/// Each element repeated, along an axis or of the flattened x; one count, or one for each position. Throws ValueError.
/// (chainer.functions.repeat)
CT_API Variable repeat(const Variable& x, const Shape& repeats, std::optional<int> axis = {});
inline Variable repeat(const Variable& x, std::int64_t repeats, std::optional<int> axis = {}) {
  return repeat(x, Shape{repeats}, axis);
}
/// x with borders. Modes that compute new values (linear_ramp, maximum, mean, minimum, empty, odd reflections) have no
/// gradient here and throw ValueError. (chainer.functions.pad; unlike there, what edge, reflect, symmetric and wrap
/// repeat gets its gradient)
CT_API Variable pad(const Variable& x, const PerSide<std::int64_t>& width, const PadOptions& options = {});

// Picking.

/// x where the condition is true, else y; the three broadcast. The condition has no gradient.
/// (chainer.functions.where)
CT_API Variable where(const Variable& condition, const Variable& x, const Variable& y);
/// The same with a number, which is weak: `F::where(mask, x, -INFINITY)`.
CT_API Variable where(const Variable& condition, const Variable& x, const Scalar& y);
CT_API Variable where(const Variable& condition, const Scalar& x, const Variable& y);
/// y[i] = x[i, t[i]]. Throws ShapeError, DtypeError and IndexError. (chainer.functions.select_item)
CT_API Variable select_item(const Variable& x, const Variable& t);
/// Slices along an axis in the order of a permutation, or of its inverse. (chainer.functions.permutate)
CT_API Variable permutate(const Variable& x, const Variable& indices, int axis = 0, bool inv = false);
/// A copy of a with b added at indices. Throws ShapeError unless b has the shape that the indices pick.
/// (chainer.functions.scatter_add)
CT_API Variable scatter_add(const Variable& a, const std::vector<Index>& indices, const Variable& b);
/// The diagonals of two axes; they become the last axis. (chainer.functions.diagonal)
CT_API Variable diagonal(const Variable& x, std::int64_t offset = 0, int axis1 = 0, int axis2 = 1);

}  // namespace catenary::functions
