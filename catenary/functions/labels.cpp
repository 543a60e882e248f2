#include "catenary/functions/labels.h"

#include "catenary/array/axes.h"
#include "catenary/array/elementwise_core.h"
#include "catenary/device/range.h"

namespace catenary::functions::detail {

Array Labels::values() const { return catenary::detail::as_dtype(t, Dtype::int64); }

Array Labels::counted() const { return values() != ignored.value(); }

Array Labels::indices(const Array& label) const {
  return ignored ? catenary::where(label == *ignored, 0, label) : label;
}

std::int64_t Labels::largest() const {
  if (t.size() == 0) return -1;
  const Array label = values();
  check(label, false);
  return label.max().item<std::int64_t>();  // by then the device has said what is wrong
}

void Labels::check(const Array& label, bool is_value_error) const {
  catenary::detail::check_range(label, {.operation = function,
                                        .name = name,
                                        .low = 0,
                                        .high = classes,
                                        .ignored = ignored,
                                        .shape = t.shape(),
                                        .is_value_error = is_value_error});
}

}  // namespace catenary::functions::detail
