#include "catenary/core/os/process.h"

#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <thread>

#include "catenary/core/format.h"
#include "catenary/core/os/posix/detail.h"

extern char** environ;

namespace catenary::os {

namespace {

using Clock = std::chrono::steady_clock;

/// The two ends of a pipe, closed by the destructor.
struct Pipe {
  int ends[2] = {-1, -1};
  Pipe() {
    if (::pipe2(ends, O_CLOEXEC) != 0) fail<FileError>("run_process: no pipe: {}", std::strerror(errno));
  }
  Pipe(const Pipe&) = delete;
  Pipe& operator=(const Pipe&) = delete;
  ~Pipe() {
    close(0);
    close(1);
  }
  void close(int i) {
    if (ends[i] >= 0) ::close(std::exchange(ends[i], -1));
  }
};

/// Reads the available data. Returns false at the end of the stream.
bool drain(int fd, std::string& to, std::size_t most) {
  char buffer[65536];
  const ssize_t n = ::read(fd, buffer, sizeof buffer);
  if (n < 0) return errno == EINTR || errno == EAGAIN;
  to.append(buffer, std::min(static_cast<std::size_t>(n), most - std::min(most, to.size())));
  return n > 0;
}

pid_t spawn(const std::vector<std::string>& command, const ProcessOptions& options, const Pipe& out, const Pipe& err) {
  const Descriptor input =
      options.input.empty() ? Descriptor() : memory_file("catenary-input", std::as_bytes(std::span(options.input)));
  posix_spawn_file_actions_t actions;
  posix_spawnattr_t attributes;
  ::posix_spawn_file_actions_init(&actions);
  ::posix_spawnattr_init(&attributes);
  if (input) {
    ::posix_spawn_file_actions_adddup2(&actions, input.get(), 0);
  } else {
    ::posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
  }
  ::posix_spawn_file_actions_adddup2(&actions, out.ends[1], 1);
  ::posix_spawn_file_actions_adddup2(&actions, err.ends[1], 2);
  // a separate group, so that the time limit kills its children, too
  ::posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK);
  ::posix_spawnattr_setpgroup(&attributes, 0);
  sigset_t none;
  ::sigemptyset(&none);
  ::posix_spawnattr_setsigmask(&attributes, &none);
  const std::vector<std::string> environment = merged_environment(options.environment);
  pid_t pid = -1;
  const int code = ::posix_spawnp(&pid, command[0].c_str(), &actions, &attributes, pointers(command).data(),
                                  pointers(environment).data());
  ::posix_spawn_file_actions_destroy(&actions);
  ::posix_spawnattr_destroy(&attributes);
  if (code != 0) fail<FileError>("{}: cannot start the program: {}", command[0], std::strerror(code));
  return pid;
}

}  // namespace

std::vector<std::string> merged_environment(const std::vector<std::pair<std::string, std::string>>& changes) {
  std::vector<std::string> result;
  for (char** e = environ; *e; ++e) {
    const std::string_view entry = *e;
    const bool changed = std::any_of(changes.begin(), changes.end(), [&](const auto& c) {
      return entry.size() > c.first.size() && entry[c.first.size()] == '=' &&
             entry.substr(0, c.first.size()) == c.first;
    });
    if (!changed) result.emplace_back(entry);
  }
  for (const auto& [name, value] : changes) result.push_back(name + "=" + value);
  return result;
}

std::vector<char*> pointers(const std::vector<std::string>& strings) {
  std::vector<char*> result;
  for (const std::string& s : strings) result.push_back(const_cast<char*>(s.c_str()));
  result.push_back(nullptr);
  return result;
}

ProcessResult run_process(const std::vector<std::string>& command, const ProcessOptions& options) {
  if (command.empty()) fail<ValueError>("run_process: no program is named");
  Pipe out, err;
  const pid_t pid = spawn(command, options, out, err);
  out.close(1);
  err.close(1);
  for (const int fd : {out.ends[0], err.ends[0]}) ::fcntl(fd, F_SETFL, O_NONBLOCK);

  ProcessResult result;
  const auto deadline =
      Clock::now() + std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(options.timeout));
  int status = 0;
  bool ended = false;
  while (!ended) {
    if (options.timeout > 0 && !result.timed_out && Clock::now() >= deadline) {
      result.timed_out = true;
      ::kill(-pid, SIGKILL);
    }
    // the child may close its streams and continue, or end while its children keep them: check both often
    pollfd fds[2] = {{out.ends[0], POLLIN, 0}, {err.ends[0], POLLIN, 0}};
    if (::poll(fds, 2, 5) > 0) {
      if (fds[0].revents && !drain(out.ends[0], result.output, options.max_output)) out.close(0);
      if (fds[1].revents && !drain(err.ends[0], result.errors, options.max_output)) err.close(0);
    }
    ended = ::waitpid(pid, &status, WNOHANG) == pid;
  }
  for (Pipe* pipe : {&out, &err}) {
    std::string& text = pipe == &out ? result.output : result.errors;
    for (pollfd fd{pipe->ends[0], POLLIN, 0}; fd.fd >= 0 && ::poll(&fd, 1, 0) > 0;)
      if (!drain(fd.fd, text, options.max_output)) break;
  }
  result.exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  result.signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
  return result;
}

std::vector<std::string> environment_entries() { return merged_environment({}); }

void set_environment_default(const std::string& name, const std::string& value) {
  ::setenv(name.c_str(), value.c_str(), 0);
}

int process_id() { return ::getpid(); }

int usable_processors() {
  // A fixed cpu_set_t holds 1024 cores, and the call fails on larger machines.
  cpu_set_t set;
  if (::sched_getaffinity(0, sizeof set, &set) == 0) return std::max(1, CPU_COUNT(&set));
  return std::max(1u, std::thread::hardware_concurrency());
}

int online_processors() { return std::max(1, static_cast<int>(::sysconf(_SC_NPROCESSORS_ONLN))); }

std::string host_name() {
  char name[256] = {};
  return ::gethostname(name, sizeof name - 1) == 0 ? name : "localhost";
}

std::string boot_number() {
  std::ifstream file("/proc/sys/kernel/random/boot_id");
  std::string number;
  std::getline(file, number);
  return number;
}

int fork_count() {
  static std::atomic<int> count{0};
  static const int registered = pthread_atfork(nullptr, nullptr, [] { count.fetch_add(1, std::memory_order_relaxed); });
  (void)registered;
  return count.load(std::memory_order_relaxed);
}

void at_exit(void (*f)(int status)) {
  ::on_exit([](int status, void* function) { reinterpret_cast<void (*)(int)>(function)(status); },
            reinterpret_cast<void*>(f));
}

void end_process(int status) {
  std::fflush(nullptr);
  ::_exit(status);
}

std::string program_path() {
  std::error_code code;
  return std::filesystem::read_symlink("/proc/self/exe", code).string();
}

}  // namespace catenary::os
