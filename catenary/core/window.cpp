#include "catenary/core/window.h"

#include "catenary/core/error.h"
#include "catenary/core/format.h"

namespace catenary {

Window Window::make(const char* function, int axes, const Shape& size, const Shape& stride, const Shape& pad,
                    const Shape& dilate) {
  if (axes < 1 || axes > 3) fail<ValueError>("{}: windows slide over 1 to 3 axes, not {}", function, axes);
  const auto expanded = [&](const char* name, const Shape& given, std::int64_t least) {
    if (given.size() != 1 && given.size() != axes)
      fail<ValueError>("{}: {} must be one number or {}, not {}", function, name, axes, given);
    Shape all = given.size() == axes ? given : Shape::filled(axes, given[0]);
    for (const std::int64_t value : all)
      if (value < least) fail<ValueError>("{}: {} must be at least {}, not {}", function, name, least, given);
    return all;
  };
  return {expanded("ksize", size, 1), expanded("stride", stride, 1), expanded("pad", pad, 0),
          expanded("dilate", dilate, 1)};
}

Shape Window::counts(const char* function, const Shape& extents, bool cover_all) const {
  Shape counts = extents;
  for (int axis = 0; axis < axes(); ++axis) {
    const std::int64_t room = extents[axis] + 2 * pad[axis] - reach(axis) + (cover_all ? stride[axis] - 1 : 0);
    if (room < 0)
      fail<ShapeError>("{}: a window of {} (stride {}, pad {}, dilate {}) does not fit on {}", function, size, stride,
                       pad, dilate, extents);
    counts[axis] = room / stride[axis] + 1;
  }
  return counts;
}

Shape Window::extents(const char* function, const Shape& counts, bool cover_all) const {
  Shape extents = counts;
  for (int axis = 0; axis < axes(); ++axis) {
    extents[axis] =
        stride[axis] * (counts[axis] - 1) + reach(axis) - 2 * pad[axis] - (cover_all ? stride[axis] - 1 : 0);
    if (extents[axis] < 1)
      fail<ShapeError>("{}: {} windows of {} (stride {}, pad {}, dilate {}) leave nothing between the pads", function,
                       counts, size, stride, pad, dilate);
  }
  return extents;
}

}  // namespace catenary
