// A stand-in for libOpenCL.so.1, with devices that can be found but cannot compute, for tests of how devices are
// counted. Names and numbers come from Khronos' specification and from NVIDIA's and AMD's extensions.
//
// Device n has the bus address of simulated CUDA device n. SIMGPU_OPENCL has one word per device, which says through
// which extension the device reports the address: "khr", "nv", "amd" or "none". A device whose word ends with "!"
// cannot open a context.

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <sstream>
#include <string>
#include <vector>

#include "tests/simgpu/simulator/device.h"

#define EXPORT extern "C" __attribute__((visibility("default")))

namespace {

using Code = std::int32_t;
using Number = std::uint32_t;
using simgpu::Handle;

constexpr Code kDeviceNotAvailable = -2, kCompilerNotAvailable = -3, kInvalidValue = -30;

struct Simulated {
  std::string address;
  bool is_broken = false;
};
const std::vector<Simulated>& all() {
  static const std::vector<Simulated> devices = [] {
    std::vector<Simulated> made;
    const char* words = std::getenv("SIMGPU_OPENCL");
    std::istringstream stream(words ? words : "");
    for (std::string word; stream >> word;) {
      const bool is_broken = word.back() == '!';
      made.push_back({word.substr(0, word.size() - (is_broken ? 1 : 0)), is_broken});
    }
    return made;
  }();
  return devices;
}
// A handle is a device's number plus one.
Number number_of(Handle device) { return static_cast<Number>(reinterpret_cast<std::uintptr_t>(device)) - 1; }
Handle handle_of(std::size_t number) { return reinterpret_cast<Handle>(number + 1); }

Code give(const void* from, std::size_t bytes, std::size_t room, void* to, std::size_t* needed) {
  if (needed) *needed = bytes;
  if (!to) return 0;
  if (room < bytes) return kInvalidValue;
  std::memcpy(to, from, bytes);
  return 0;
}
Code give(const std::string& text, std::size_t room, void* to, std::size_t* needed) {
  return give(text.c_str(), text.size() + 1, room, to, needed);
}

std::string extensions(const std::string& address) {
  if (address == "khr") return "cl_khr_byte_addressable_store cl_khr_pci_bus_info";
  if (address == "nv") return "cl_khr_byte_addressable_store cl_nv_device_attribute_query";
  if (address == "amd") return "cl_khr_byte_addressable_store cl_amd_device_attribute_query";
  return "cl_khr_byte_addressable_store";
}

/// Queries that extensions answer.
Code address_of(const Simulated& device, Number bus, Number what, std::size_t room, void* to, std::size_t* needed) {
  if (device.address == "khr" && what == 0x410F) {
    const Number at[4] = {0, bus, 0, 0};
    return give(at, sizeof at, room, to, needed);
  }
  if (device.address == "nv" && (what == 0x4008 || what == 0x4009 || what == 0x400A)) {
    const Number value = what == 0x4008 ? bus : 0;
    return give(&value, sizeof value, room, to, needed);
  }
  if (device.address == "amd" && what == 0x4037) {
    unsigned char topology[24] = {};
    topology[0] = 1;  // PCIe
    topology[21] = static_cast<unsigned char>(bus);
    return give(topology, sizeof topology, room, to, needed);
  }
  return kInvalidValue;
}

}  // namespace

EXPORT Code clGetPlatformIDs(Number room, Handle* platforms, Number* count) {
  if (count) *count = 1;
  if (platforms && room > 0) platforms[0] = handle_of(0);
  return 0;
}
EXPORT Code clGetPlatformInfo(Handle, Number what, std::size_t room, void* to, std::size_t* needed) {
  return give(what == 0x0901 ? "OpenCL 3.0 simulated" : "Simulated platform", room, to, needed);
}
EXPORT Code clGetDeviceIDs(Handle, std::uint64_t, Number room, Handle* devices, Number* count) {
  if (all().empty()) return -1;
  if (count) *count = static_cast<Number>(all().size());
  for (std::size_t i = 0; devices && i < room && i < all().size(); ++i) devices[i] = handle_of(i);
  return 0;
}
EXPORT Code clGetDeviceInfo(Handle handle, Number what, std::size_t room, void* to, std::size_t* needed) {
  const Number number = number_of(handle);
  const Simulated& device = all()[number];
  const auto word = [&](auto value) { return give(&value, sizeof value, room, to, needed); };
  const char* name = std::getenv("SIMGPU_NAME");
  switch (what) {
    case 0x1000:  // its type
      return word(std::uint64_t{1 << 2});
    case 0x1002:  // compute units
    case 0x1027:  // available
    case 0x1028:  // has a compiler
      return word(Number{1});
    case 0x1004:  // work-items of a group
    case 0x1017:  // bytes of parameters
      return word(std::size_t{1024});
    case 0x1010:  // the largest allocation
    case 0x101F:  // memory
      return word(std::uint64_t{simgpu::memory_bytes()});
    case 0x1019:  // alignment, in bits
      return word(Number{2048});
    case 0x1023:  // local memory
      return word(std::uint64_t{32768});
    case 0x101B:  // of float32
    case 0x1032:  // of float64
      return word(std::uint64_t{63});
    case 0x1035:  // shares the host's memory
      return word(Number{0});
    case 0x102B:
      return give(name ? name : "Simulated CUDA device", room, to, needed);
    case 0x102D:
      return give("1", room, to, needed);
    case 0x102F:
      return give("OpenCL 3.0 simulated", room, to, needed);
    case 0x1030:
      return give(extensions(device.address), room, to, needed);
    default:
      return address_of(device, number + 1, what, room, to, needed);
  }
}
EXPORT Handle clCreateContext(const std::intptr_t*, Number, const Handle* devices, void*, void*, Code* code) {
  *code = all()[number_of(*devices)].is_broken ? kDeviceNotAvailable : 0;
  return *code ? nullptr : *devices;
}
EXPORT Handle clCreateCommandQueue(Handle context, Handle, std::uint64_t, Code* code) {
  *code = 0;
  return context;
}
EXPORT Code clEnqueueMarkerWithWaitList(Handle, Number, const Handle*, Handle* marker) {
  *marker = handle_of(0);
  return 0;
}
EXPORT Code clGetEventProfilingInfo(Handle, Number, std::size_t room, void* to, std::size_t* needed) {
  const std::uint64_t nanoseconds = 1000000;
  return give(&nanoseconds, sizeof nanoseconds, room, to, needed);
}

// Functions that do nothing here or are never called.
#define DOES_NOTHING(name) \
  EXPORT Code name() { return 0; }
DOES_NOTHING(clReleaseCommandQueue)
DOES_NOTHING(clReleaseMemObject)
DOES_NOTHING(clEnqueueReadBuffer)
DOES_NOTHING(clEnqueueWriteBuffer)
DOES_NOTHING(clEnqueueCopyBuffer)
DOES_NOTHING(clEnqueueBarrierWithWaitList)
DOES_NOTHING(clWaitForEvents)
DOES_NOTHING(clGetEventInfo)
DOES_NOTHING(clSetEventCallback)
DOES_NOTHING(clReleaseEvent)
DOES_NOTHING(clReleaseProgram)
DOES_NOTHING(clGetProgramInfo)
DOES_NOTHING(clGetProgramBuildInfo)
DOES_NOTHING(clGetKernelWorkGroupInfo)
DOES_NOTHING(clSetKernelArg)
DOES_NOTHING(clEnqueueNDRangeKernel)
DOES_NOTHING(clFlush)
DOES_NOTHING(clFinish)
EXPORT Code clBuildProgram() { return kCompilerNotAvailable; }
// Functions that would return handles; these are null.
#define MAKES_NOTHING(name) \
  EXPORT Handle name() { return nullptr; }
MAKES_NOTHING(clCreateBuffer)
MAKES_NOTHING(clCreateSubBuffer)
MAKES_NOTHING(clEnqueueMapBuffer)
MAKES_NOTHING(clCreateProgramWithSource)
MAKES_NOTHING(clCreateProgramWithBinary)
MAKES_NOTHING(clCreateKernel)
