#pragma once
// Private to functions/ and links/: labels that are checked.

#include <cstdint>
#include <optional>
#include <string>
#include <type_traits>

#include "catenary/autograd/variable.h"
#include "catenary/core/error.h"

namespace catenary::functions::detail {

/// Throws DtypeError unless t are integers: Labels asks it, and what would rather say that than what else is wrong.
void check_integers(const char* function, const std::string& name, const Array& t);

/// Labels or indices and what they may be: integers in [low, classes), or `ignored`. The one check of all functions and
/// links that take some (tests/functions/labels_test.cpp walks them).
struct Labels {
  const char* function;  ///< for messages, as is `name`
  std::string name;
  Array t;
  std::int64_t classes;
  std::optional<std::int64_t> ignored = {};
  std::int64_t low = 0;
  /// Where labels may not be what they are, though they are in the range, and what that is: "the blank".
  Array forbidden = {};
  std::string what_is_forbidden = {};

  /// Where labels are not `ignored`, which has been given.
  Array counted() const;
  /// t as int64, which holds every class and `ignored`.
  Array values() const;
  /// Throws DtypeError unless t are integers, and E, which names a wrong label and its place: on the CPU the first one
  /// and at once, else when the host next waits for the device.
  template <class E = IndexError>
  void check() const {
    check(values(), std::is_same_v<E, ValueError>);
  }
  /// The largest of t, ignored ones included, and -1 of none. Checks, too, and waits for the device.
  std::int64_t largest() const;
  /// Checks; and `pick` of t as int64 indices, 0 where ignored.
  template <class F>
  auto pick(F&& pick) const {
    const Array label = values();
    check(label, false);
    return pick(indices(label));
  }

 private:
  void check(const Array& label, bool is_value_error) const;
  Array indices(const Array& label) const;
};

/// accuracy() of labels that the loss has checked already.
Variable accuracy_of_checked(const Variable& y, const Variable& t);

}  // namespace catenary::functions::detail
