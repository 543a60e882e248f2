#pragma once
// What is known of a device before anything runs on it.

#include <cstddef>
#include <string>

namespace catenary {

/// A device as its driver describes it.
struct DeviceInfo {
  std::string name;      ///< as its maker calls it
  std::string platform;  ///< "Portable Computing Language", "NVIDIA CUDA", …
  std::string arch;      ///< what binaries are made for: "sm_90", "gfx1030", "x86-64-v4", …
  std::string driver;    ///< versions of driver and compiler
  std::string pci;       ///< bus address, so that a device that two platforms offer is known as one; may be empty
  std::size_t memory_bytes = 0;
  std::size_t local_bytes = 32768;    ///< that a group of work-items shares
  std::size_t argument_bytes = 1024;  ///< what all arguments of one launch may take
  std::size_t alignment = 256;        ///< of allocations
  int compute_units = 1;
  int group_size = 256;        ///< the most work-items of a group
  bool is_cpu = false;         ///< the processor itself, or an OpenCL driver for it
  bool is_integrated = false;  ///< shares the processor's memory
  bool is_simulated = false;   ///< a stand-in made for tests
  bool has_addresses = true;   ///< memory is known by addresses, and not by objects as OpenCL's
  bool has_f64 = true;
  bool has_atomic64 = true;
};

}  // namespace catenary
