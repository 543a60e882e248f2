// The GIL, and threads that request it from an ending interpreter.

#include <unistd.h>

#include <atomic>
#include <chrono>
#include <thread>

#include "core.h"

namespace catenary_python {

namespace {

/// The number of threads inside a Released.
std::atomic<int> at_work{0};

/// Has the interpreter ended?
std::atomic<bool> ended{false};

[[noreturn]] void stay() {
  for (;;) pause();
}

/// Calls f, which takes the GIL. If that would end the thread, the thread waits here for ever instead.
template <class F>
void taking(F&& f) noexcept {
  if (ended) stay();
  try {
    f();
  } catch (...) {  // pthread_exit's unwinding, which must not be stopped in any other way
    stay();
  }
}

/// Is the calling thread inside a Released?
thread_local bool is_at_work = false;

void begin_work() {
  ++at_work;
  is_at_work = true;
}
void end_work() {
  --at_work;
  is_at_work = false;
}

}  // namespace

Released::Released() {
  begin_work();
  state_ = PyEval_SaveThread();
}
Released::~Released() {
  end_work();
  taking([&] { PyEval_RestoreThread(state_); });
}

Held::Held() : from_work_(is_at_work) {
  if (from_work_) end_work();
  taking([&] { state_ = PyGILState_Ensure(); });
}
Held::~Held() {
  if (from_work_) begin_work();
  PyGILState_Release(state_);
}

bool interpreter_has_ended() { return ended; }

void end_interpreter() { ended = true; }

void wait_for_released() {
  while (at_work > 0) std::this_thread::sleep_for(std::chrono::milliseconds(1));
}

}  // namespace catenary_python
