#pragma once
// An optional shape argument. Unlike std::optional<Shape> it accepts a shape in braces: f({2, 3}).

#include <initializer_list>
#include <optional>
#include <vector>

#include "catenary/core/shape.h"

namespace catenary {

/// A shape (or axes), or none: `{}` and std::nullopt.
class OptionalShape : public std::optional<Shape> {
 public:
  OptionalShape() = default;
  OptionalShape(std::nullopt_t) {}
  OptionalShape(const Shape& shape) : optional(shape) {}
  OptionalShape(const std::optional<Shape>& shape) : optional(shape) {}
  OptionalShape(const std::vector<std::int64_t>& shape) : optional(Shape(shape)) {}
  OptionalShape(std::initializer_list<std::int64_t> shape) : optional(Shape(shape)) {}
};

}  // namespace catenary
