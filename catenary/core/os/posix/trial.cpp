#include "catenary/core/os/trial.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <mutex>
#include <thread>
#include <vector>

#include "catenary/core/format.h"
#include "catenary/core/os/signals.h"

namespace catenary::os {

namespace {

struct Trials {
  std::mutex mutex;
  std::vector<void (*)()> wanted;
  bool ended = false;
  std::string why;
};
Trials& trials() {
  static auto* const all = new Trials;
  return *all;
}

}  // namespace

bool add_trials(void (*f)()) {
  const std::lock_guard lock(trials().mutex);
  trials().wanted.push_back(f);
  return true;
}

void end_trials(const std::string& why) {
  std::vector<void (*)()> wanted;
  {
    const std::lock_guard lock(trials().mutex);
    wanted.swap(trials().wanted);
  }
  for (void (*const f)() : wanted) f();
  const std::lock_guard lock(trials().mutex);
  if (!trials().ended) trials().why = why;
  trials().ended = true;
}

TrialResult run_trial(const std::function<void()>& f, double timeout) {
  {
    const std::lock_guard lock(trials().mutex);
    if (trials().ended) fail<Error>("run_trial: no copy of this process may be made any more: {}", trials().why);
  }
  std::fflush(nullptr);  // otherwise the child would also write our buffered output
  const pid_t pid = ::fork();
  if (pid < 0) return {};
  if (pid == 0) {
    const int nowhere = ::open("/dev/null", O_WRONLY);
    ::dup2(nowhere, 1);
    ::dup2(nowhere, 2);
    for (const int signal : {SIGABRT, SIGSEGV, SIGBUS, SIGILL, SIGFPE}) ::signal(signal, SIG_DFL);
    try {
      f();
    } catch (...) {
      // an ordinary error, which the caller will see, too
    }
    ::_exit(0);
  }
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::duration<double>(timeout);
  int status = 0;
  while (::waitpid(pid, &status, WNOHANG) == 0) {
    if (std::chrono::steady_clock::now() >= deadline) {
      ::kill(pid, SIGKILL);
      ::waitpid(pid, &status, 0);
      return {.timed_out = true};
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
  }
  return {.crash = WIFSIGNALED(status) ? signal_name(WTERMSIG(status)) : std::string()};
}

}  // namespace catenary::os
