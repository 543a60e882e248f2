#pragma once
// Private to the library: kernels of users on the processor. The machine's C++ compiler makes a library of a text,
// which is kept with the compiled kernels of other devices; what it has runs in parts on all threads. A fault there
// names the kernel on standard error.

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "catenary/core/export.h"
#include "catenary/core/os/library.h"
#include "catenary/device/kernel_launcher.h"

namespace catenary::cpu {

/// Why nothing can be compiled on this machine, and what to do; empty where CXX, or else c++, g++ or clang++ is there.
CT_API std::string no_host_compiler();
/// What the compiler makes of a C++ text after kernels/host.kernel, loaded for ever; the `flags` come after those that
/// all texts have. Throws DeviceError with the compiler's words, where there is none, and where it takes longer than
/// CATENARY_COMPILE_TIMEOUT (in minutes; 10).
CT_API os::Library compile_on_host(const std::string& text, const std::string& kernel,
                                   const std::vector<std::string>& flags = {});

/// A kernel of such a library, in whose text CT_ENTRY(entry, function) stands.
class CT_API HostKernel {
 public:
  static constexpr int kMostItems = 1024;                ///< of a group, as on CUDA
  static constexpr std::size_t kLocalBytes = 48 * 1024;  ///< of a group's memory, as CUDA gives without asking

  /// Throws DeviceError where there is no such entry.
  HostKernel(const os::Library& library, const std::string& entry, std::string kernel);
  const std::string& name() const { return kernel_; }
  /// Runs groups on all threads. The work-items of a group come one after the other, or take turns where the library
  /// has barriers: with 640 KiB of memory of its own each (CUDA's have up to 512). Throws DtypeError for arguments that
  /// the kernel does not take (a number of 8 bytes may stand for a shorter one), DeviceError for groups that are too
  /// large.
  void launch(const LaunchShape& shape, std::span<const KernelArgument> arguments) const;

 private:
  struct Part;
  void check(std::span<const KernelArgument> arguments) const;
  void run(Part& part) const;

  std::string kernel_, fault_name_;
  void (*entry_)(const Part& part);
  const long long* sizes_;
  bool waits_;  // has the library barriers?
};

}  // namespace catenary::cpu
