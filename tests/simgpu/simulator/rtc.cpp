// A stand-in for libnvrtc, and with SIM_HIP for libhiprtc: equal functions under two names. As in reality, NVRTC
// refuses an architecture that it does not list, and hipRTC aborts the process. SIM_OLD makes it NVRTC before CUDA
// 11.2, which cannot list its architectures.

#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include "tests/simgpu/simulator/device.h"

#ifdef SIM_HIP
#  define RTC(name) hiprtc##name
#  define CODE_SIZE hiprtcGetCodeSize
#  define CODE hiprtcGetCode
#else
#  define RTC(name) nvrtc##name
#  define CODE_SIZE nvrtcGetCUBINSize
#  define CODE nvrtcGetCUBIN
#endif
#define EXPORT extern "C" __attribute__((visibility("default")))

namespace {

struct Program {
  std::string text, log;
  std::vector<char> binary;
};

constexpr int kCompilation = 6, kInvalidOption = 5;
const std::vector<std::string> known = {
#ifdef SIM_HIP
    "--offload-arch=gfx803", "--offload-arch=gfx900",  "--offload-arch=gfx906",
    "--offload-arch=gfx90a", "--offload-arch=gfx1030", "--offload-arch=gfx1032",
#else
    "--gpu-architecture=sm_75", "--gpu-architecture=sm_80",  "--gpu-architecture=sm_86",
    "--gpu-architecture=sm_90", "--gpu-architecture=sm_100", "--gpu-architecture=sm_120",
#endif
};

}  // namespace

EXPORT int RTC(Version)(int* major, int* minor) {
#ifdef SIM_HIP
  *major = 9;
#else
  *major = 13;
#endif
  *minor = 0;
  return 0;
}
EXPORT const char* RTC(GetErrorString)(int code) { return code == kCompilation ? "SIM_COMPILATION" : "SIM_ERROR"; }
EXPORT int RTC(CreateProgram)(void** program, const char* text, const char*, int, const char* const*,
                              const char* const*) {
  *program = new Program{text, "", {}};
  return 0;
}
EXPORT int RTC(DestroyProgram)(void** program) {
  delete static_cast<Program*>(*program);
  *program = nullptr;
  return 0;
}
EXPORT int RTC(CompileProgram)(void* program, int count, const char* const* options) {
  if (simgpu::fault("hang")) sleep(3);
  const std::string arch = count ? std::string(options[0]).substr(0, std::string(options[0]).find(':')) : "";
  if (std::find(known.begin(), known.end(), arch) == known.end()) {
#ifdef SIM_HIP
    std::abort();
#else
    return kInvalidOption;
#endif
  }
  auto& p = *static_cast<Program*>(program);
  return simgpu::compile(p.text, p.binary, p.log) ? 0 : kCompilation;
}
EXPORT int RTC(GetProgramLogSize)(void* program, std::size_t* size) {
  *size = static_cast<Program*>(program)->log.size() + 1;
  return 0;
}
EXPORT int RTC(GetProgramLog)(void* program, char* log) {
  std::strcpy(log, static_cast<Program*>(program)->log.c_str());
  return 0;
}
EXPORT int CODE_SIZE(void* program, std::size_t* size) {
  *size = static_cast<Program*>(program)->binary.size();
  return 0;
}
EXPORT int CODE(void* program, char* code) {
  const auto& binary = static_cast<Program*>(program)->binary;
  std::copy(binary.begin(), binary.end(), code);
  return 0;
}
#if !defined(SIM_HIP) && !defined(SIM_OLD)
EXPORT int nvrtcGetNumSupportedArchs(int* count) {
  *count = static_cast<int>(known.size());
  return 0;
}
EXPORT int nvrtcGetSupportedArchs(int* archs) {
  for (const std::string& option : known) *archs++ = std::atoi(option.c_str() + option.find('_') + 1);
  return 0;
}
#endif
