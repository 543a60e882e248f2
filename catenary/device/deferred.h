#pragma once
// Work that has been put off. What defers it is above (array/'s open programs); what waits for a device or changes its
// stream runs it first.

#include <vector>

#include "catenary/core/export.h"

namespace catenary {

/// Operations that are to happen later.
class CT_API DeferredWork {
 public:
  virtual void run(const char* reason) = 0;

 protected:
  ~DeferredWork() = default;
};

/// Runs everything that is pending in the calling thread.
CT_API void evaluate();

/// The process ends: what a thread has put off until its own end does not run any more. Waits for threads that are
/// about it. (A driver that is unloaded meanwhile crashes.)
CT_API void leave_deferred_work();
/// While it lives its thread ends. `may_run` is false where the process ends too.
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

/// What computing keeps for each thread. It is made before the thread defers anything, and so is still there for what
/// is pending when the thread ends.
class ThreadState {
 public:
  /// `make` makes the calling thread's, if it is not there yet.
  explicit ThreadState(void (*make)());
  static void make_all();
};

/// The calling thread's work, for those who defer. What has been there once may be run until the thread ends.
std::vector<DeferredWork*>& deferred_work();

}  // namespace catenary
