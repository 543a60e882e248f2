#pragma once
// Properties of a device that are known before anything runs on it.

#include <cstddef>
#include <string>

namespace catenary {

/// A device as its driver describes it.
struct DeviceInfo {
  std::string name;      ///< the manufacturer's name
  std::string platform;  ///< "Portable Computing Language", "NVIDIA CUDA", …
  std::string arch;      ///< target of binaries: "sm_90", "gfx1030", "x86-64-v4", …
  std::string driver;    ///< versions of driver and compiler
  std::string pci;       ///< bus address, which identifies a device that two platforms offer (may be empty)
  std::size_t memory_bytes = 0;
  std::size_t local_bytes = 32768;    ///< shared memory of a thread block
  std::size_t argument_bytes = 1024;  ///< limit for all arguments of one launch
  std::size_t alignment = 256;        ///< of allocations
  int compute_units = 1;
  int group_size = 256;        ///< most work-items of a thread block
  bool is_cpu = false;         ///< the CPU itself, or an OpenCL driver for it
  bool is_integrated = false;  ///< shares the CPU's memory
  bool is_simulated = false;   ///< a simulated device for tests
  bool has_addresses = true;   ///< memory has addresses, unlike OpenCL's buffer objects
  bool has_f64 = true;
  bool has_atomic64 = true;
};

}  // namespace catenary
