#pragma once
// Private: tells a waiting user that kernels are being compiled. Only if somebody may look: standard error is a
// terminal, or a progress bar was requested.

#include <string>

#include "catenary/core/export.h"

namespace catenary {

/// Measures the compilation of one kernel. The first one that begins after a second of compilation prints a notice,
/// once per process.
class CT_API CompilationNotice {
 public:
  explicit CompilationNotice(const std::string& device);
  ~CompilationNotice();
  CompilationNotice(const CompilationNotice&) = delete;
  CompilationNotice& operator=(const CompilationNotice&) = delete;

 private:
  double start_;
};

/// Enables notices even if standard error is not a terminal.
CT_API void announce_compilations();
/// Prints the number of compiled kernels and the seconds, if the beginning was announced, the end was not, and no
/// kernel has been compiled for `idle` seconds.
CT_API void conclude_compilations(double idle = 0);

}  // namespace catenary
