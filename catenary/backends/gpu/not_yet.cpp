// Primitives that are declared and that nothing calls yet; each goes from here when it is written.

#include "catenary/backends/gpu/primitives.h"
#include "catenary/core/error.h"
#include "catenary/core/format.h"

namespace catenary::gpu {

template <>
void compute(Context&, const Pool&) {
  fail<DeviceError>("Pool: not written yet");
}
template <>
void compute(Context&, const PoolBack&) {
  fail<DeviceError>("PoolBack: not written yet");
}
template <>
void compute(Context&, const PoolPick&) {
  fail<DeviceError>("PoolPick: not written yet");
}
template <>
void compute(Context&, const Fft&) {
  fail<DeviceError>("Fft: not written yet");
}
template <>
void compute(Context&, const Join&) {
  fail<DeviceError>("Join: not written yet");
}
template <>
void compute(Context&, const RunText&) {
  fail<DeviceError>("RunText: not written yet");
}

}  // namespace catenary::gpu
