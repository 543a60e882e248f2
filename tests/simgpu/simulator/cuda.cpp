// A stand-in for libcuda.so.1: the functions that Catenary's driver calls, with the signatures of the public ABI.

#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "tests/simgpu/simulator/device.h"

using simgpu::Handle;
#define EXPORT extern "C" __attribute__((visibility("default"))) int

EXPORT cuInit(unsigned) { return simgpu::init_code(); }
EXPORT cuDriverGetVersion(int* version) {
  const char* minor = std::getenv("SIMGPU_DRIVER");
  *version = 13000 + (minor ? 10 * std::atoi(minor) : 0);
  return 0;
}
EXPORT cuDeviceGetCount(int* count) {
  *count = simgpu::devices();
  return 0;
}
EXPORT cuDeviceGet(int* device, int ordinal) {
  *device = ordinal;
  return ordinal < simgpu::devices() ? simgpu::kSuccess : simgpu::kInvalidDevice;
}
EXPORT cuDeviceGetName(char* name, int length, int) {
  const char* own = std::getenv("SIMGPU_NAME");
  std::snprintf(name, static_cast<std::size_t>(length), "%s", own ? own : "Simulated CUDA device");
  return 0;
}
EXPORT cuDeviceTotalMem_v2(std::size_t* bytes, int) {
  *bytes = simgpu::memory_bytes();
  return 0;
}
EXPORT cuDeviceGetPCIBusId(char* text, int length, int device) {
  std::snprintf(text, static_cast<std::size_t>(length), "0000:%02x:00.0", device + 1);
  return 0;
}
EXPORT cuDeviceGetAttribute(int* value, int attribute, int) {
  const char* arch = std::getenv("SIMGPU_ARCH");
  const int capability = arch ? std::atoi(arch) : 90;
  switch (attribute) {
    case 1:  // the most threads of a block
      *value = 1024;
      return 0;
    case 8:  // shared memory of a block
      *value = 48 << 10;
      return 0;
    case 16:  // multiprocessors
      *value = 4;
      return 0;
    case 18:  // integrated
      *value = 0;
      return 0;
    case 75:
      *value = capability / 10;
      return 0;
    case 76:
      *value = capability % 10;
      return 0;
    default:
      return simgpu::kInvalidValue;
  }
}
// A context is represented by its device's number plus one.
EXPORT cuDevicePrimaryCtxRetain(Handle* context, int device) {
  *context = reinterpret_cast<Handle>(static_cast<std::intptr_t>(device + 1));
  return 0;
}
EXPORT cuCtxSetCurrent(Handle context) {
  return simgpu::set_current(static_cast<int>(reinterpret_cast<std::intptr_t>(context)) - 1);
}
EXPORT cuStreamCreate(Handle* stream, unsigned) { return simgpu::create_stream(stream); }
EXPORT cuStreamSynchronize(Handle stream) { return simgpu::synchronize(stream); }
EXPORT cuStreamDestroy_v2(Handle stream) { return simgpu::destroy_stream(stream); }
EXPORT cuStreamWaitEvent(Handle stream, Handle event, unsigned) { return simgpu::stream_wait(stream, event); }
EXPORT cuCtxSynchronize() { return simgpu::synchronize_all(); }
EXPORT cuEventDestroy_v2(Handle event) { return simgpu::destroy_event(event); }
EXPORT cuEventQuery(Handle event) { return simgpu::query(event); }
EXPORT cuEventElapsedTime(float* milliseconds, Handle from, Handle to) {
  return simgpu::elapsed(milliseconds, from, to);
}
EXPORT cuMemcpyPeerAsync(Handle to, Handle to_context, Handle from, Handle from_context, std::size_t bytes,
                         Handle stream) {
  const auto device = [](Handle context) { return static_cast<int>(reinterpret_cast<std::intptr_t>(context)) - 1; };
  return simgpu::between_devices(to, device(to_context), from, device(from_context), bytes, stream);
}
EXPORT cuEventCreate(Handle* event, unsigned flags) { return simgpu::create_event(event, flags != 2); }
EXPORT cuEventRecord(Handle event, Handle stream) { return simgpu::record(event, stream); }
EXPORT cuEventSynchronize(Handle event) { return simgpu::wait(event); }
EXPORT cuMemAlloc_v2(Handle* memory, std::size_t bytes) { return simgpu::allocate(memory, bytes); }
EXPORT cuMemFree_v2(Handle memory) { return simgpu::free(memory); }
EXPORT cuMemHostAlloc(void** memory, std::size_t bytes, unsigned) { return simgpu::allocate_host(memory, bytes); }
EXPORT cuMemcpyHtoDAsync_v2(Handle to, const void* from, std::size_t bytes, Handle stream) {
  return simgpu::to_device(to, from, bytes, stream);
}
EXPORT cuMemcpyDtoHAsync_v2(void* to, Handle from, std::size_t bytes, Handle stream) {
  return simgpu::to_host(to, from, bytes, stream);
}
EXPORT cuMemcpyDtoDAsync_v2(Handle to, Handle from, std::size_t bytes, Handle stream) {
  return simgpu::on_device(to, from, bytes, stream);
}
EXPORT cuModuleLoadData(Handle* module, const void* binary) { return simgpu::load(module, binary); }
EXPORT cuModuleGetFunction(Handle* function, Handle module, const char* name) {
  return simgpu::function(function, module, name);
}
EXPORT cuModuleGetGlobal_v2(Handle* memory, std::size_t* bytes, Handle module, const char* name) {
  return simgpu::variable(memory, bytes, module, name);
}
EXPORT cuFuncGetAttribute(int* value, int attribute, Handle function) {
  return simgpu::function_attribute(value, attribute, function);
}
EXPORT cuLaunchKernel(Handle function, unsigned groups, unsigned y, unsigned z, unsigned size, unsigned size_y,
                      unsigned size_z, unsigned dynamic_bytes, Handle stream, void** arguments, void**) {
  return simgpu::launch(function, {groups, y, z}, {size, size_y, size_z}, dynamic_bytes, stream, arguments, false);
}
EXPORT cuGetErrorName(int code, const char** name) {
  *name = simgpu::error_name(code);
  return 0;
}
