#include "catenary/core/memory_order.h"

#include <algorithm>
#include <cstdlib>

namespace catenary {

Strides strides_like(const Shape& shape, const Strides& strides) {
  Axes order;
  for (int axis = 0; axis < shape.size(); ++axis) order.push_back(axis);
  std::stable_sort(order.begin(), order.end(), [&](std::int64_t a, std::int64_t b) {
    return std::abs(strides[static_cast<int>(a)]) > std::abs(strides[static_cast<int>(b)]);
  });
  return strides_in_order(shape, order);
}

Axes memory_order(int ndim, std::span<const Strides* const> arrays) {
  Axes inner;  // innermost first
  for (int axis = ndim - 1; axis >= 0; --axis) {
    int place = inner.size();
    for (int i = inner.size() - 1; i >= 0; --i) {
      bool decided = false, inside = true;
      for (const Strides* strides : arrays) {
        const std::int64_t mine = std::abs((*strides)[axis]), other = std::abs((*strides)[static_cast<int>(inner[i])]);
        if (mine == 0 || other == 0) continue;
        decided = true;
        inside = inside && mine < other;
      }
      if (!decided) continue;
      if (!inside) break;
      place = i;
    }
    inner.insert(place, axis);
  }
  std::reverse(inner.begin(), inner.end());
  return inner;
}

Strides strides_in_order(const Shape& shape, const Axes& order) {
  Strides strides = Strides::filled(shape.size(), 1);
  std::int64_t stride = 1;
  for (int i = order.size() - 1; i >= 0; --i) {
    const int axis = static_cast<int>(order[i]);
    strides[axis] = stride;
    stride *= std::max<std::int64_t>(shape[axis], 1);
  }
  return strides;
}

Dims permuted(const Dims& dims, const Axes& order) {
  Dims result;
  for (std::int64_t axis : order) result.push_back(dims[static_cast<int>(axis)]);
  return result;
}

bool is_c_order(const Axes& order) {
  for (int i = 0; i < order.size(); ++i)
    if (order[i] != i) return false;
  return true;
}

}  // namespace catenary
