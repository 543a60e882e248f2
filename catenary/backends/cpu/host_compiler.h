#pragma once
// Private to the library: kernels of users on the processor. The machine's C++ compiler makes a library of a text,
// which is kept with the compiled kernels of other devices; what it has runs in parts on all threads.

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
/// What the compiler makes of a C++ text, loaded for ever; the `flags` come after those that all texts have. Throws
/// DeviceError with the compiler's words, and where there is none.
CT_API os::Library compile_on_host(const std::string& text, const std::string& kernel,
                                   const std::vector<std::string>& flags = {});

/// A kernel of such a library: a function `entry(values, part, parts)` that does one of several parts of the work,
/// where values[k] is the address of the argument k. A function `entry_sizes()`, where there is one, tells how many
/// arguments the kernel has, and the bytes of each.
class CT_API HostKernel {
 public:
  /// Behind the kernel's own arguments come `more`, which a launch adds. Throws DeviceError where there is no such
  /// entry.
  HostKernel(const os::Library& library, const std::string& entry, std::string kernel, std::size_t more);
  /// Throws DtypeError for what the kernel does not take. A number of 8 bytes may stand for a shorter one.
  void check(std::span<const std::size_t> sizes) const;
  void run(const void* const* values, std::int64_t parts) const;

 private:
  std::string kernel_;
  std::size_t more_;
  void (*entry_)(const void* const* values, long long part, long long parts);
  const long long* sizes_ = nullptr;
};

}  // namespace catenary::cpu
