// Primitives that are declared and that nothing calls yet; each goes from here when it is written.

#include "catenary/backends/cpu/primitives.h"
#include "catenary/core/error.h"
#include "catenary/core/format.h"

namespace catenary::cpu {

template <>
void compute(const RunText&) {
  fail<DeviceError>("RunText: not written yet");
}

}  // namespace catenary::cpu
