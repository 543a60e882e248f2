#pragma once
// Private to the library: what backends share about poolings.

#include "catenary/device/primitives.h"

namespace catenary {

/// What a window's sum is divided by; 0: by the number of its elements that are not pads.
inline double divisor_of(Pooling op, const Window& window) {
  return op == Pooling::average ? static_cast<double>(window.taps()) : op == Pooling::sum ? 1 : 0;
}

}  // namespace catenary
