#pragma once
// Sizes of windows, strides and padding, as users write them.

#include <concepts>
#include <initializer_list>
#include <optional>

#include "catenary/core/shape.h"

namespace catenary {

/// One entry for each axis that windows slide over, or one for all of them: `3`, `{3, 5}`. Window::make expands it.
class PerAxis : public Shape {
 public:
  template <std::integral T>
  PerAxis(T entry) : Shape{static_cast<std::int64_t>(entry)} {}
  PerAxis(std::initializer_list<std::int64_t> entries) : Shape(entries) {}
  PerAxis(const Shape& entries) : Shape(entries) {}
};

/// A PerAxis, or none: `{}` and std::nullopt.
class OptionalPerAxis : public std::optional<PerAxis> {
 public:
  OptionalPerAxis() = default;
  OptionalPerAxis(std::nullopt_t) {}
  template <std::integral T>
  OptionalPerAxis(T entry) : optional(PerAxis(entry)) {}
  OptionalPerAxis(std::initializer_list<std::int64_t> entries) : optional(PerAxis(entries)) {}
  OptionalPerAxis(const Shape& entries) : optional(PerAxis(entries)) {}
};

}  // namespace catenary
