#pragma once
// Functions that pick elements by position or by condition, with NumPy's names. Reading and writing by `a(…)`,
// `a.set(value, …)` is in array.h. Index arrays are integers of any dtype; a bool array stands for the positions where
// it is true.

#include <optional>
#include <vector>

#include "catenary/array/array.h"
#include "catenary/device/index_mode.h"

namespace catenary {

/// Elements along an axis, or of the flattened array when no axis is given: the index array's shape replaces the axis.
/// `mode` says what becomes of positions out of range: IndexError, modulo the extent, or the nearest end. (numpy.take)
CT_API Array take(const Array& a, const Operand& indices, const std::optional<int>& axis = {},
                  IndexMode mode = IndexMode::raise);
/// result[i, j, k] = a[i, indices[i, j, k], k] for axis 1: picks along an axis, everywhere another one. The other axes
/// broadcast. Throws ShapeError when the numbers of dimensions differ. (numpy.take_along_axis)
CT_API Array take_along_axis(const Array& a, const Array& indices, int axis);
/// a[flat position] = values, which are repeated or cut to the number of indices. (numpy.put)
CT_API void put(Target a, const Operand& indices, const Operand& values, IndexMode mode = IndexMode::raise);
/// The reverse of take_along_axis. (numpy.put_along_axis)
CT_API void put_along_axis(Target a, const Array& indices, const Operand& values, int axis);

/// a[indices] += value, where an element that is named several times takes every value. (cupyx.scatter_add,
/// numpy.add.at)
CT_API void scatter_add(Target a, const std::vector<Index>& indices, const Operand& value);
/// The same with the larger of both. (cupyx.scatter_max, numpy.maximum.at)
CT_API void scatter_max(Target a, const std::vector<Index>& indices, const Operand& value);
/// The same with the smaller of both. (cupyx.scatter_min, numpy.minimum.at)
CT_API void scatter_min(Target a, const std::vector<Index>& indices, const Operand& value);

/// Where `a` is not zero: one index array for each axis, in C order. Throws ShapeError for a 0-d array. (numpy.nonzero)
CT_API std::vector<Array> nonzero(const Array& a);
/// The same. (numpy.where with one argument)
CT_API std::vector<Array> where(const Array& condition);
/// Where `a` is not zero, one row for each: shape (count, ndim). (numpy.argwhere)
CT_API Array argwhere(const Array& a);
/// Flat positions where `a` is not zero. (numpy.flatnonzero)
CT_API Array flatnonzero(const Array& a);
/// Coordinates in `shape` of flat positions; throws ValueError for one out of range. (numpy.unravel_index)
CT_API std::vector<Array> unravel_index(const Operand& indices, const Shape& shape);
/// Flat positions of coordinates, which broadcast; throws ValueError for one out of range unless `mode` says otherwise.
/// (numpy.ravel_multi_index)
CT_API Array ravel_multi_index(const std::vector<Array>& coordinates, const Shape& shape,
                               IndexMode mode = IndexMode::raise);
/// Index arrays that pick the outer product of 1-d ones: `a.get({ix[0], ix[1]})`. Bool arrays stand for where they are
/// true. (numpy.ix_)
CT_API std::vector<Array> ix_(const std::vector<Array>& sequences);

/// result[i] = choices[a[i]][i]; all broadcast. (numpy.choose)
CT_API Array choose(const Array& a, const std::vector<Array>& choices, IndexMode mode = IndexMode::raise);
/// For each element the first of `choices` whose condition holds, else `fallback`. (numpy.select)
CT_API Array select(const std::vector<Array>& conditions, const std::vector<Array>& choices,
                    const Operand& fallback = 0);
/// The slices along an axis, or the elements of the flattened array, where the 1-d condition is true. (numpy.compress)
CT_API Array compress(const Array& condition, const Array& a, const std::optional<int>& axis = {});
/// The elements of the flattened array where the flattened condition is true. (numpy.extract)
CT_API Array extract(const Array& condition, const Array& a);
/// a[mask] = values, which are repeated or cut to the number of true elements. (numpy.place)
CT_API void place(Target a, const Array& mask, const Operand& values);
/// a.flat[i] = values.flat[i % values.size] where mask.flat[i] is true. (numpy.putmask)
CT_API void putmask(Target a, const Array& mask, const Operand& values);

/// The diagonal `k` above the main one: of a 2-d array a view, from a 1-d array a square one. `diagonal` gives a view
/// to write to. (numpy.diag)
CT_API const Array diag(const Array& v, std::int64_t k = 0);
/// A square array with the flattened `v` as diagonal. (numpy.diagflat)
CT_API Array diagflat(const Array& v, std::int64_t k = 0);
/// A view of the diagonals of two axes; it becomes the last axis. Throws ShapeError below two dimensions.
/// (numpy.diagonal)
CT_API Array diagonal(const Array& a, std::int64_t offset = 0, int axis1 = 0, int axis2 = 1);
template <detail::MaybeCopy A>
const Array diagonal(A&& a, std::int64_t offset = 0, int axis1 = 0, int axis2 = 1) {
  return diagonal(a, offset, axis1, axis2);
}
/// Writes the main diagonal, of all axes; `wrap` lets it go on below a tall matrix's end. (numpy.fill_diagonal)
CT_API void fill_diagonal(Target a, const Operand& value, bool wrap = false);
/// The array with zeros above diagonal `k` of the last two axes. (numpy.tril)
CT_API Array tril(const Array& m, std::int64_t k = 0);
/// The array with zeros below diagonal `k`. (numpy.triu)
CT_API Array triu(const Array& m, std::int64_t k = 0);
/// Index arrays of the lower triangle of an (n, m) array; m is n when left out. (numpy.tril_indices)
CT_API std::vector<Array> tril_indices(std::int64_t n, std::int64_t k = 0, const std::optional<std::int64_t>& m = {});
/// Index arrays of the upper triangle. (numpy.triu_indices)
CT_API std::vector<Array> triu_indices(std::int64_t n, std::int64_t k = 0, const std::optional<std::int64_t>& m = {});

}  // namespace catenary
