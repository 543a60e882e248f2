#pragma once
// Devices that exist only here, for tests of the drivers of cards that are not: memory on the host, streams that are
// threads, kernels that are host code with a fiber for every work-item where they have barriers. The libraries that
// stand in for the vendors' (cuda.cpp, hip.cpp) are thin words around this. It knows no kernel by name: what a kernel's
// arguments are is read from its text (compiler.cpp).
//
// What a real device would not forgive is an error here too: memory that was not allocated, the context of another
// device, groups larger than a kernel was compiled for, a barrier that not all of a group come to.
//
// SIMGPU_FAULT=alloc:2,launch:1 (or simgpu_fault(), from a test) makes the named call fail for the nth time from then:
// alloc, copy, launch, compile, load, lost, after which every call fails, and gone, after which the device that was to
// be used cannot be; slow makes a kernel take a quarter of a second, in which other streams go on. SIMGPU_INIT=803 is
// what the first call returns, SIMGPU_MEMORY the bytes of a device, SIMGPU_ARCH what it is ("90", "gfx1100"),
// SIMGPU_NAME what it is called ("Simulated …"), SIMGPU_DRIVER what is added to the driver's version, SIMGPU_DEVICES
// how many there are (2). SIMGPU_IDLE=1 takes launches and runs none: for the host's own time.

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace simgpu {

/// The numbers that CUDA and HIP have for these alike.
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

/// How many there are: what SIMGPU_DEVICES says, or 2.
int devices();

/// What SIMGPU_INIT says, or 0.
int init_code();
std::size_t memory_bytes();
/// Is it the turn of this fault?
bool fault(const char* what);

/// Of the calling thread; -1 before set_current.
int set_current(int device);
int current();

using Handle = void*;

/// As kernel_shim.h has it (uint3).
struct Extent {
  unsigned x, y, z;
  std::uint64_t size() const { return std::uint64_t{x} * y * z; }
  /// Of the nth element, x first.
  Extent at(unsigned n) const { return {n % x, n / x % y, n / x / y}; }
};

int create_stream(Handle* stream);
int destroy_stream(Handle stream);
int synchronize(Handle stream);
/// All streams of the current device.
int synchronize_all();
int create_event(Handle* event, bool timed);
int destroy_event(Handle event);
int record(Handle event, Handle stream);
int wait(Handle event);
/// The stream goes on when the event has happened.
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
/// By the number that both have for it.
int function_attribute(int* value, int attribute, Handle function);
/// `exact`: the group must have the size that the kernel was compiled for (HIP), not only at most that (CUDA).
int launch(Handle function, Extent groups, Extent group, unsigned dynamic_bytes, Handle stream, void** arguments,
           bool exact);

const char* error_name(int code);

/// The text as a shared library for the host, with its length in front; false, and the compiler's words, on an error.
bool compile(const std::string& text, std::vector<char>& binary, std::string& log);

}  // namespace simgpu

/// The nth call of this kind from now fails (1: the next); 0 takes it back.
extern "C" __attribute__((visibility("default"))) void simgpu_fault(const char* what, int n);

/// How often the host has waited for work that was not done ("wait"), or asked for memory ("alloc").
extern "C" __attribute__((visibility("default"))) int simgpu_count(const char* what);

/// For libraries that stand in for the vendors' (tests/simgpu/blas): the current device; does [p, p + bytes) lie in one
/// allocation of it; and work put at the end of a stream.
extern "C" __attribute__((visibility("default"))) int simgpu_set_current(int device);
extern "C" __attribute__((visibility("default"))) int simgpu_current();
extern "C" __attribute__((visibility("default"))) int simgpu_is_allocated(const void* p, std::size_t bytes);
extern "C" __attribute__((visibility("default"))) int simgpu_submit(void* stream, void (*work)(void*), void* data);
