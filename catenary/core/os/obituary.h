#pragma once
// Reports the last activity of a process that dies without a message, through another process.

#include <memory>
#include <string>

#include "catenary/core/export.h"

namespace catenary::os {

/// Starts a small copy of this process that waits, and writes the last note to standard error if this process ends by a
/// signal or by _exit. The copy belongs to the process group, so a signal to the group ends it, too, and nothing is
/// reported. No wait for children finds it. It keeps only standard error open. Make it before loading libraries that
/// forbid copies of the process, such as MPI.
class CT_API Obituary {
 public:
  /// If no copy can be made, nothing will be reported.
  Obituary();
  Obituary(const Obituary&) = delete;
  Obituary& operator=(const Obituary&) = delete;
  ~Obituary();
  /// Sets the text of the report, up to 500 bytes; empty for none. May be called from any thread.
  void note(const std::string& text);
  /// Disables the report: the process ends normally, or has reported the reason itself.
  void withdraw();

 private:
  struct Page;
  struct Memory;
  std::unique_ptr<Memory> memory_;
};

}  // namespace catenary::os
