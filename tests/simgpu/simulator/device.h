#pragma once
// Simulated devices, for testing the drivers of cards that this machine lacks. Memory is host memory, a stream is a
// thread, and a kernel is host code, which runs each work-item as a fiber if it has barriers. The stand-ins for
// the vendors' libraries (cuda.cpp, hip.cpp) are thin wrappers around this. No kernel is known by name: compiler.cpp
// reads the arguments of a kernel from its text.
//
// Errors that a real device would not forgive are errors here too: memory that was not allocated, the context of
// another device, thread blocks larger than a kernel was compiled for, a barrier that some work-items of a block do not
// reach.
//
// SIMGPU_FAULT=alloc:2,launch:1 (or simgpu_fault(), from a test) makes the named call fail for the nth time from then
// on. The names:
//   alloc, copy, launch, compile, load: that call fails
//   lost: every later call fails
//   gone: the device that was about to be used is not available
//   slow: a kernel takes a quarter of a second, during which other streams go on
// Other variables:
//   SIMGPU_INIT=803: the code that the first call returns
//   SIMGPU_MEMORY: bytes of a device
//   SIMGPU_ARCH: its architecture ("90", "gfx1100")
//   SIMGPU_NAME: its name (default "Simulated …")
//   SIMGPU_DRIVER: added to the driver's version
//   SIMGPU_DEVICES: the number of devices (2)
//   SIMGPU_IDLE=1: launches do nothing, for timing the host

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace simgpu {

/// Error codes that are equal in CUDA and HIP.
enum Code {
  kSuccess = 0,
  kInvalidValue = 1,
  kOutOfMemory = 2,
  kNoDevice = 100,
  kInvalidDevice = 101,
  kInvalidImage = 200,
  kInvalidContext = 201,
  kInvalidHandle = 400,
  kNotFound = 500,
  kNotReady = 600,
  kIllegalAddress = 700,
  kLaunchFailed = 719,
};

/// Returns the number of devices: SIMGPU_DEVICES, or 2.
int devices();

/// Returns SIMGPU_INIT, or 0.
int init_code();
std::size_t memory_bytes();
/// Returns whether this fault is due, and counts the call.
bool fault(const char* what);

/// Makes a device current for the calling thread. current() returns -1 before that.
int set_current(int device);
int current();

using Handle = void*;

/// The same layout as uint3 in kernel_shim.h.
struct Extent {
  unsigned x, y, z;
  std::uint64_t size() const { return std::uint64_t{x} * y * z; }
  /// Returns the coordinates of the nth element. x varies fastest.
  Extent at(unsigned n) const { return {n % x, n / x % y, n / x / y}; }
};

int create_stream(Handle* stream);
int destroy_stream(Handle stream);
int synchronize(Handle stream);
/// Waits for all streams of the current device.
int synchronize_all();
int create_event(Handle* event, bool timed);
int destroy_event(Handle event);
int record(Handle event, Handle stream);
int wait(Handle event);
/// Makes the stream wait for the event.
int stream_wait(Handle stream, Handle event);
int query(Handle event);
int elapsed(float* milliseconds, Handle from, Handle to);

int allocate(Handle* memory, std::size_t bytes);
int free(Handle memory);
int allocate_host(void** memory, std::size_t bytes);
int to_device(Handle to, const void* from, std::size_t bytes, Handle stream);
int to_host(void* to, Handle from, std::size_t bytes, Handle stream);
int on_device(Handle to, Handle from, std::size_t bytes, Handle stream);
int between_devices(Handle to, int to_device, Handle from, int from_device, std::size_t bytes, Handle stream);

int load(Handle* module, const void* binary);
int function(Handle* function, Handle module, const char* name);
int variable(Handle* memory, std::size_t* bytes, Handle module, const char* name);
/// Returns an attribute by the number that CUDA and HIP share.
int function_attribute(int* value, int attribute, Handle function);
/// Launches a kernel. `exact`: the block must have the size that the kernel was compiled for (HIP), not at most that
/// size (CUDA).
int launch(Handle function, Extent groups, Extent group, unsigned dynamic_bytes, Handle stream, void** arguments,
           bool exact);

const char* error_name(int code);

/// Compiles the text to a shared library for the host, with its length in front. On an error, returns false and puts
/// the compiler's messages into `log`.
bool compile(const std::string& text, std::vector<char>& binary, std::string& log);

}  // namespace simgpu

/// Makes the nth call of this kind from now fail (1: the next). 0 cancels it.
extern "C" __attribute__((visibility("default"))) void simgpu_fault(const char* what, int n);

/// Returns how often the host has waited for unfinished work ("wait") or asked for memory ("alloc").
extern "C" __attribute__((visibility("default"))) int simgpu_count(const char* what);

/// For the stand-ins of other vendors' libraries (tests/simgpu/blas): the current device, whether [p, p + bytes) lies
/// in one of its allocations, and work appended to a stream.
extern "C" __attribute__((visibility("default"))) int simgpu_set_current(int device);
extern "C" __attribute__((visibility("default"))) int simgpu_current();
extern "C" __attribute__((visibility("default"))) int simgpu_is_allocated(const void* p, std::size_t bytes);
extern "C" __attribute__((visibility("default"))) int simgpu_submit(void* stream, void (*work)(void*), void* data);
