#pragma once
// Private to the library: the range of an index or a label, and what is said of one that is outside. On a GPU that is
// found by kernels, and said when the host next waits for them.

#include <cstdint>
#include <optional>
#include <string>

#include "catenary/core/export.h"
#include "catenary/core/shape.h"

namespace catenary {

/// Integers in [low, high), or `ignored`.
struct Range {
  const char* operation;  ///< for messages: a word of the library's own
  std::string name;       ///< of the argument; empty for indices into an axis
  int axis = 0;           ///< that indices go into
  std::int64_t low = 0, high = 0;
  std::optional<std::int64_t> ignored = {};
  Shape shape = {};             ///< of the argument, whose places are named by it
  bool is_value_error = false;  ///< or else an IndexError
  /// What values may not be though they are in the range, "the blank": they have been marked by taking `mark` from
  /// them.
  std::string forbidden = {};
  std::int64_t mark = 0;

  bool contains(std::int64_t value) const { return (value >= low && value < high) || value == ignored; }
};

/// Indices into an axis of `n` elements, which count from its end where they are negative.
inline Range indices_into(const char* operation, std::int64_t n, int axis) { return {operation, "", axis, -n, n}; }

/// Throws an IndexError or a ValueError about a value at a place (in C order). `late` is added to the message.
[[noreturn]] CT_API void throw_outside(const Range& range, std::int64_t value, std::int64_t place,
                                       const char* late = "");

}  // namespace catenary
