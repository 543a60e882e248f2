#pragma once
// How arrays are printed.

#include <cstdint>
#include <optional>
#include <string>

#include "catenary/core/export.h"

namespace catenary {

/// How arrays are printed; what is not given stays as it is. NumPy's names and beginnings.
struct PrintOptions {
  std::optional<int> precision = {};           ///< digits after the point, at most: 8
  std::optional<std::int64_t> threshold = {};  ///< arrays of more elements are summarised: 1000
  std::optional<std::int64_t> edgeitems = {};  ///< to so many at both ends of an axis: 3
  std::optional<int> linewidth = {};           ///< characters: 75
  std::optional<bool> suppress = {};           ///< small numbers are not written with an exponent: false
  std::optional<std::string> nanstr = {};      ///< "nan"
  std::optional<std::string> infstr = {};      ///< "inf"
};
/// Sets them for the whole process. Throws ValueError for negative numbers, and for no edge items or no width.
/// numpy.set_printoptions
CT_API void set_printoptions(const PrintOptions& options);
/// All of them as they are. numpy.get_printoptions
CT_API PrintOptions get_printoptions();

}  // namespace catenary
