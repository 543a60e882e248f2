#pragma once
// Models whose values come from a file: made without memory for what would be overwritten.

#include "catenary/autograd/parameter.h"

namespace catenary {

/// Until the end of the scope, in this thread, a parameter that is made or initialised gets a shape and no values: it
/// takes no memory and draws no random numbers, and waits for set_array. (torch.device("meta"))
class CT_API WithoutValues {
 public:
  WithoutValues();
  ~WithoutValues();
  WithoutValues(const WithoutValues&) = delete;
  WithoutValues& operator=(const WithoutValues&) = delete;
  /// Is the calling thread in such a scope?
  static bool holds();

 private:
  bool before_;
};
/// The shape that a parameter has, or that it got without values. Of one that knows none it has no axes.
CT_API const Shape& shape_of(const Parameter& parameter);

}  // namespace catenary
