#pragma once
// Deferred work. The layer above defers it (array/'s open programs). Functions that wait for a device or change its
// stream run it first.

#include <vector>

#include "catenary/core/export.h"

namespace catenary {

/// Operations that will run later.
class CT_API DeferredWork {
 public:
  virtual void run(const char* reason) = 0;

 protected:
  ~DeferredWork() = default;
};

/// Runs everything that is pending in the calling thread.
CT_API void evaluate();

/// Announces the end of the process: work that a thread deferred until its end does not run any more. Waits for threads
/// that are running such work, because unloading a driver meanwhile would crash.
CT_API void leave_deferred_work();
/// Marks the end of a thread while it exists. `may_run` is false if the process is ending, too.
class CT_API EndOfThread {
 public:
  EndOfThread();
  ~EndOfThread();
  EndOfThread(const EndOfThread&) = delete;
  EndOfThread& operator=(const EndOfThread&) = delete;
  bool may_run() const { return may_run_; }

 private:
  bool may_run_;
};

/// Per-thread state of computations. It is made before the thread defers anything, so that it still exists for pending
/// work when the thread ends.
class ThreadState {
 public:
  /// Registers `make`, which makes the calling thread's state if it does not exist yet.
  explicit ThreadState(void (*make)());
  static void make_all();
};

/// Returns the calling thread's list of deferred work. Entries may run until the thread ends.
std::vector<DeferredWork*>& deferred_work();

}  // namespace catenary
