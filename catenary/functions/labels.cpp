#include "catenary/functions/labels.h"

#include "catenary/array/axes.h"
#include "catenary/array/elementwise_core.h"
#include "catenary/core/format.h"

namespace catenary::functions::detail {

Array Labels::values() const { return catenary::detail::as_dtype(t, Dtype::int64); }

Array Labels::counted() const { return values() != ignored.value(); }

Array Labels::indices() const {
  const Array label = values();
  const Array usable = ignored ? catenary::where(label == *ignored, 0, label) : label;
  return catenary::where(usable < 0, classes, usable);
}

std::int64_t Labels::largest() const {
  if (t.size() == 0) return -1;
  const Array label = values();
  // a negative one that is not ignored counts as too large
  const Array negative = ignored ? (label < 0) & (label != *ignored) : label < 0;
  const std::int64_t largest = catenary::where(negative, classes, label).max().item<std::int64_t>();
  if (largest >= classes) check();
  return largest;
}

std::optional<std::string> Labels::complaint() const {
  const Array label = values(), outside = (label < 0) | (label >= classes);
  const Array bad = ignored ? outside & (label != *ignored) : outside;
  if (!bad.any()) return std::nullopt;
  const std::int64_t at = bad.ravel().argmax().item<std::int64_t>();
  std::vector<std::int64_t> place;
  std::int64_t rest = at;
  for (int axis = t.ndim() - 1; axis >= 0; --axis) {
    place.insert(place.begin(), rest % t.shape()[axis]);
    rest /= t.shape()[axis];
  }
  const std::string ignoring = ignored ? fmt::format(" or {}, which is ignored", *ignored) : "";
  return fmt::format("{}: {} must be in [0, {}){}, but {}[{}] is {}", function, name, classes, ignoring, name,
                     fmt::join(place, ", "), t.ravel()[at].item<std::int64_t>());
}

}  // namespace catenary::functions::detail
