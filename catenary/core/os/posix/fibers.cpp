#include "catenary/core/os/fibers.h"

#include <sys/mman.h>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>

#include "catenary/core/error.h"
#include "catenary/core/format.h"

#if defined(__x86_64__) && defined(__ELF__)
// Switches stacks: saves the registers that a call must preserve, and continues the other fiber. swapcontext takes ten
// times as long, because it makes a system call for the signal mask.
asm(R"(
.text
.local catenary_switch
.type catenary_switch, @function
catenary_switch:
  pushq %rbp
  pushq %rbx
  pushq %r12
  pushq %r13
  pushq %r14
  pushq %r15
  movq %rsp, (%rdi)
  movq %rsi, %rsp
  popq %r15
  popq %r14
  popq %r13
  popq %r12
  popq %rbx
  popq %rbp
  ret
.size catenary_switch, . - catenary_switch
)");
extern "C" void catenary_switch(void** from, void* to);
#else
#  define CT_SYSTEM_SWITCHES
#  include <ucontext.h>

static void catenary_switch(void** from, void* to) {
  ::swapcontext(static_cast<ucontext_t*>(*from), static_cast<ucontext_t*>(to));
}
#endif

namespace catenary::os {

namespace {

constexpr std::size_t kStack = std::size_t{640} << 10;
// The guard below each stack. It is so wide that the frame of a function cannot step over it.
constexpr std::size_t kGuard = std::size_t{128} << 10;
constexpr std::size_t kPitch = kGuard + kStack;
// Each guard costs the process two of the 65,530 memory mappings that Linux allows by default.
constexpr int kMostGuards = 12288;
std::atomic<int> guards{0};

thread_local Fibers* running;

}  // namespace

/// Memory for stacks that grow down, each with a guard below it while the limit allows guards.
class Fibers::Stacks {
 public:
  explicit Stacks(std::size_t count) : count_(count) {
    memory_ = static_cast<char*>(
        ::mmap(nullptr, count * kPitch, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0));
    if (memory_ == MAP_FAILED) fail<DeviceError>("no address space for {} stacks of {} bytes each", count, kPitch);
    const int wanted = static_cast<int>(count);
    if (guards.fetch_add(wanted) + wanted > kMostGuards) {
      guards -= wanted;
      return;
    }
    guarded_ = true;
    for (std::size_t k = 0; k < count; ++k) ::mprotect(memory_ + k * kPitch, kGuard, PROT_NONE);
  }
  Stacks(const Stacks&) = delete;
  Stacks& operator=(const Stacks&) = delete;
  ~Stacks() {
    ::munmap(memory_, count_ * kPitch);
    if (guarded_) guards -= static_cast<int>(count_);
  }
  std::size_t count() const { return count_; }
  /// Returns the lowest address of a stack.
  char* stack(std::size_t k) const { return memory_ + k * kPitch + kGuard; }
  bool is_guard(const void* address) const {
    const auto at = reinterpret_cast<std::uintptr_t>(address), begin = reinterpret_cast<std::uintptr_t>(memory_);
    return guarded_ && at >= begin && at < begin + count_ * kPitch && (at - begin) % kPitch < kGuard;
  }
  /// Allows the system to reclaim the memory when it needs it.
  void release() const { ::madvise(memory_, count_ * kPitch, MADV_FREE); }
  /// Returns the stacks of the thread's last Fibers if they suffice, or new memory.
  static std::unique_ptr<Stacks> take(std::size_t count) {
    std::unique_ptr<Stacks>& kept = kept_by_thread();
    if (kept && kept->count() >= count) return std::move(kept);
    kept.reset();
    return std::make_unique<Stacks>(count);
  }
  static std::unique_ptr<Stacks>& kept_by_thread() {
    static thread_local std::unique_ptr<Stacks> kept;
    return kept;
  }

 private:
  std::size_t count_;
  char* memory_ = nullptr;
  bool guarded_ = false;
};

Fibers::Fibers(int count)
    : stacks_(Stacks::take(static_cast<std::size_t>(count))),
      places_(static_cast<std::size_t>(count)),
      done_(places_.size(), true) {
  for (std::size_t k = 0; k < places_.size(); ++k) {
#if defined(CT_SYSTEM_SWITCHES)
    auto* const context = new ucontext_t;
    ::getcontext(context);
    context->uc_stack.ss_sp = stacks_->stack(k);
    context->uc_stack.ss_size = kStack;
    ::makecontext(context, &Fibers::begin, 0);
    places_[k] = context;
#else
    // staggers the stacks, which would otherwise share the CPU's cache lines
    char* const end = stacks_->stack(k) + kStack - k * 448 % 8192;
    void** const top = reinterpret_cast<void**>(end) - 2;  // aligned as after a call
    top[-1] = nullptr;                                     // no return address
    top[-2] = reinterpret_cast<void*>(&Fibers::begin);
    places_[k] = top - 8;  // below it are the registers that catenary_switch restores
#endif
  }
#if defined(CT_SYSTEM_SWITCHES)
  runner_ = new ucontext_t;
#endif
}

Fibers::~Fibers() {
#if defined(CT_SYSTEM_SWITCHES)
  for (void* const context : places_) delete static_cast<ucontext_t*>(context);
  delete static_cast<ucontext_t*>(runner_);
#endif
  stacks_->release();
  Stacks::kept_by_thread() = std::move(stacks_);
}

bool Fibers::is_guard(const void* address) { return running && running->stacks_->is_guard(address); }

void Fibers::run(void (*call)(const void* f, int k), const void* f) {
  call_ = call;
  f_ = f;
  Fibers* const before = std::exchange(running, this);
  std::fill(done_.begin(), done_.end(), false);
  for (std::size_t left = done_.size(); left > 0;) {
    for (current_ = 0; current_ < done_.size(); ++current_) {
      if (done_[current_]) continue;
      catenary_switch(&runner_, places_[current_]);
      left -= done_[current_];
    }
  }
  running = before;
}

// Hidden from the thread sanitizer, which would count calls that never return on its shadow stack.
__attribute__((no_sanitize("thread"))) void Fibers::wait() { catenary_switch(&places_[current_], runner_); }

// After a function returns, its fiber waits here for another one to run.
__attribute__((no_sanitize("thread"))) void Fibers::begin() {
  Fibers& self = *running;
  for (;;) {
    const std::size_t k = self.current_;
    self.call_(self.f_, static_cast<int>(k));
    self.done_[k] = true;
    self.wait();
  }
}

}  // namespace catenary::os
