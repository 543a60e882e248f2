#include "catenary/array/boxes.h"

#include <algorithm>
#include <vector>

#include "catenary/array/axes.h"
#include "catenary/array/elementwise_core.h"
#include "catenary/array/indexing.h"
#include "catenary/array/manipulation.h"
#include "catenary/array/reduction.h"
#include "catenary/array/sorting.h"
#include "catenary/core/format.h"

namespace catenary {

namespace {

using detail::slice_axis;

constexpr std::int64_t kBlock = 1024;  // boxes that are compared with one another at a time

void check_boxes(const Array& boxes, const char* what) {
  if (boxes.ndim() != 2 || boxes.shape()[1] != 4)
    fail<ShapeError>("{}: boxes of shape [n, 4] are needed, an array of shape {} was given", what, boxes.shape());
}

/// Returns which boxes of a block remain: a box remains if no earlier remaining box overlaps it. `overlaps[j, i]` says
/// whether the earlier box j overlaps box i. Each repetition of this rule fixes at least one more box, so the loop
/// ends.
Array stay(const Array& overlaps) {
  Array staying = detail::filled({overlaps.shape()[0]}, true, Dtype::bool_, overlaps.device());
  while (true) {
    const Array next = logical_not(any(logical_and(overlaps, staying.reshape({-1, 1})), 0));
    if (all(equal(next, staying)).item<bool>()) return next;
    staying = next;
  }
}

}  // namespace

Array box_iou(const Array& a, const Array& b) {
  check_boxes(a, "box_iou");
  check_boxes(b, "box_iou");
  detail::check_same_device(a, b, "box_iou");
  const Dtype dtype = detail::mean_dtype(promote(a.dtype(), b.dtype()));
  const Array rows = detail::as_dtype(a, dtype), columns = detail::as_dtype(b, dtype);
  const auto row = [&](int i) { return slice_axis(rows, 1, i, i + 1); };
  const auto column = [&](int i) { return slice_axis(columns, 1, i, i + 1).reshape({1, -1}); };
  const Array height = subtract(minimum(row(2), column(2)), maximum(row(0), column(0)));
  const Array width = subtract(minimum(row(3), column(3)), maximum(row(1), column(1)));
  const Array common = where(logical_and(greater(height, 0), greater(width, 0)), multiply(height, width), 0);
  const Array of_row = multiply(subtract(row(2), row(0)), subtract(row(3), row(1)));
  const Array of_column = multiply(subtract(column(2), column(0)), subtract(column(3), column(1)));
  return divide(common, subtract(add(of_row, of_column), common));
}

Array non_maximum_suppression(const Array& boxes, double threshold, const std::optional<Array>& score,
                              std::optional<std::int64_t> limit) {
  check_boxes(boxes, "non_maximum_suppression");
  const std::int64_t n = boxes.shape()[0];
  if (limit && *limit < 0)
    fail<ValueError>("non_maximum_suppression: limit must not be negative, {} was given", *limit);
  Array order, sorted = boxes;
  if (score) {
    detail::check_same_device(boxes, *score, "non_maximum_suppression");
    if (score->shape() != Shape{n})
      fail<ShapeError>("non_maximum_suppression: a score for each of {} boxes is needed, one of shape {} was given", n,
                       score->shape());
    order = topk(*score, n).second;
    sorted = take(boxes, order, 0);
  }
  Array kept = Array::empty({0}, Dtype::int64, boxes.device());
  const std::int64_t most = std::min(limit.value_or(n), n);
  for (std::int64_t first = 0; first < n && kept.size() < most; first += kBlock) {
    Array places = detail::iota(std::min(kBlock, n - first), boxes.device());
    Array block = slice_axis(sorted, 0, first, first + places.size());
    if (kept.size() > 0) {
      places = flatnonzero(logical_not(any(greater_equal(box_iou(take(sorted, kept, 0), block), threshold), 0)));
      block = take(block, places, 0);
    }
    const Array earlier = less(places.reshape({-1, 1}), places);
    const Array overlaps = logical_and(greater_equal(box_iou(block, block), threshold), earlier).contiguous();
    kept = append(kept, add(take(places, flatnonzero(stay(overlaps))), first));
  }
  kept = slice_axis(kept, 0, 0, std::min(most, kept.size()));
  return score ? take(order, kept) : kept.contiguous();
}

}  // namespace catenary
