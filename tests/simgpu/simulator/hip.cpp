// A stand-in for libamdhip64: the functions that Catenary's driver calls, with the signatures of the public ABI.
// SIM_OLD makes it the runtime of ROCm 5, which has only one structure of device properties.

#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "tests/simgpu/simulator/device.h"

using simgpu::Handle;
#define EXPORT extern "C" __attribute__((visibility("default"))) int

namespace {

int properties(void* to, std::size_t bytes, std::size_t arch_offset) {
  const char* arch = std::getenv("SIMGPU_ARCH");
  std::memset(to, 0xcb, bytes);  // other members must not be read
  std::snprintf(static_cast<char*>(to) + arch_offset, 256, "%s", arch ? arch : "gfx90a:sramecc+:xnack-");
  return 0;
}

}  // namespace

EXPORT hipInit(unsigned) { return simgpu::init_code(); }
EXPORT hipRuntimeGetVersion(int* version) {
#ifdef SIM_OLD
  *version = 50221153;
#else
  const char* more = std::getenv("SIMGPU_DRIVER");
  *version = 60342131 + (more ? std::atoi(more) : 0);
#endif
  return 0;
}
EXPORT hipGetDeviceCount(int* count) {
  *count = simgpu::devices();
  return 0;
}
EXPORT hipDeviceGet(int* device, int ordinal) {
  *device = ordinal;
  return ordinal < simgpu::devices() ? simgpu::kSuccess : simgpu::kInvalidDevice;
}
EXPORT hipDeviceGetName(char* name, int length, int) {
  const char* own = std::getenv("SIMGPU_NAME");
  std::snprintf(name, static_cast<std::size_t>(length), "%s", own ? own : "Simulated HIP device");
  return 0;
}
EXPORT hipDeviceTotalMem(std::size_t* bytes, int) {
  *bytes = simgpu::memory_bytes();
  return 0;
}
EXPORT hipDeviceGetPCIBusId(char* text, int length, int device) {
  std::snprintf(text, static_cast<std::size_t>(length), "0000:%02x:00.0", device + 1);
  return 0;
}
EXPORT hipDeviceGetAttribute(int* value, int attribute, int) {
  switch (attribute) {
    case 56:  // the most threads of a block
      *value = 1024;
      return 0;
    case 74:  // shared memory of a block
      *value = 64 << 10;
      return 0;
    case 63:  // compute units
      *value = 4;
      return 0;
    case 16:  // integrated
      *value = 0;
      return 0;
    default:
      return simgpu::kInvalidValue;
  }
}
// In every version, the plain name fills the structure of ROCm 5.
EXPORT hipGetDeviceProperties(void* to, int) { return properties(to, 792, 396); }
#ifndef SIM_OLD
EXPORT hipGetDevicePropertiesR0600(void* to, int) { return properties(to, 1472, 1160); }
#endif
EXPORT hipSetDevice(int device) { return simgpu::set_current(device); }
EXPORT hipStreamCreateWithFlags(Handle* stream, unsigned) { return simgpu::create_stream(stream); }
EXPORT hipStreamSynchronize(Handle stream) { return simgpu::synchronize(stream); }
EXPORT hipEventCreateWithFlags(Handle* event, unsigned flags) { return simgpu::create_event(event, flags != 2); }
EXPORT hipStreamDestroy(Handle stream) { return simgpu::destroy_stream(stream); }
EXPORT hipStreamWaitEvent(Handle stream, Handle event, unsigned) { return simgpu::stream_wait(stream, event); }
EXPORT hipDeviceSynchronize() { return simgpu::synchronize_all(); }
EXPORT hipEventDestroy(Handle event) { return simgpu::destroy_event(event); }
EXPORT hipEventQuery(Handle event) { return simgpu::query(event); }
EXPORT hipEventElapsedTime(float* milliseconds, Handle from, Handle to) {
  return simgpu::elapsed(milliseconds, from, to);
}
EXPORT hipMemcpyPeerAsync(Handle to, int to_device, Handle from, int from_device, std::size_t bytes, Handle stream) {
  return simgpu::between_devices(to, to_device, from, from_device, bytes, stream);
}
EXPORT hipEventRecord(Handle event, Handle stream) { return simgpu::record(event, stream); }
EXPORT hipEventSynchronize(Handle event) { return simgpu::wait(event); }
EXPORT hipMalloc(Handle* memory, std::size_t bytes) { return simgpu::allocate(memory, bytes); }
EXPORT hipFree(Handle memory) { return simgpu::free(memory); }
EXPORT hipHostMalloc(void** memory, std::size_t bytes, unsigned) { return simgpu::allocate_host(memory, bytes); }
EXPORT hipMemcpyHtoDAsync(Handle to, const void* from, std::size_t bytes, Handle stream) {
  return simgpu::to_device(to, from, bytes, stream);
}
EXPORT hipMemcpyDtoHAsync(void* to, Handle from, std::size_t bytes, Handle stream) {
  return simgpu::to_host(to, from, bytes, stream);
}
EXPORT hipMemcpyDtoDAsync(Handle to, Handle from, std::size_t bytes, Handle stream) {
  return simgpu::on_device(to, from, bytes, stream);
}
EXPORT hipModuleLoadData(Handle* module, const void* binary) { return simgpu::load(module, binary); }
EXPORT hipModuleGetFunction(Handle* function, Handle module, const char* name) {
  return simgpu::function(function, module, name);
}
EXPORT hipModuleGetGlobal(Handle* memory, std::size_t* bytes, Handle module, const char* name) {
  return simgpu::variable(memory, bytes, module, name);
}
EXPORT hipFuncGetAttribute(int* value, int attribute, Handle function) {
  return simgpu::function_attribute(value, attribute, function);
}
EXPORT hipModuleLaunchKernel(Handle function, unsigned groups, unsigned y, unsigned z, unsigned size, unsigned size_y,
                             unsigned size_z, unsigned dynamic_bytes, Handle stream, void** arguments, void**) {
  return simgpu::launch(function, {groups, y, z}, {size, size_y, size_z}, dynamic_bytes, stream, arguments, true);
}
extern "C" __attribute__((visibility("default"))) const char* hipGetErrorName(int code) {
  return simgpu::error_name(code);
}
