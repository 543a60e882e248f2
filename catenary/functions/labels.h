#pragma once
// Private to functions/ and links/: checks of labels.

#include <cstdint>
#include <optional>
#include <string>
#include <type_traits>

#include "catenary/autograd/variable.h"
#include "catenary/core/error.h"

namespace catenary::functions::detail {

/// Throws DtypeError unless t are integers. Labels checks this, too. Call it to report this error before others.
void check_integers(const char* function, const std::string& name, const Array& t);

/// Labels or indices with their valid values: integers in [low, classes), or `ignored`. All functions and links use it
/// to check labels (tests/functions/labels_test.cpp visits them).
struct Labels {
  const char* function;  ///< for messages, like `name`
  std::string name;
  Array t;
  std::int64_t classes;
  std::optional<std::int64_t> ignored = {};
  std::int64_t low = 0;
  /// Where labels have a forbidden value although it is in the range, and a word for that value: "the blank".
  Array forbidden = {};
  std::string what_is_forbidden = {};

  /// Returns where labels are not `ignored`, which must be set.
  Array counted() const;
  /// Returns t as int64, which can hold every class and `ignored`.
  Array values() const;
  /// Throws DtypeError unless t are integers, and E for a wrong label, with its index. The CPU reports the first wrong
  /// label at once. Devices report one when the host next waits for them.
  template <class E = IndexError>
  void check() const {
    check(values(), std::is_same_v<E, ValueError>);
  }
  /// Returns the largest label, including ignored ones, or -1 if t is empty. Checks the labels and waits for the
  /// device.
  std::int64_t largest() const;
  /// Checks the labels and returns `pick` of t as int64 indices, 0 where ignored.
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

/// Returns accuracy() of labels that the loss has already checked.
Variable accuracy_of_checked(const Variable& y, const Variable& t);

}  // namespace catenary::functions::detail
