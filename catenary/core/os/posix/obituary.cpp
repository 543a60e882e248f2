#include "catenary/core/os/obituary.h"

#include <poll.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <mutex>

#include "catenary/core/os/posix/detail.h"

namespace catenary::os {

/// Shared by both processes. There are two notes, one of which is complete at any time.
struct Obituary::Page {
  static constexpr std::size_t capacity = 512;
  std::atomic<bool> withdrawn;
  std::atomic<int> which;
  char notes[2][capacity];
};

struct Obituary::Memory {
  Page* page = nullptr;
  pid_t owner = -1, copy = -1;
  std::mutex one_writer;
};

namespace {

/// Runs in the copy, and so makes only calls that are allowed in a child of a multithreaded process. Returns when the
/// process is gone.
void wait_for_the_end(pid_t process, int handle) {
  for (const int number : {SIGINT, SIGTERM, SIGHUP, SIGABRT, SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGPIPE})
    ::signal(number, SIG_DFL);
  sigset_t none;
  ::sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
  ::prctl(PR_SET_NAME, "obituary");
  // closes descriptors for whose end others may wait
  constexpr int kKept = 3;
  if (handle >= 0) handle = ::dup2(handle, kKept);
  ::close(0);
  ::close(1);
  if (::syscall(SYS_close_range, kKept + 1, ~0U, 0) != 0)
    for (int descriptor = kKept + 1; descriptor < 4096; ++descriptor) ::close(descriptor);
  if (handle >= 0) {
    pollfd ends{handle, POLLIN, 0};
    while (::poll(&ends, 1, -1) < 0 && errno == EINTR) {
    }
    return;
  }
  while (::kill(process, 0) == 0) ::usleep(20000);  // a kernel without process handles
}

}  // namespace

Obituary::Obituary() : memory_(std::make_unique<Memory>()) {
  void* const page = ::mmap(nullptr, sizeof(Page), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (page == MAP_FAILED) return;
  memory_->page = new (page) Page{};
  const pid_t self = ::getpid();
  const Descriptor handle(static_cast<int>(::syscall(SYS_pidfd_open, self, 0)));
  // A fork without a signal at its end, so that waiting for any child does not return this process.
  const auto copy = static_cast<pid_t>(::syscall(SYS_clone, 0UL, nullptr, nullptr, nullptr, nullptr));
  if (copy == 0) {
    wait_for_the_end(self, handle.get());
    const Page& read = *memory_->page;
    if (!read.withdrawn) {
      const char* const note = read.notes[read.which];
      [[maybe_unused]] const ssize_t told = ::write(2, note, ::strnlen(note, Page::capacity));
    }
    ::_exit(0);
  }
  memory_->owner = self;
  memory_->copy = copy;
}

Obituary::~Obituary() {
  withdraw();
  if (memory_->page) ::munmap(memory_->page, sizeof(Page));
}

void Obituary::note(const std::string& text) {
  if (!memory_->page) return;
  const std::lock_guard lock(memory_->one_writer);
  Page& page = *memory_->page;
  const int other = 1 - page.which;
  char* const to = page.notes[other];
  const std::size_t n = std::min(text.size(), Page::capacity - 2);
  std::memcpy(to, text.data(), n);
  to[n] = text.empty() ? '\0' : '\n';
  to[n + 1] = '\0';
  page.which = other;
}

void Obituary::withdraw() {
  const std::lock_guard lock(memory_->one_writer);
  if (memory_->copy <= 0 || ::getpid() != memory_->owner) return;  // not for a forked child
  memory_->page->withdrawn = true;
  ::kill(memory_->copy, SIGKILL);
  while (::waitpid(memory_->copy, nullptr, __WCLONE) < 0 && errno == EINTR) {
  }
  memory_->copy = -1;
}

}  // namespace catenary::os
