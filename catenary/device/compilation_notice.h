#pragma once
// Private: tells a user who waits that kernels are being compiled. Only where somebody may look: standard error is a
// terminal, or a progress bar was asked for.

#include <string>

#include "catenary/core/export.h"

namespace catenary {

/// The time in which one kernel is compiled. The first one that begins after a second of compilation says so, once in a
/// process.
class CT_API CompilationNotice {
 public:
  explicit CompilationNotice(const std::string& device);
  ~CompilationNotice();
  CompilationNotice(const CompilationNotice&) = delete;
  CompilationNotice& operator=(const CompilationNotice&) = delete;

 private:
  double start_;
};

/// Has notices written where standard error is no terminal, too.
CT_API void announce_compilations();
/// Says how many kernels were compiled in how many seconds, where that has been announced and not been said since, and
/// none has been compiled for `idle` seconds.
CT_API void conclude_compilations(double idle = 0);

}  // namespace catenary
