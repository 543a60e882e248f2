#pragma once
// Private to the library: functions that take turns on one thread, each with a separate stack.

#include <cstddef>
#include <memory>
#include <vector>

#include "catenary/core/export.h"

namespace catenary::os {

/// The fibers of one run. A stack has 640 KiB, which take memory only as they are used. Guard pages below it fault when
/// touched. A thread keeps its stacks for the next Fibers.
class CT_API Fibers {
 public:
  /// Throws DeviceError if there is no address space for the stacks.
  explicit Fibers(int count);
  Fibers(const Fibers&) = delete;
  Fibers& operator=(const Fibers&) = delete;
  ~Fibers();

  /// Calls f(0), f(1), …, which must not throw. A call of f that waits continues, in this order, when each of the
  /// others has waited as often or has returned. Ends when all have returned.
  template <class F>
  void run(const F& f) {
    run([](const void* of, int k) { (*static_cast<const F*>(of))(k); }, &f);
  }
  /// Returns whether an address is in a guard page of this thread's running Fibers. Signal handlers may call it.
  static bool is_guard(const void* address);
  /// Passes control to the next fiber. Only for fibers.
  void wait();

 private:
  void run(void (*call)(const void* f, int k), const void* f);
  static void begin();

  class Stacks;
  std::unique_ptr<Stacks> stacks_;
  std::vector<void*> places_;  // the saved stack pointer of each fiber that is not running
  std::vector<char> done_;
  void* runner_ = nullptr;  // the saved stack pointer of the caller of run
  std::size_t current_ = 0;
  void (*call_)(const void* f, int k) = nullptr;
  const void* f_ = nullptr;
};

}  // namespace catenary::os
