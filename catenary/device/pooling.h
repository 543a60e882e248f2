#pragma once
// Private to the library: helpers of backends for poolings.

#include "catenary/device/primitives.h"

namespace catenary {

/// Returns the divisor of a window's sum, or 0 for the number of its elements that are not padding.
inline double divisor_of(Pooling op, const Window& window) {
  return op == Pooling::average ? static_cast<double>(window.taps()) : op == Pooling::sum ? 1 : 0;
}

}  // namespace catenary
