#pragma once
// NVRTC and hipRTC: compilers as libraries with a common interface. They need no card.

#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "catenary/backends/gpu/driver.h"
#include "catenary/core/export.h"
#include "catenary/core/os/library.h"

namespace catenary::gpu {

class CT_API RuntimeCompiler {
 public:
  /// Returns every installed NVRTC, newest first. If there is none, returns an empty list and a sentence in `why`.
  static std::vector<std::shared_ptr<RuntimeCompiler>> nvrtc(std::string& why);
  /// Returns the hipRTC of the HIP runtime, which has this major version: in the runtime's folder, or inside the
  /// runtime. Returns null, with a sentence in `why`, if there is none.
  static std::shared_ptr<RuntimeCompiler> hiprtc(const os::Library& runtime, int major, std::string& why);

  bool is_hip() const { return hip_; }
  int major() const { return major_; }
  /// Returns the name, such as "NVRTC 12.8".
  const std::string& name() const { return name_; }
  /// Returns the architectures that NVRTC compiles for, such as 75 for sm_75; empty if NVRTC does not report them.
  const std::vector<int>& archs() const { return archs_; }
  /// Returns the best of these architectures for a card of compute capability major.minor, as "sm_86", or "".
  std::string arch_for(int major, int minor) const;

  /// Returns a binary for "sm_90" or "gfx1030" (with features, as the driver names it). Compiles without contraction,
  /// with subnormal numbers, and with IEEE 754 rounding of divisions and roots. Throws DeviceError with the compiler's
  /// output.
  Binary compile(const std::string& arch, const std::string& text);
  /// hipRTC: sets the time limit of the first compilation for an architecture, which runs in a child process.
  void set_trial_seconds(double seconds) { trial_seconds_ = seconds; }
  /// Runs the trial for this architecture now, so that compile() does not need it. compile() reports errors.
  void try_ahead(const std::string& arch);

 private:
  struct Api;
  RuntimeCompiler(const os::Library& library, bool hip);
  void check(int code, const char* function, const std::string& words = {}) const;
  Binary compile_here(const std::string& arch, const std::string& text) const;
  const std::string& trial_of(const std::string& arch);

  const bool hip_;
  std::shared_ptr<const Api> api_;
  int major_ = 0;
  std::string name_;
  std::vector<int> archs_;
  double trial_seconds_ = 60;
  std::mutex mutex_;                          // also prevents a fork during a compilation
  std::map<std::string, std::string> tried_;  // architectures, with the problem of those that would crash the process
};

}  // namespace catenary::gpu
