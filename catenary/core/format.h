#pragma once
// Private: message formatting for .cpp files. No public header includes it, because it includes fmt.

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <string>
#include <utility>

#include "catenary/core/dtype.h"
#include "catenary/core/error.h"
#include "catenary/core/shape.h"

template <>
struct fmt::formatter<catenary::Dims> : fmt::formatter<std::string> {
  template <class Context>
  auto format(const catenary::Dims& d, Context& ctx) const {
    return fmt::formatter<std::string>::format(d.str(), ctx);
  }
};
template <>
struct fmt::formatter<catenary::Dtype> : fmt::formatter<std::string> {
  template <class Context>
  auto format(catenary::Dtype d, Context& ctx) const {
    return fmt::formatter<std::string>::format(catenary::dtype_name(d), ctx);
  }
};

namespace catenary {

/// Throws E with a formatted message: `fail<ShapeError>("matmul: {} and {} do not fit", a, b)`.
template <class E, class... Args>
[[noreturn]] void fail(fmt::format_string<Args...> format, Args&&... args) {
  throw E(fmt::format(format, std::forward<Args>(args)...));
}

}  // namespace catenary
