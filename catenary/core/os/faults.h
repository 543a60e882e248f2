#pragma once
// Private to the library: a word about what a thread was doing when it touches memory that is not there.

#include "catenary/core/export.h"

namespace catenary::os {

/// While one lives, a SIGSEGV, SIGBUS, SIGFPE or SIGILL of this thread is first told on standard error, with `doing` at
/// the beginning of the sentence, and then left to the handler that was there before, such as that of Python's
/// faulthandler. The text must outlive the object. Scopes may be nested; the innermost counts.
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
