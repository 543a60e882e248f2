#include "catenary/device/range.h"

#include <vector>

#include "catenary/core/error.h"
#include "catenary/core/format.h"

namespace catenary {

void throw_outside(const Range& range, std::int64_t value, std::int64_t place, const char* late) {
  if (range.name.empty())
    fail<IndexError>("{}: index {} is out of bounds for axis {} with size {}{}", range.operation, value, range.axis,
                     range.high, late);
  std::vector<std::int64_t> at;
  for (int axis = range.shape.size() - 1; axis >= 0; --axis) {
    at.insert(at.begin(), place % range.shape[axis]);
    place /= range.shape[axis];
  }
  std::string wanted = fmt::format("must be in [{}, {})", range.low, range.high);
  if (range.ignored) wanted += fmt::format(" or {}, which is ignored", *range.ignored);
  if (!range.forbidden.empty()) wanted = "must not be " + range.forbidden;
  const std::string message = fmt::format("{}: {} {}, but {}[{}] is {}{}", range.operation, range.name, wanted,
                                          range.name, fmt::join(at, ", "), value + range.mark, late);
  if (range.is_value_error) throw ValueError(message);
  throw IndexError(message);
}

}  // namespace catenary
