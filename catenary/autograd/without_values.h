#pragma once
// Models without allocated values, to be loaded from a file.

#include "catenary/autograd/parameter.h"

namespace catenary {

/// Until the end of the scope, parameters that this thread makes or initialises get a shape but no values: they use no
/// memory, draw no random numbers, and wait for set_array. (torch.device("meta"))
class CT_API WithoutValues {
 public:
  WithoutValues();
  ~WithoutValues();
  WithoutValues(const WithoutValues&) = delete;
  WithoutValues& operator=(const WithoutValues&) = delete;
  /// Returns whether the calling thread is inside such a scope.
  static bool holds();

 private:
  bool before_;
};
/// Returns the shape of a parameter, with or without values (an empty shape if not known yet).
CT_API const Shape& shape_of(const Parameter& parameter);

}  // namespace catenary
