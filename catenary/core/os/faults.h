#pragma once
// Private to the library: reports the current activity of a thread when it accesses invalid memory.

#include "catenary/core/export.h"

namespace catenary::os {

/// Reports a SIGSEGV, SIGBUS, SIGFPE or SIGILL of this thread on standard error while it exists. The message begins
/// with `doing`, which must outlive this object. The previous handler, such as that of Python's faulthandler, runs
/// afterwards. Scopes may be nested, and the innermost counts.
class CT_API FaultScope {
 public:
  explicit FaultScope(const char* doing);
  FaultScope(const FaultScope&) = delete;
  FaultScope& operator=(const FaultScope&) = delete;
  ~FaultScope();

 private:
  const char* before_;
};

}  // namespace catenary::os
