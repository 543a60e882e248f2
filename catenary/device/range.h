#pragma once
// Private to the library: the valid range of an index or a label, and the error for a value outside. On a GPU, kernels
// find the error, and it is thrown when the host next waits for them.

#include <cstdint>
#include <optional>
#include <string>

#include "catenary/core/export.h"
#include "catenary/core/shape.h"

namespace catenary {

/// Integers in [low, high), or `ignored`.
struct Range {
  const char* operation;  ///< for messages: a string literal
  std::string name;       ///< of the argument; empty for indices into an axis
  int axis = 0;           ///< the indexed axis
  std::int64_t low = 0, high = 0;
  std::optional<std::int64_t> ignored = {};
  Shape shape = {};             ///< of the argument, for positions in messages
  bool is_value_error = false;  ///< throws ValueError instead of IndexError
  /// The name of a value that is forbidden although it is in the range, such as "the blank". Such values have been
  /// marked by subtracting `mark`.
  std::string forbidden = {};
  std::int64_t mark = 0;

  bool contains(std::int64_t value) const { return (value >= low && value < high) || value == ignored; }
};

/// Returns the range of indices into an axis of `n` elements. Negative indices count from the end.
inline Range indices_into(const char* operation, std::int64_t n, int axis) { return {operation, "", axis, -n, n}; }

/// Throws IndexError or ValueError for a value at a position (in C order). `late` is appended to the message.
[[noreturn]] CT_API void throw_outside(const Range& range, std::int64_t value, std::int64_t place,
                                       const char* late = "");

}  // namespace catenary
