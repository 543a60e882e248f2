#include "catenary/core/window.h"

#include <limits>

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
    for (const std::int64_t value : all) {
      if (value < least) fail<ValueError>("{}: {} must be at least {}, not {}", function, name, least, given);
      if (value > most) fail<ValueError>("{}: {} must be at most {}, not {}", function, name, most, given);
    }
    return all;
  };
  const Window window{expanded("ksize", size, 1), expanded("stride", stride, 1), expanded("pad", pad, 0),
                      expanded("dilate", dilate, 1)};
  std::int64_t taps = 1;
  for (int axis = 0; axis < axes; ++axis) {
    taps *= window.size[axis];
    if (taps > most) fail<ValueError>("{}: a window must have at most {} taps, not {}", function, most, window.size);
    if (window.reach(axis) > most)
      fail<ValueError>("{}: a window must reach over at most {} elements, not {} taps at a distance (dilate) of {}",
                       function, most, window.size, window.dilate);
  }
  return window;
}

namespace {

/// Throws for sizes that no array has, with which later products would overflow 64 bits.
void check_extents(const char* function, const Shape& extents) {
  for (const std::int64_t extent : extents)
    if (extent > std::numeric_limits<std::int64_t>::max() / Window::most)
      fail<ShapeError>("{}: windows do not slide over {} elements", function, extents);
}

}  // namespace

Shape Window::counts(const char* function, const Shape& extents, bool cover_all) const {
  check_extents(function, extents);
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
  check_extents(function, counts);
  Shape extents = counts;
  for (int axis = 0; axis < axes(); ++axis) {
    extents[axis] =
        stride[axis] * (counts[axis] - 1) + reach(axis) - 2 * pad[axis] - (cover_all ? stride[axis] - 1 : 0);
    if (extents[axis] < 1)
      fail<ShapeError>("{}: {} windows of {} (stride {}, pad {}, dilate {}) leave nothing inside the padding", function,
                       counts, size, stride, pad, dilate);
  }
  return extents;
}

}  // namespace catenary
