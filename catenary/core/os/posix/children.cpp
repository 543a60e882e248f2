#include "catenary/core/os/children.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <fstream>
#include <thread>

#include "catenary/core/format.h"
#include "catenary/core/os/posix/detail.h"
#include "catenary/core/os/posix/guard.h"

namespace catenary::os {

namespace {

using Clock = std::chrono::steady_clock;

constexpr std::size_t kLongestLine = std::size_t{1} << 20;  // longer lines are passed on in pieces
constexpr int kReads = 32;                                  // of a stream at once: 2 MiB, more than a pipe holds

struct Pipe {
  Descriptor read, write;
  Pipe() {
    int ends[2];
    if (::pipe2(ends, O_CLOEXEC) != 0) fail<FileError>("no pipe: {}", std::strerror(errno));
    read = Descriptor(ends[0]);
    write = Descriptor(ends[1]);
  }
};

/// Runs between fork and exec, and so makes only calls that are allowed there. On failure writes errno and exits.
[[noreturn]] void become(char* const* command, char* const* environment, const std::vector<Handle>& handles, int out,
                         int err, int complaint, pid_t parent) {
  ::setpgid(0, 0);
  sigset_t none;
  ::sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
  const int nothing = ::open("/dev/null", O_RDONLY);
  bool fine = ::dup2(nothing, 0) == 0 && ::dup2(out, 1) == 1 && ::dup2(err, 2) == 2;
  for (const Handle handle : handles) fine = fine && ::fcntl(descriptor_of(handle), F_SETFD, 0) == 0;
  if (fine) {
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (::getppid() != parent) ::_exit(1);  // the parent died before the line above
    ::execvpe(command[0], command, environment);
  }
  const int code = errno;
  [[maybe_unused]] const ssize_t told = ::write(complaint, &code, sizeof code);
  ::_exit(127);
}

}  // namespace

struct Children::Child {
  pid_t pid = -1;
  Descriptor handle;  // of the process, for polling, if the kernel supports it
  Descriptor streams[2];
  std::string rest[2];  // of an unfinished line
  bool running = true;
};

Children::Children() { ::prctl(PR_SET_CHILD_SUBREAPER, 1); }

Children::~Children() {
  const auto deadline = Clock::now() + std::chrono::seconds(2);
  if (life_ != Handle::none) ::close(descriptor_of(life_));
  if (guard_ > 0) ::kill(guard_, SIGKILL);
  // groups first, then orphaned descendants that left their group and are our children now
  for (const Child& child : children_) ::kill(-child.pid, SIGKILL);
  while (Clock::now() < deadline) {
    int status = 0;
    const pid_t pid = ::waitpid(-1, &status, WNOHANG);
    if (pid < 0 && errno == ECHILD) return;
    if (pid > 0) continue;
    std::ifstream orphans(fmt::format("/proc/self/task/{}/children", ::getpid()));
    for (pid_t orphan = 0; orphans >> orphan;) ::kill(orphan, SIGKILL);
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
  }
}

int Children::start(const std::vector<std::string>& command,
                    const std::vector<std::pair<std::string, std::string>>& environment,
                    const std::vector<Handle>& handles) {
  if (command.empty()) fail<ValueError>("Children::start: no program is named");
  const std::vector<std::string> variables = merged_environment(environment);
  const std::vector<char*> words = pointers(command), entries = pointers(variables);
  Pipe out, err, complaint;
  const pid_t self = ::getpid();
  const pid_t pid = ::fork();
  if (pid < 0) fail<FileError>("{}: no new process: {}", command[0], std::strerror(errno));
  if (pid == 0)
    become(words.data(), entries.data(), handles, out.write.get(), err.write.get(), complaint.write.get(), self);
  ::setpgid(pid, pid);
  complaint.write.close();
  int code = 0;
  if (::read(complaint.read.get(), &code, sizeof code) == sizeof code) {
    ::waitpid(pid, nullptr, 0);
    fail<FileError>("{}: cannot start the program: {}", command[0], std::strerror(code));
  }
  Child child;
  child.pid = pid;
  child.handle = Descriptor(static_cast<int>(::syscall(SYS_pidfd_open, pid, 0)));
  child.streams[0] = std::move(out.read);
  child.streams[1] = std::move(err.read);
  for (const Descriptor& stream : child.streams) ::fcntl(stream.get(), F_SETFL, O_NONBLOCK);
  children_.push_back(std::move(child));
  return static_cast<int>(children_.size()) - 1;
}

void Children::guard(const std::string& mark) {
  Pipe life;
  std::vector<Guarded> groups;
  for (const Child& child : children_) groups.push_back({child.pid, child.handle ? child.handle.get() : -1});
  guard_ = ::fork();
  if (guard_ == 0) {
    life.write.close();
    os::guard(life.read.get(), groups, mark);
  }
  life_ = to_handle(life.write.release());
}

void Children::read(Child& child, int stream, std::vector<ChildEvent>& events) {
  const int number = static_cast<int>(&child - children_.data());
  const auto kind = stream == 0 ? ChildEvent::Kind::output : ChildEvent::Kind::errors;
  std::string& rest = child.rest[stream];
  char buffer[65536];
  for (int reads = 0; reads < kReads; ++reads) {
    const ssize_t n = ::read(child.streams[stream].get(), buffer, sizeof buffer);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0 && errno == EAGAIN) return;
    if (n <= 0) {
      if (!rest.empty()) events.push_back({.child = number, .kind = kind, .text = rest + '\n'});
      rest.clear();
      return child.streams[stream].close();
    }
    rest.append(buffer, static_cast<std::size_t>(n));
    std::size_t end = rest.rfind('\n') + 1;  // 0 if there is none
    if (end == 0 && rest.size() >= kLongestLine) end = rest.size();
    if (end > 0) events.push_back({.child = number, .kind = kind, .text = rest.substr(0, end)});
    rest.erase(0, end);
  }
}

std::vector<ChildEvent> Children::wait(double seconds) {
  std::vector<pollfd> watched;
  for (const Child& child : children_) {
    if (child.running && child.handle) watched.push_back({child.handle.get(), POLLIN, 0});
    for (const Descriptor& stream : child.streams)
      if (stream) watched.push_back({stream.get(), POLLIN, 0});
  }
  // without a process handle, its end is checked every 20 ms
  const bool handles = std::all_of(children_.begin(), children_.end(), [](const Child& c) { return bool(c.handle); });
  const int limit = static_cast<int>(1000 * seconds);
  ::poll(watched.data(), watched.size(), handles ? limit : std::min(limit, 20));

  std::vector<ChildEvent> events;
  for (Child& child : children_) {
    int status = 0;
    const bool ended = child.running && ::waitpid(child.pid, &status, WNOHANG) == child.pid;
    for (int stream = 0; stream < 2; ++stream)
      if (child.streams[stream]) read(child, stream, events);
    if (!ended) continue;
    child.running = false;
    events.push_back({.child = static_cast<int>(&child - children_.data()),
                      .kind = ChildEvent::Kind::ended,
                      .exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : -1,
                      .signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0});
  }
  return events;
}

void Children::signal(int child, int number) const {
  const Child& to = children_.at(static_cast<std::size_t>(child));
  if (to.running) ::kill(-to.pid, number);
}

int Children::running() const {
  return static_cast<int>(std::count_if(children_.begin(), children_.end(), [](const Child& c) { return c.running; }));
}

Lifeline::Lifeline() {
  int ends[2];
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0)
    fail<FileError>("no pair of sockets: {}", std::strerror(errno));
  ends_[0] = to_handle(ends[0]);
  ends_[1] = to_handle(ends[1]);
}

Lifeline::~Lifeline() {
  cut();
  close_far_end();
}

void Lifeline::close_far_end() {
  if (ends_[1] != Handle::none) ::close(descriptor_of(std::exchange(ends_[1], Handle::none)));
}

void Lifeline::cut() {
  if (ends_[0] != Handle::none) ::close(descriptor_of(std::exchange(ends_[0], Handle::none)));
}

void when_cut(Handle handle, void (*f)()) {
  const int far_end = descriptor_of(handle);
  if (::fcntl(far_end, F_SETFD, FD_CLOEXEC) != 0)
    fail<FileError>("descriptor {} is not the lifeline that it is said to be", far_end);
  sigset_t all, before;
  ::sigfillset(&all);
  ::pthread_sigmask(SIG_SETMASK, &all, &before);  // signals are for the other threads
  std::thread([far_end, f] {
    char byte;
    while (::read(far_end, &byte, 1) < 0 && errno == EINTR) {
    }
    f();
  }).detach();
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

}  // namespace catenary::os
