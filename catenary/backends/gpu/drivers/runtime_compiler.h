#pragma once
// NVRTC and hipRTC: compilers in a library, with one shape. They need no card.

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
  /// Every NVRTC that is installed, the newest first. Empty, with a sentence in `why`, where there is none.
  static std::vector<std::shared_ptr<RuntimeCompiler>> nvrtc(std::string& why);
  /// The hipRTC that belongs to the HIP runtime, which is of this major version: beside it, or inside. Null, with a
  /// sentence in `why`, where there is none.
  static std::shared_ptr<RuntimeCompiler> hiprtc(const os::Library& runtime, int major, std::string& why);

  bool is_hip() const { return hip_; }
  int major() const { return major_; }
  /// "NVRTC 12.8".
  const std::string& name() const { return name_; }
  /// NVRTC: what it compiles for, as 75 for sm_75; empty where it does not say.
  const std::vector<int>& archs() const { return archs_; }
  /// The best of its archs whose binaries run on a card of compute capability major.minor, as "sm_86"; empty where
  /// there is none.
  std::string arch_for(int major, int minor) const;

  /// A binary for "sm_90" or "gfx1030" (with features, as the driver names it). No contraction, denormal numbers kept,
  /// divisions and roots rounded as IEEE 754 says. Throws DeviceError with the compiler's words.
  Binary compile(const std::string& arch, const std::string& text);
  /// hipRTC: how long the first kernel for an arch may take, in a child.
  void set_trial_seconds(double seconds) { trial_seconds_ = seconds; }
  /// Sees to it that compile() needs no trial for this arch; what was wrong compile() says.
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
  std::mutex mutex_;                          // also keeps a fork apart from a compilation
  std::map<std::string, std::string> tried_;  // archs, and what is wrong with those that would kill the process
};

}  // namespace catenary::gpu
