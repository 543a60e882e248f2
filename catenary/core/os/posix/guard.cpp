#include "catenary/core/os/posix/guard.h"

#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <fstream>
#include <iterator>
#include <thread>
#include <vector>

#include "catenary/core/os/file.h"

namespace catenary::os {

namespace {

/// Closes all other descriptors, for whose end others may wait.
void close_all_but(int life, std::span<const Guarded> groups) {
  for (const std::string& name : list_directory("/proc/self/fd")) {
    int descriptor = -1;
    std::from_chars(name.data(), name.data() + name.size(), descriptor);
    const bool kept = descriptor == life || std::any_of(groups.begin(), groups.end(),
                                                        [&](const Guarded& g) { return g.leader == descriptor; });
    if (!kept) ::close(descriptor);
  }
}

/// Waits until the guarded process is dead. Returns the groups whose first process was still there.
std::vector<pid_t> wait_for_the_end(int life, std::span<const Guarded> groups) {
  std::vector<pollfd> watched{{life, POLLIN, 0}};
  for (const Guarded& group : groups) watched.push_back({group.leader, POLLIN, 0});
  // the pipe closes before processes that die with the guarded one get their signal
  while (watched[0].revents == 0) {
    for (pollfd& one : watched)
      if (one.revents != 0) one.fd = -1;
    if (::poll(watched.data(), watched.size(), -1) < 0) watched[0].revents = 0;
  }
  std::vector<pid_t> left;
  for (std::size_t i = 0; i < groups.size(); ++i)
    if (watched[i + 1].fd >= 0 || groups[i].leader < 0) left.push_back(groups[i].group);
  return left;
}

/// Kills every process with the mark in its environment. Returns their number.
int kill_marked(const std::string& mark) {
  int found = 0;
  for (const std::string& name : list_directory("/proc")) {
    pid_t process = 0;
    const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), process);
    if (error != std::errc() || end != name.data() + name.size() || process == ::getpid()) continue;
    std::ifstream file("/proc/" + name + "/environ", std::ios::binary);
    const std::string environment((std::istreambuf_iterator<char>(file)), {});
    if (environment.find(mark) != std::string::npos && ::kill(process, SIGKILL) == 0) ++found;
  }
  return found;
}

}  // namespace

void guard(int life, std::span<const Guarded> groups, const std::string& mark) {
  try {
    ::setsid();  // a signal to the group of the guarded process does not end this one
    sigset_t all;
    ::sigfillset(&all);
    ::sigprocmask(SIG_SETMASK, &all, nullptr);
    ::prctl(PR_SET_NAME, "guard");
    close_all_but(life, groups);
    for (const pid_t group : wait_for_the_end(life, groups)) ::kill(-group, SIGKILL);
    // repeats, because a process that is just starting may be missed
    for (int clean = 0, tries = 0; clean < 2 && tries < 100; ++tries) {
      clean = kill_marked(mark) == 0 ? clean + 1 : 0;
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
  } catch (const std::exception&) {
    // there is nobody to report to
  }
  ::_exit(0);
}

}  // namespace catenary::os
