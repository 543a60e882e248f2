#pragma once
// Private to the library: what an index expression means for an array of a given geometry (NumPy's rules for `a[...]`).

#include <vector>

#include "catenary/array/body.h"

namespace catenary {

/// An index expression taken apart. Integers, slices, newaxis and ellipsis are done: they are a view. What index arrays
/// pick from comes first in that view.
struct IndexPlan {
  bool advanced = false;       ///< are there index arrays?
  Array view;                  ///< the axes that are picked from, then the others in order
  std::vector<Array> indices;  ///< one for each picked axis: int64, C-ordered, of shape `shape`
  std::vector<int> axes;       ///< the numbers of the picked axes in the array, for messages
  Shape shape;                 ///< that the index arrays broadcast to
  int position = 0;            ///< where `shape` stands among the other axes in the result

  /// Is there nothing to pick, or nothing to pick from?
  bool is_empty() const;
  /// Extents and strides of the axes that are not picked from.
  Shape rest() const;
  /// Shape of `a[indices]`.
  Shape result_shape() const;
  /// The order that brings an array of shape result_shape() to `shape` first.
  Axes picked_first() const;
};

/// Takes `indices` of `a` apart; throws IndexError as NumPy does. Positions in index arrays are not looked at yet.
IndexPlan plan_index(const Array& a, const std::vector<Index>& indices);

/// Throws IndexError for an index of the plan's arrays that is out of range, as check_range does.
void check_positions(const IndexPlan& plan);

/// target[indices] op= value, with `value` cast to the target's dtype and broadcast.
void scatter_into(const Array& target, const std::vector<Index>& indices, const Operand& value, ScatterMode mode,
                  const char* what);

/// Flat positions (int64) of the elements that are not zero, in C order.
Array nonzero_positions(const Array& a);

/// Coordinates on the axes of `shape` of flat positions that are known to be in range.
std::vector<Array> coordinates_of(const Array& positions, const Shape& shape);

}  // namespace catenary
