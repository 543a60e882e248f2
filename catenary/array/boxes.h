#pragma once
// Boxes in pictures: [n, 4] arrays of (top, left, bottom, right), as ChainerCV has them.

#include <cstdint>
#include <optional>

#include "catenary/array/array.h"

namespace catenary {

/// Intersection over union of each box of a with each of b: [n, m], in the dtype that both promote to (integers become
/// float64). A box whose bottom or right is not beyond its top or left meets no other; 0 / 0 gives NaN. Throws
/// ShapeError where a or b is not [n, 4]. chainercv.utils.bbox_iou
CT_API Array box_iou(const Array& a, const Array& b);

/// Indices (int64) of the boxes that stay when, from the highest score on, each box goes that overlaps one that stays
/// by `threshold` (of the intersection over union) or more; in that order, at most `limit` of them. Without `score` the
/// boxes are in order already; of equal scores the first comes first. Throws ShapeError for boxes that are not [n, 4]
/// or a score that is not [n], ValueError for a negative limit. chainercv.utils.non_maximum_suppression
CT_API Array non_maximum_suppression(const Array& boxes, double threshold, const std::optional<Array>& score = {},
                                     std::optional<std::int64_t> limit = {});

}  // namespace catenary
