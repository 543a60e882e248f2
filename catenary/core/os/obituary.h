#pragma once
// What a process was doing, told by another one when it dies without a word.

#include <memory>
#include <string>

#include "catenary/core/export.h"

namespace catenary::os {

/// While one lives, a small copy of this process waits beside it, and writes the last note to standard error when this
/// process ends by a signal, or by _exit. It belongs to the process group: a signal to the group ends it, too, and
/// nothing is said. No wait for children finds it, and it holds nothing open but standard error. To be made before
/// there are libraries that take no copies of a process, such as MPI.
class CT_API Obituary {
 public:
  /// Where no copy can be made there is just nobody who tells.
  Obituary();
  Obituary(const Obituary&) = delete;
  Obituary& operator=(const Obituary&) = delete;
  ~Obituary();
  /// What is written, up to 500 bytes of it, or nothing. From any thread.
  void note(const std::string& text);
  /// From here on nothing is told any more: this process ends in order, or has said itself why.
  void withdraw();

 private:
  struct Page;
  struct Memory;
  std::unique_ptr<Memory> memory_;
};

}  // namespace catenary::os
