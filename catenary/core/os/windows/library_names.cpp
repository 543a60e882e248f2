#include "catenary/core/os/windows/library_names.h"

#include "catenary/core/format.h"
#include "catenary/core/os/library.h"

namespace catenary::os {

namespace {

/// The file of a library; # stands for the version, and @ for its digits: 120 for 12.
struct Known {
  std::string_view name, file;
};
constexpr Known kKnown[] = {
    {"OpenCL", "OpenCL.dll"},    {"cuda", "nvcuda.dll"},         {"nvrtc", "nvrtc64_@_0.dll"},
    {"nvidia-ml", "nvml.dll"},   {"amdhip64", "amdhip64_#.dll"}, {"hiprtc", "hiprtc0#00.dll"},
    {"nccl", "nccl.dll"},        {"clblast", "clblast.dll"},     {"openblas", "libopenblas.dll"},
    {"lapack", "liblapack.dll"},
};

}  // namespace

std::string library_file(std::string_view name, std::string_view version) {
  for (const Known& known : kKnown) {
    if (known.name != name) continue;
    std::string digits(version);
    const std::size_t point = digits.find('.');
    digits = point == std::string::npos ? digits + "0" : digits.erase(point, 1);
    std::string file(known.file);
    if (const std::size_t at = file.find('#'); at != std::string::npos) file.replace(at, 1, version);
    if (const std::size_t at = file.find('@'); at != std::string::npos) file.replace(at, 1, digits);
    return file;
  }
  return fmt::format("{}64_{}.dll", name, version);
}

std::string plugin_file(std::string_view name) { return fmt::format("catenary_{}.dll", name); }

std::string library_refusal(const std::string& name) {
  const std::string file = name.substr(name.find_last_of("/\\") + 1);
  const auto begins = [&](std::string_view with) { return file.starts_with(with); };
  if (begins("nvcuda") || begins("nvrtc"))
    return "this build for Windows does not use CUDA yet: choose the same card by OpenCL (opencl:0)";
  if (begins("amdhip64") || begins("hiprtc"))
    return "this build for Windows does not use HIP yet: choose the same card by OpenCL (opencl:0)";
  return {};
}

}  // namespace catenary::os
