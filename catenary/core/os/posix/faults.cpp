#include "catenary/core/os/faults.h"

#include <signal.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "catenary/core/once.h"
#include "catenary/core/os/fibers.h"

namespace catenary::os {

namespace {

constexpr int kFaults[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL};
constexpr int kCount = 4;
struct sigaction previous[kCount];

thread_local const char* now_doing = nullptr;

/// Builds a text in a signal handler, where allocation is not allowed.
class Words {
 public:
  Words& operator<<(const char* text) {
    while (*text && used_ < sizeof buffer_) buffer_[used_++] = *text++;
    return *this;
  }
  Words& operator<<(const void* address) {
    char digits[] = "0x0000000000000000";
    auto rest = reinterpret_cast<std::uintptr_t>(address);
    for (std::size_t k = sizeof digits - 2; k >= 2; --k, rest >>= 4) digits[k] = "0123456789abcdef"[rest & 15];
    return *this << digits;
  }
  void write() const { [[maybe_unused]] const ssize_t told = ::write(2, buffer_, used_); }

 private:
  char buffer_[1024];
  std::size_t used_ = 0;
};

/// Writes the report. `address` is null if the signal does not provide it.
void tell(int number, const void* address) {
  Words words;
  words << "catenary: " << now_doing << ": ";
  if (number == SIGFPE) {
    words << "SIGFPE: it divides an integer by 0";
  } else if (number == SIGILL) {
    words << "SIGILL: it ends itself, or was compiled for another processor";
  } else if (Fibers::is_guard(address)) {
    words << "SIGSEGV: a work-item needs more stack than the 640 KiB that it has: make its own arrays smaller";
  } else {
    words << (number == SIGBUS ? "SIGBUS" : "SIGSEGV");
    if (address) words << " at address " << address;
    words << ": it reads or writes where no array is: compare its indices with the sizes of its arguments";
  }
  (words << "\n").write();
}

void on_fault(int number, siginfo_t* info, void* context) {
  // raised by the CPU, or raised again by a handler that was installed after ours, and not sent by another process
  const bool found = info->si_code > 0, raised = info->si_code == SI_TKILL && info->si_pid == ::getpid();
  if (now_doing && (found || raised)) tell(number, found ? info->si_addr : nullptr);
  now_doing = nullptr;
  int which = 0;
  while (kFaults[which] != number) ++which;
  const struct sigaction& before = previous[which];
  if (before.sa_flags & SA_SIGINFO) return before.sa_sigaction(number, info, context);
  if (before.sa_handler != SIG_DFL && before.sa_handler != SIG_IGN) return before.sa_handler(number);
  ::signal(number, SIG_DFL);
  if (!found) ::raise(number);  // else the instruction faults again, and a core file shows where
}

void install() {
  struct sigaction action {};
  action.sa_sigaction = on_fault;
  action.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER;
  ::sigemptyset(&action.sa_mask);
  for (int i = 0; i < kCount; ++i) ::sigaction(kFaults[i], &action, &previous[i]);
}

/// A stack for the handler, because an overflown stack has no room. A thread that already has one keeps it.
class HandlerStack {
 public:
  HandlerStack() {
    stack_t before{};
    if (::sigaltstack(nullptr, &before) != 0 || !(before.ss_flags & SS_DISABLE)) return;
    void* const memory = ::mmap(nullptr, kBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) return;
    memory_ = memory;
    const stack_t own{memory_, 0, kBytes};
    ::sigaltstack(&own, nullptr);
  }
  HandlerStack(const HandlerStack&) = delete;
  HandlerStack& operator=(const HandlerStack&) = delete;
  ~HandlerStack() {
    if (!memory_) return;
    const stack_t none{nullptr, SS_DISABLE, 0};
    ::sigaltstack(&none, nullptr);
    ::munmap(memory_, kBytes);
  }

 private:
  static constexpr std::size_t kBytes = 65536;
  void* memory_ = nullptr;
};

}  // namespace

FaultScope::FaultScope(const char* doing) {
  static Once installed;
  installed(install);
  static thread_local const HandlerStack stack;
  before_ = now_doing;
  now_doing = doing;
}

FaultScope::~FaultScope() { now_doing = before_; }

}  // namespace catenary::os
