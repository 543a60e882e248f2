#pragma once
// Private to the library: the meaning of an index expression for an array of given geometry (NumPy's rules for
// `a[...]`).

#include <vector>

#include "catenary/array/body.h"

namespace catenary {

/// A parsed index expression. Integers, slices, newaxis and ellipsis are already applied to `view`. Axes that index
/// arrays select from come first in the view.
struct IndexPlan {
  bool advanced = false;       ///< true if there are index arrays
  Array view;                  ///< the indexed axes, then the others in order
  std::vector<Array> indices;  ///< one for each indexed axis: int64, C-ordered, of shape `shape`
  std::vector<int> axes;       ///< the numbers of the indexed axes in the array, for messages
  Shape shape;                 ///< the common shape of the index arrays
  int position = 0;            ///< position of `shape` among the other axes of the result

  /// Returns whether the result or the indexed part of the array has no elements.
  bool is_empty() const;
  /// Returns the sizes and strides of the axes that are not indexed.
  Shape rest() const;
  /// Returns the shape of `a[indices]`.
  Shape result_shape() const;
  /// Returns the axis order that moves `shape` to the front of an array of shape result_shape().
  Axes picked_first() const;
};

/// Parses `indices` for `a`. Throws IndexError as NumPy does. The values in index arrays are not checked yet.
IndexPlan plan_index(const Array& a, const std::vector<Index>& indices);

/// Throws IndexError for an out-of-range value in the plan's index arrays, as check_range does.
void check_positions(const IndexPlan& plan);

/// Computes target[indices] op= value, with `value` cast to the target's dtype and broadcast.
void scatter_into(const Array& target, const std::vector<Index>& indices, const Operand& value, ScatterMode mode,
                  const char* what);

/// Returns the flat indices (int64) of the nonzero elements in C order.
Array nonzero_positions(const Array& a);

/// Returns the coordinates on the axes of `shape` of valid flat indices.
std::vector<Array> coordinates_of(const Array& positions, const Shape& shape);

}  // namespace catenary
