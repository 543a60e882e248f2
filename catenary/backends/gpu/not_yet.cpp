// Primitives that are declared and that nothing calls yet; each goes from here when it is written.

#include "catenary/backends/gpu/primitives.h"
#include "catenary/core/error.h"
#include "catenary/core/format.h"

namespace catenary::gpu {

template <>
void compute(Context&, const RunText&) {
  fail<DeviceError>("RunText: not written yet");
}

}  // namespace catenary::gpu
