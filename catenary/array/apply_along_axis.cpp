#include "catenary/array/axes.h"
#include "catenary/array/manipulation.h"
#include "catenary/core/format.h"

namespace catenary {

Array apply_along_axis(const std::function<Array(const Array&)>& function, int axis, const Array& a) {
  const int at = normalize_axis(axis, a.ndim(), "apply_along_axis");
  const Array moved = detail::axis_to_end(a, at);
  Shape shape(moved.shape().data(), moved.ndim() - 1);
  if (shape.product() == 0)
    fail<ValueError>("apply_along_axis: there is no slice along axis {} of an array of shape {}", at, a.shape());
  const Array slices = moved.reshape({shape.product(), moved.shape().back()});
  std::vector<Array> results;
  for (const Array& one : slices) results.push_back(function(one));
  const Shape& each = results.front().shape();
  for (const Array& result : results)
    if (result.shape() != each)
      fail<ShapeError>("apply_along_axis: the function gave shapes {} and {}", each, result.shape());
  const int outer = shape.size();
  Axes from, to;
  for (int i = 0; i < each.size(); ++i) {
    shape.push_back(each[i]);
    from.push_back(outer + i);
    to.push_back(at + i);
  }
  const Array joined = stack(results).reshape(shape);
  return each.empty() ? joined : moveaxis(joined, from, to);
}

}  // namespace catenary
