#include "catenary/functions/labels.h"

#include <algorithm>
#include <limits>

#include "catenary/array/axes.h"
#include "catenary/array/elementwise_core.h"
#include "catenary/core/format.h"
#include "catenary/device/range.h"

namespace catenary::functions::detail {

void check_integers(const char* function, const std::string& name, const Array& t) {
  if (!is_integer(t.dtype())) fail<DtypeError>("{}: {} must be integer, not {}", function, name, t.dtype());
}

Array Labels::values() const {
  check_integers(function, name, t);
  // values above int64's range are neither classes nor -1
  const bool is_wide = t.dtype() == Dtype::uint64;
  return catenary::detail::as_dtype(is_wide ? minimum(t, std::numeric_limits<std::int64_t>::max()) : t, Dtype::int64);
}

Array Labels::counted() const { return values() != ignored.value(); }

Array Labels::indices(const Array& label) const {
  return ignored ? catenary::where(label == *ignored, 0, label) : label;
}

std::int64_t Labels::largest() const {
  if (t.size() == 0) return -1;
  const Array label = values();
  check(label, false);
  return label.max().item<std::int64_t>();  // waiting for the result also reports wrong labels
}

void Labels::check(const Array& label, bool is_value_error) const {
  Range range{.operation = function,
              .name = name,
              .low = low,
              .high = classes,
              .ignored = ignored,
              .shape = t.shape(),
              .is_value_error = is_value_error};
  catenary::detail::check_range(label, range);
  if (!forbidden.defined()) return;
  // forbidden labels become negative, all others 0
  range.forbidden = what_is_forbidden;
  range.mark = std::max(classes, ignored.value_or(0)) + 1;
  range.low = 0, range.high = 1;
  range.ignored.reset();
  catenary::detail::check_range(catenary::where(forbidden, label - range.mark, 0), range);
}

}  // namespace catenary::functions::detail
