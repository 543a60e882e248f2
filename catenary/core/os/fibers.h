#pragma once
// Private to the library: functions that take turns on one thread, each on a stack of its own.

#include <cstddef>
#include <memory>
#include <vector>

#include "catenary/core/export.h"

namespace catenary::os {

/// As many functions as run at a time. A stack has 640 KiB, of which memory is taken as it is used, and pages below it
/// that fault when they are touched. A thread keeps its stacks for the next Fibers.
class CT_API Fibers {
 public:
  /// Throws DeviceError where there are no addresses for the stacks.
  explicit Fibers(int count);
  Fibers(const Fibers&) = delete;
  Fibers& operator=(const Fibers&) = delete;
  ~Fibers();

  /// Calls f(0), f(1), …, which throw nothing. One that waits goes on, in this order, once each of the others has
  /// waited as often or has returned. Ends when all have returned.
  template <class F>
  void run(const F& f) {
    run([](const void* of, int k) { (*static_cast<const F*>(of))(k); }, &f);
  }
  /// Is this an address in the pages below a stack of the Fibers that run on this thread? To be called by handlers of
  /// signals, too.
  static bool is_guard(const void* address);
  /// Called by one of them: it is the next one's turn.
  void wait();

 private:
  void run(void (*call)(const void* f, int k), const void* f);
  static void begin();

  class Stacks;
  std::unique_ptr<Stacks> stacks_;
  std::vector<void*> places_;  // where each one's stack ends while another one has its turn
  std::vector<char> done_;
  void* runner_ = nullptr;  // the same of who called run
  std::size_t current_ = 0;
  void (*call_)(const void* f, int k) = nullptr;
  const void* f_ = nullptr;
};

}  // namespace catenary::os
