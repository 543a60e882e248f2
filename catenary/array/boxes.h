#pragma once
// Boxes in pictures: [n, 4] arrays of (top, left, bottom, right), as in ChainerCV.

#include <cstdint>
#include <optional>

#include "catenary/array/array.h"

namespace catenary {

/// Returns the intersection over union of each box of a with each box of b: [n, m], in the dtype that both promote to
/// (integers give float64). A box of no height or width overlaps no box. 0 / 0 gives NaN. Throws ShapeError if a or b
/// is not [n, 4]. chainercv.utils.bbox_iou
CT_API Array box_iou(const Array& a, const Array& b);

/// Returns the indices (int64) of the boxes that remain after non-maximum suppression. Boxes are visited from the
/// highest score down. A box is dropped if its intersection over union with a remaining box is `threshold` or more. The
/// result is in this order and has at most `limit` indices. Without `score` the boxes are taken in their given order.
/// Boxes of equal score keep it. Throws ShapeError for boxes that are not [n, 4] or a score that is not [n], ValueError
/// for a negative limit. chainercv.utils.non_maximum_suppression
CT_API Array non_maximum_suppression(const Array& boxes, double threshold, const std::optional<Array>& score = {},
                                     std::optional<std::int64_t> limit = {});

}  // namespace catenary
