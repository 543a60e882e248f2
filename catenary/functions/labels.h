#pragma once
// Private to functions/: labels that are checked.

#include <cstdint>
#include <optional>
#include <string>

#include "catenary/autograd/variable.h"
#include "catenary/core/error.h"

namespace catenary::functions::detail {

/// Labels and what they may be: in [0, classes), or `ignored`.
struct Labels {
  const char* function;  ///< for messages, as is `name`
  std::string name;
  Array t;  ///< integers
  std::int64_t classes;
  std::optional<std::int64_t> ignored = {};

  /// Where labels are not `ignored`, which has been given.
  Array counted() const;
  /// t as int64, which holds every class and `ignored`.
  Array values() const;
  /// t as int64 indices: 0 where ignored, and `classes`, which no indexing takes, where wrong.
  Array indices() const;
  /// Throws E, which names the first wrong label and its place. Waits for the device.
  template <class E = IndexError>
  void check() const {
    if (const std::optional<std::string> message = complaint()) throw E(*message);
  }
  /// The largest of t, ignored ones included, and -1 of none. Checks, too, and waits only once.
  std::int64_t largest() const;
  /// `pick(indices())`. Indexing looks at indices anyway, so that no other check has to wait for the device; its
  /// IndexError becomes one about labels.
  template <class F>
  auto pick(F&& pick) const {
    try {
      return pick(indices());
    } catch (const IndexError&) {
      check();
      throw;
    }
  }

 private:
  std::optional<std::string> complaint() const;
};

/// accuracy() of labels that the loss has checked already: nothing waits for the device again.
Variable accuracy_of_checked(const Variable& y, const Variable& t);

}  // namespace catenary::functions::detail
