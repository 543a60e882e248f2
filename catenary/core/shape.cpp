#include "catenary/core/shape.h"

#include <ostream>

#include "catenary/core/axis_error.h"
#include "catenary/core/format.h"

namespace catenary {

void Dims::insert(int position, std::int64_t value) {
  check_size(size_ + 1);
  for (int i = size_; i > position; --i) values_[i] = values_[i - 1];
  values_[position] = value;
  ++size_;
}

void Dims::erase(int position) {
  for (int i = position; i + 1 < size_; ++i) values_[i] = values_[i + 1];
  --size_;
}

std::string Dims::str() const {
  if (size_ == 1) return fmt::format("({},)", values_[0]);
  return fmt::format("({})", fmt::join(begin(), end(), ", "));
}

std::ostream& operator<<(std::ostream& stream, const Dims& dims) { return stream << dims.str(); }

void Dims::throw_too_many(int size) {
  fail<ShapeError>("an array may have at most {} dimensions, {} were given", kMaxDims, size);
}

Strides contiguous_strides(const Shape& shape) {
  Strides strides = Strides::filled(shape.size(), 1);
  for (int i = shape.size() - 2; i >= 0; --i) strides[i] = strides[i + 1] * std::max<std::int64_t>(shape[i + 1], 1);
  return strides;
}

Shape broadcast_shapes(const Shape& a, const Shape& b, const char* what) {
  if (a == b) return a;
  const Shape& longer = a.size() >= b.size() ? a : b;
  const Shape& shorter = a.size() >= b.size() ? b : a;
  Shape result = longer;
  const int shift = longer.size() - shorter.size();
  for (int i = 0; i < shorter.size(); ++i) {
    const std::int64_t x = longer[i + shift], y = shorter[i];
    if (x == y || y == 1) continue;
    if (x != 1) fail<ShapeError>("{}: shapes {} and {} do not broadcast together", what, a, b);
    result[i + shift] = y;
  }
  return result;
}

Strides broadcast_strides(const Shape& shape, const Strides& strides, const Shape& target, const char* what) {
  const int shift = target.size() - shape.size();
  bool fits = shift >= 0;
  Strides result = Strides::filled(target.size(), 0);
  for (int i = 0; fits && i < shape.size(); ++i) {
    if (shape[i] == target[i + shift]) {
      result[i + shift] = shape[i] == 1 ? 0 : strides[i];
    } else if (shape[i] != 1) {
      fits = false;
    }
  }
  if (!fits) fail<ShapeError>("{}: shape {} does not broadcast to {}", what, shape, target);
  return result;
}

int normalize_axis(std::int64_t axis, int ndim, const char* what) {
  if (axis < -ndim || axis >= ndim) {
    fail<AxisError>("{}: axis {} is out of bounds for an array of {} dimension{}", what, axis, ndim,
                    ndim == 1 ? "" : "s");
  }
  return static_cast<int>(axis < 0 ? axis + ndim : axis);
}

Axes normalize_axes(const Axes& axes, int ndim, const char* what) {
  Axes result;
  unsigned seen = 0;
  for (std::int64_t axis : axes) {
    const int a = normalize_axis(axis, ndim, what);
    if (seen & (1u << a))
      fail<ArgumentShapeError>("{}: duplicate value in axes: {} is named twice in {}", what, axis, axes);
    seen |= 1u << a;
    result.push_back(a);
  }
  return result;
}

std::int64_t checked_size(const Shape& shape, const char* what) {
  std::int64_t size = 1;
  for (std::int64_t extent : shape) {
    if (extent < 0) fail<ShapeError>("{}: negative size in shape {}", what, shape);
    // 2^59 elements: above every array size, and the byte count still fits
    if (extent != 0 && size > (std::int64_t{1} << 59) / extent)
      fail<ShapeError>("{}: shape {} is too large", what, shape);
    size *= extent;
  }
  return size;
}

}  // namespace catenary
