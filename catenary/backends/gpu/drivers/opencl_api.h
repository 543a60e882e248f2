#pragma once
// Private: the part of OpenCL 1.2's public ABI that opencl.cpp uses, declared after Khronos' specification, with its
// names of functions and numbers of constants.

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "catenary/core/os/library.h"

namespace catenary::gpu::opencl {

using cl_int = std::int32_t;
using cl_uint = std::uint32_t;
using cl_ulong = std::uint64_t;
using cl_bitfield = std::uint64_t;
using Handle = void*;  // any OpenCL object

constexpr cl_bitfield kDeviceTypeCpu = 1 << 1, kDeviceTypeAll = 0xffffffff;
constexpr cl_uint kPlatformVersion = 0x0901, kPlatformName = 0x0902;
constexpr cl_uint kDeviceType = 0x1000, kDeviceMaxComputeUnits = 0x1002, kDeviceMaxWorkGroupSize = 0x1004,
                  kDeviceMaxMemAllocSize = 0x1010, kDeviceMaxParameterSize = 0x1017, kDeviceMemBaseAddrAlign = 0x1019,
                  kDeviceSingleFpConfig = 0x101B, kDeviceGlobalMemSize = 0x101F, kDeviceLocalMemSize = 0x1023,
                  kDeviceAvailable = 0x1027, kDeviceCompilerAvailable = 0x1028, kDeviceName = 0x102B,
                  kDriverVersion = 0x102D, kDeviceVersion = 0x102F, kDeviceExtensions = 0x1030,
                  kDeviceDoubleFpConfig = 0x1032, kDeviceHostUnifiedMemory = 0x1035;
// Queries of the bus address: by cl_khr_pci_bus_info, and by NVIDIA's and AMD's extensions.
constexpr cl_uint kDevicePciBusInfo = 0x410F, kDevicePciBusNv = 0x4008, kDevicePciSlotNv = 0x4009,
                  kDevicePciDomainNv = 0x400A, kDeviceTopologyAmd = 0x4037;
/// The value of kDevicePciBusInfo.
struct PciBusInfo {
  cl_uint domain, bus, device, function;
};
/// The value of kDeviceTopologyAmd.
struct TopologyAmd {
  static constexpr cl_uint kPcie = 1;
  cl_uint type;
  unsigned char unused[17], bus, device, function;
};
constexpr cl_uint kProgramBinarySizes = 0x1165, kProgramBinaries = 0x1166, kProgramBuildLog = 0x1183;
constexpr cl_uint kKernelWorkGroupSize = 0x11B0, kKernelLocalMemSize = 0x11B2, kKernelPrivateMemSize = 0x11B4;
constexpr cl_uint kBufferRegion = 0x1220, kEventStatus = 0x11D3, kProfilingEnd = 0x1283;
constexpr cl_bitfield kCorrectlyRoundedDivideSqrt = 1 << 7, kMemReadWrite = 1, kMemHost = 1 << 4, kMapReadWrite = 3,
                      kQueueProfiling = 1 << 1;
constexpr cl_int kComplete = 0;                  // status of an event
constexpr cl_int kOutOfMemory[] = {-4, -5, -6};  // for device objects, device resources, the host
constexpr cl_int kNoPlatform = -1001;

inline const char* error_name(cl_int code) {
  switch (code) {
    case -1:
      return "CL_DEVICE_NOT_FOUND";
    case -2:
      return "CL_DEVICE_NOT_AVAILABLE";
    case -3:
      return "CL_COMPILER_NOT_AVAILABLE";
    case -4:
      return "CL_MEM_OBJECT_ALLOCATION_FAILURE";
    case -5:
      return "CL_OUT_OF_RESOURCES";
    case -6:
      return "CL_OUT_OF_HOST_MEMORY";
    case -11:
      return "CL_BUILD_PROGRAM_FAILURE";
    case -14:
      return "CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST";
    case -30:
      return "CL_INVALID_VALUE";
    case -36:
      return "CL_INVALID_COMMAND_QUEUE";
    case -38:
      return "CL_INVALID_MEM_OBJECT";
    case -42:
      return "CL_INVALID_BINARY";
    case -46:
      return "CL_INVALID_KERNEL_NAME";
    case -48:
      return "CL_INVALID_KERNEL";
    case -50:
      return "CL_INVALID_ARG_VALUE";
    case -51:
      return "CL_INVALID_ARG_SIZE";
    case -52:
      return "CL_INVALID_KERNEL_ARGS";
    case -54:
      return "CL_INVALID_WORK_GROUP_SIZE";
    case -61:
      return "CL_INVALID_BUFFER_SIZE";
    case kNoPlatform:
      return "CL_PLATFORM_NOT_FOUND_KHR";
    default:
      return "an OpenCL error";
  }
}

/// The library's functions in use, one per line.
struct Api {
  explicit Api(const os::Library& library)
#define CT_CL(name) name(library.required<std::remove_pointer_t<decltype(name)>>("cl" #name))
      : CT_CL(GetPlatformIDs),
        CT_CL(GetPlatformInfo),
        CT_CL(GetDeviceIDs),
        CT_CL(GetDeviceInfo),
        CT_CL(CreateContext),
        CT_CL(CreateCommandQueue),
        CT_CL(ReleaseCommandQueue),
        CT_CL(CreateBuffer),
        CT_CL(CreateSubBuffer),
        CT_CL(ReleaseMemObject),
        CT_CL(EnqueueReadBuffer),
        CT_CL(EnqueueWriteBuffer),
        CT_CL(EnqueueCopyBuffer),
        CT_CL(EnqueueMapBuffer),
        CT_CL(EnqueueMarkerWithWaitList),
        CT_CL(EnqueueBarrierWithWaitList),
        CT_CL(WaitForEvents),
        CT_CL(GetEventInfo),
        CT_CL(GetEventProfilingInfo),
        CT_CL(SetEventCallback),
        CT_CL(ReleaseEvent),
        CT_CL(CreateProgramWithSource),
        CT_CL(CreateProgramWithBinary),
        CT_CL(BuildProgram),
        CT_CL(GetProgramInfo),
        CT_CL(GetProgramBuildInfo),
        CT_CL(ReleaseProgram),
        CT_CL(CreateKernel),
        CT_CL(GetKernelWorkGroupInfo),
        CT_CL(SetKernelArg),
        CT_CL(EnqueueNDRangeKernel),
        CT_CL(Flush),
        CT_CL(Finish) {
  }
#undef CT_CL

  cl_int (*GetPlatformIDs)(cl_uint, Handle*, cl_uint*);
  cl_int (*GetPlatformInfo)(Handle, cl_uint, std::size_t, void*, std::size_t*);
  cl_int (*GetDeviceIDs)(Handle, cl_bitfield, cl_uint, Handle*, cl_uint*);
  cl_int (*GetDeviceInfo)(Handle, cl_uint, std::size_t, void*, std::size_t*);
  Handle (*CreateContext)(const std::intptr_t*, cl_uint, const Handle*, void*, void*, cl_int*);
  Handle (*CreateCommandQueue)(Handle, Handle, cl_bitfield, cl_int*);
  cl_int (*ReleaseCommandQueue)(Handle);
  Handle (*CreateBuffer)(Handle, cl_bitfield, std::size_t, void*, cl_int*);
  Handle (*CreateSubBuffer)(Handle, cl_bitfield, cl_uint type, const void* what, cl_int*);
  cl_int (*ReleaseMemObject)(Handle);
  cl_int (*EnqueueReadBuffer)(Handle, Handle, cl_uint, std::size_t, std::size_t, void*, cl_uint, const Handle*,
                              Handle*);
  cl_int (*EnqueueWriteBuffer)(Handle, Handle, cl_uint, std::size_t, std::size_t, const void*, cl_uint, const Handle*,
                               Handle*);
  cl_int (*EnqueueCopyBuffer)(Handle, Handle, Handle, std::size_t, std::size_t, std::size_t, cl_uint, const Handle*,
                              Handle*);
  void* (*EnqueueMapBuffer)(Handle, Handle, cl_uint blocking, cl_bitfield, std::size_t, std::size_t, cl_uint,
                            const Handle*, Handle*, cl_int*);
  cl_int (*EnqueueMarkerWithWaitList)(Handle, cl_uint, const Handle*, Handle*);
  cl_int (*EnqueueBarrierWithWaitList)(Handle, cl_uint, const Handle*, Handle*);
  cl_int (*WaitForEvents)(cl_uint, const Handle*);
  cl_int (*GetEventInfo)(Handle, cl_uint, std::size_t, void*, std::size_t*);
  cl_int (*GetEventProfilingInfo)(Handle, cl_uint, std::size_t, void*, std::size_t*);
  cl_int (*SetEventCallback)(Handle, cl_int status, void (*)(Handle, cl_int status, void*), void*);
  cl_int (*ReleaseEvent)(Handle);
  Handle (*CreateProgramWithSource)(Handle, cl_uint, const char**, const std::size_t*, cl_int*);
  Handle (*CreateProgramWithBinary)(Handle, cl_uint, const Handle*, const std::size_t*, const unsigned char**, cl_int*,
                                    cl_int*);
  cl_int (*BuildProgram)(Handle, cl_uint, const Handle*, const char*, void*, void*);
  cl_int (*GetProgramInfo)(Handle, cl_uint, std::size_t, void*, std::size_t*);
  cl_int (*GetProgramBuildInfo)(Handle, Handle, cl_uint, std::size_t, void*, std::size_t*);
  cl_int (*ReleaseProgram)(Handle);
  Handle (*CreateKernel)(Handle, const char*, cl_int*);
  cl_int (*GetKernelWorkGroupInfo)(Handle kernel, Handle device, cl_uint, std::size_t, void*, std::size_t*);
  cl_int (*SetKernelArg)(Handle, cl_uint, std::size_t, const void*);
  cl_int (*EnqueueNDRangeKernel)(Handle, Handle, cl_uint, const std::size_t*, const std::size_t*, const std::size_t*,
                                 cl_uint, const Handle*, Handle*);
  cl_int (*Flush)(Handle);
  cl_int (*Finish)(Handle);
};

}  // namespace catenary::gpu::opencl
