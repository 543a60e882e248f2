#pragma once
// Options for printing arrays.

#include <cstdint>
#include <optional>
#include <string>

#include "catenary/core/export.h"

namespace catenary {

/// Options for printing arrays, with NumPy's names and defaults. Options that are not set stay unchanged.
struct PrintOptions {
  std::optional<int> precision = {};           ///< most digits after the point, initially 8
  std::optional<std::int64_t> threshold = {};  ///< arrays with more elements are summarised, initially 1000
  std::optional<std::int64_t> edgeitems = {};  ///< elements shown at both ends of a summarised axis, initially 3
  std::optional<int> linewidth = {};           ///< characters in a line, initially 75
  std::optional<bool> suppress = {};           ///< prints small numbers without an exponent, initially false
  std::optional<std::string> nanstr = {};      ///< initially "nan"
  std::optional<std::string> infstr = {};      ///< initially "inf"
};
/// Sets the options for the whole process. Throws ValueError for negative numbers, and for 0 edge items or a line width
/// of 0. numpy.set_printoptions
CT_API void set_printoptions(const PrintOptions& options);
/// Returns the current value of every option. numpy.get_printoptions
CT_API PrintOptions get_printoptions();

}  // namespace catenary
