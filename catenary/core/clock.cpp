#include "catenary/core/clock.h"

#include <chrono>

namespace catenary {

double monotonic_seconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

}  // namespace catenary
