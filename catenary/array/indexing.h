#pragma once
// Functions that select elements by position or by condition, with NumPy's names. array.h has the operators `a(…)` and
// `a.set(value, …)`. Index arrays are integers of any dtype. A bool array selects the positions where it is true.

#include <optional>
#include <vector>

#include "catenary/array/array.h"
#include "catenary/device/index_mode.h"

namespace catenary {

/// Returns elements along an axis, or of the flattened array if no axis is given. The index array's shape replaces the
/// axis. `mode` decides about out-of-range indices: raise IndexError, wrap around, or clip to the nearest end.
/// (numpy.take)
CT_API Array take(const Array& a, const Operand& indices, const std::optional<int>& axis = {},
                  IndexMode mode = IndexMode::raise);
/// Returns elements by a separate index for each position: for axis 1, result[i, j, k] = a[i, indices[i, j, k], k]. The
/// other axes broadcast. Throws ShapeError if the numbers of dimensions differ. (numpy.take_along_axis)
CT_API Array take_along_axis(const Array& a, const Array& indices, int axis);
/// Sets a[flat index] = values. The values are repeated or cut to the number of indices. (numpy.put)
CT_API void put(Target a, const Operand& indices, const Operand& values, IndexMode mode = IndexMode::raise);
/// Writes values to the elements that take_along_axis reads. (numpy.put_along_axis)
CT_API void put_along_axis(Target a, const Array& indices, const Operand& values, int axis);

/// Computes a[indices] += value. An element that is named several times receives every value. (cupyx.scatter_add,
/// numpy.add.at)
CT_API void scatter_add(Target a, const std::vector<Index>& indices, const Operand& value);
/// Computes a[indices] = max(a[indices], value), with repeated indices as in scatter_add. (cupyx.scatter_max,
/// numpy.maximum.at)
CT_API void scatter_max(Target a, const std::vector<Index>& indices, const Operand& value);
/// Computes a[indices] = min(a[indices], value), with repeated indices as in scatter_add. (cupyx.scatter_min,
/// numpy.minimum.at)
CT_API void scatter_min(Target a, const std::vector<Index>& indices, const Operand& value);

/// Returns the positions of nonzero elements, in C order: one index array for each axis. Throws ShapeError for a 0-d
/// array. (numpy.nonzero)
CT_API std::vector<Array> nonzero(const Array& a);
/// Returns nonzero(condition). (numpy.where with one argument)
CT_API std::vector<Array> where(const Array& condition);
/// Returns the positions of nonzero elements, one row for each: shape (count, ndim). (numpy.argwhere)
CT_API Array argwhere(const Array& a);
/// Returns the flat indices of nonzero elements. (numpy.flatnonzero)
CT_API Array flatnonzero(const Array& a);
/// Converts flat indices to coordinates in `shape`. Throws ValueError for an index out of range. (numpy.unravel_index)
CT_API std::vector<Array> unravel_index(const Operand& indices, const Shape& shape);
/// Converts coordinates, which broadcast, to flat indices. By default, throws ValueError for a coordinate out of range;
/// see `mode`. (numpy.ravel_multi_index)
CT_API Array ravel_multi_index(const std::vector<Array>& coordinates, const Shape& shape,
                               IndexMode mode = IndexMode::raise);
/// Returns index arrays for the outer product of 1-d sequences: `a.get({ix[0], ix[1]})`. Bool arrays select the
/// positions where they are true. (numpy.ix_)
CT_API std::vector<Array> ix_(const std::vector<Array>& sequences);

/// Returns result[i] = choices[a[i]][i]. All arrays broadcast. (numpy.choose)
CT_API Array choose(const Array& a, const std::vector<Array>& choices, IndexMode mode = IndexMode::raise);
/// Returns for each element the first of `choices` whose condition holds, else `fallback`. (numpy.select)
CT_API Array select(const std::vector<Array>& conditions, const std::vector<Array>& choices,
                    const Operand& fallback = 0);
/// Returns the slices along an axis, or the elements of the flattened array, where the 1-d condition is true.
/// (numpy.compress)
CT_API Array compress(const Array& condition, const Array& a, const std::optional<int>& axis = {});
/// Returns the elements of the flattened array where the flattened condition is true. (numpy.extract)
CT_API Array extract(const Array& condition, const Array& a);
/// Sets a[mask] = values. The values are repeated or cut to the number of true elements. (numpy.place)
CT_API void place(Target a, const Array& mask, const Operand& values);
/// Sets a.flat[i] = values.flat[i % values.size] where mask.flat[i] is true. (numpy.putmask)
CT_API void putmask(Target a, const Array& mask, const Operand& values);

/// Returns diagonal `k` of a 2-d array as a read-only view, or a square array with a 1-d array as diagonal `k`. Use
/// `diagonal` for a view to write to. (numpy.diag)
CT_API const Array diag(const Array& v, std::int64_t k = 0);
/// Returns a square array with the flattened `v` as diagonal `k`. (numpy.diagflat)
CT_API Array diagflat(const Array& v, std::int64_t k = 0);
/// Returns a view of the diagonals of two axes, which become the last axis. Throws ShapeError for fewer than two
/// dimensions. (numpy.diagonal)
CT_API Array diagonal(const Array& a, std::int64_t offset = 0, int axis1 = 0, int axis2 = 1);
template <detail::MaybeCopy A>
const Array diagonal(A&& a, std::int64_t offset = 0, int axis1 = 0, int axis2 = 1) {
  return diagonal(a, offset, axis1, axis2);
}
/// Writes the main diagonal of all axes. With `wrap` it starts again below the end of a tall matrix.
/// (numpy.fill_diagonal)
CT_API void fill_diagonal(Target a, const Operand& value, bool wrap = false);
/// Returns a copy with zeros above diagonal `k` of the last two axes. (numpy.tril)
CT_API Array tril(const Array& m, std::int64_t k = 0);
/// Returns a copy with zeros below diagonal `k` of the last two axes. (numpy.triu)
CT_API Array triu(const Array& m, std::int64_t k = 0);
/// Returns the indices of the lower triangle of an (n, m) array; m defaults to n. (numpy.tril_indices)
CT_API std::vector<Array> tril_indices(std::int64_t n, std::int64_t k = 0, const std::optional<std::int64_t>& m = {});
/// Returns the indices of the upper triangle of an (n, m) array; m defaults to n. (numpy.triu_indices)
CT_API std::vector<Array> triu_indices(std::int64_t n, std::int64_t k = 0, const std::optional<std::int64_t>& m = {});

}  // namespace catenary
