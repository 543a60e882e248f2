#pragma once
// Private to the library: users' kernels on the processor. The machine's C++ compiler compiles a text to a library,
// which is cached with the compiled kernels of other devices. Its functions run in parallel on all threads. A crash in
// a kernel prints the kernel's name on standard error.

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "catenary/core/export.h"
#include "catenary/core/os/library.h"
#include "catenary/device/kernel_launcher.h"

namespace catenary::cpu {

/// Returns the reason and the remedy if there is no compiler on this machine, or "" if CXX or one of c++, g++, clang++
/// works.
CT_API std::string no_host_compiler();
/// Compiles a C++ text after kernels/host.kernel and loads the library permanently. Appends `flags` to the common
/// flags. Throws DeviceError with the compiler's output, if there is no compiler, and if it takes longer than
/// CATENARY_COMPILE_TIMEOUT (minutes, default 10).
CT_API os::Library compile_on_host(const std::string& text, const std::string& kernel,
                                   const std::vector<std::string>& flags = {});

/// A kernel of such a library, whose text contains CT_ENTRY(entry, function).
class CT_API HostKernel {
 public:
  static constexpr int kMostItems = 1024;                ///< work-items per group, as on CUDA
  static constexpr std::size_t kLocalBytes = 48 * 1024;  ///< shared memory per group, CUDA's default

  /// Throws DeviceError if there is no such entry.
  HostKernel(const os::Library& library, const std::string& entry, std::string kernel);
  const std::string& name() const { return kernel_; }
  /// Runs groups on all threads. The work-items of a group run one after another or, if the library has barriers, take
  /// turns, each with a stack of 640 KiB (CUDA allows 512). Throws DtypeError for arguments that the kernel does not
  /// take (a number of 8 bytes may stand for a shorter one), and DeviceError for groups that are too large.
  void launch(const LaunchShape& shape, std::span<const KernelArgument> arguments) const;

 private:
  struct Part;
  void check(std::span<const KernelArgument> arguments) const;
  void run(Part& part) const;

  std::string kernel_, fault_name_;
  void (*entry_)(const Part& part);
  const long long* sizes_;
  bool waits_;  // whether the library has barriers
};

}  // namespace catenary::cpu
