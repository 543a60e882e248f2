#include "catenary/core/os/fibers.h"

#include <algorithm>
#include <utility>

#include "catenary/core/format.h"
#include "catenary/core/os/windows/detail.h"

namespace catenary::os {

namespace {

constexpr std::size_t kStack = std::size_t{640} << 10;
thread_local Fibers* running;

}  // namespace

/// The fibers of the system, which have a stack each. Between two Fibers they wait at the beginning of a call.
class Fibers::Stacks {
 public:
  explicit Stacks(std::size_t count) {
    for (; fibers_.size() < count;) {
      void* const fiber = ::CreateFiberEx(
          std::size_t{16} << 10, kStack, FIBER_FLAG_FLOAT_SWITCH, [](void*) { Fibers::begin(); }, nullptr);
      if (!fiber) {
        free();
        fail<DeviceError>("no address space for {} stacks of {} bytes each", count, kStack);
      }
      fibers_.push_back(fiber);
    }
  }
  Stacks(const Stacks&) = delete;
  Stacks& operator=(const Stacks&) = delete;
  ~Stacks() { free(); }
  const std::vector<void*>& fibers() const { return fibers_; }

  /// Returns the stacks of the thread's last Fibers if they suffice, or new ones.
  static std::unique_ptr<Stacks> take(std::size_t count) {
    std::unique_ptr<Stacks>& kept = kept_by_thread();
    if (kept && kept->fibers_.size() >= count) return std::move(kept);
    kept.reset();
    return std::make_unique<Stacks>(count);
  }
  static std::unique_ptr<Stacks>& kept_by_thread() {
    static thread_local std::unique_ptr<Stacks> kept;
    return kept;
  }

 private:
  void free() {
    for (void* const fiber : fibers_) ::DeleteFiber(fiber);
  }
  std::vector<void*> fibers_;
};

Fibers::Fibers(int count)
    : stacks_(Stacks::take(static_cast<std::size_t>(count))),
      places_(stacks_->fibers().begin(), stacks_->fibers().begin() + count),
      done_(places_.size(), true) {}

Fibers::~Fibers() { Stacks::kept_by_thread() = std::move(stacks_); }

bool Fibers::is_guard(const void* address) {
  MEMORY_BASIC_INFORMATION page{};
  return running && ::VirtualQuery(address, &page, sizeof page) != 0 && (page.Protect & PAGE_GUARD);
}

void Fibers::run(void (*call)(const void* f, int k), const void* f) {
  call_ = call;
  f_ = f;
  const bool was_fiber = ::IsThreadAFiber();
  runner_ = was_fiber ? ::GetCurrentFiber() : ::ConvertThreadToFiberEx(nullptr, FIBER_FLAG_FLOAT_SWITCH);
  if (!runner_) fail<DeviceError>("the thread cannot run fibers: {}", reason(::GetLastError()));
  Fibers* const before = std::exchange(running, this);
  std::fill(done_.begin(), done_.end(), false);
  for (std::size_t left = done_.size(); left > 0;) {
    for (current_ = 0; current_ < done_.size(); ++current_) {
      if (done_[current_]) continue;
      ::SwitchToFiber(places_[current_]);
      left -= done_[current_];
    }
  }
  running = before;
  if (!was_fiber) ::ConvertFiberToThread();
}

void Fibers::wait() { ::SwitchToFiber(runner_); }

// After a function returns, its fiber waits here for another one to run, which may belong to other Fibers of the
// thread.
void Fibers::begin() {
  keep_stack_for_faults();
  for (;;) {
    Fibers& self = *running;
    const std::size_t k = self.current_;
    self.call_(self.f_, static_cast<int>(k));
    self.done_[k] = true;
    self.wait();
  }
}

}  // namespace catenary::os
