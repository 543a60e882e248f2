#include "catenary/core/os/fibers.h"

#include <sys/mman.h>
#include <ucontext.h>

#include <cstdint>

#include "catenary/core/error.h"
#include "catenary/core/format.h"

namespace catenary::os {

namespace {

constexpr std::size_t kStack = std::size_t{256} << 10;

}  // namespace

struct Fibers::Fiber {
  ucontext_t context;
  bool done = true;
};

Fibers::Fibers(int count)
    : count_(count),
      fibers_(std::make_unique<Fiber[]>(static_cast<std::size_t>(count))),
      runner_(std::make_unique<Fiber>()) {
  const std::size_t bytes = static_cast<std::size_t>(count) * kStack;
  stacks_ = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (stacks_ == MAP_FAILED) fail<DeviceError>("no addresses for {} stacks of {} bytes each", count, kStack);
  const auto self = reinterpret_cast<std::uintptr_t>(this);
  for (int k = 0; k < count; ++k) {
    ucontext_t& context = fibers_[static_cast<std::size_t>(k)].context;
    ::getcontext(&context);
    context.uc_stack.ss_sp = static_cast<char*>(stacks_) + static_cast<std::size_t>(k) * kStack;
    // not all in the same lines of the processor's cache, which stacks as far apart as these would share
    context.uc_stack.ss_size = kStack - static_cast<std::size_t>(k) * 448 % 8192;
    context.uc_link = nullptr;  // it never ends
    // what it is called with are ints
    ::makecontext(&context, reinterpret_cast<void (*)()>(&Fibers::begin), 2, static_cast<unsigned>(self >> 32),
                  static_cast<unsigned>(self));
  }
}

Fibers::~Fibers() { ::munmap(stacks_, static_cast<std::size_t>(count_) * kStack); }

void Fibers::run(void (*call)(const void* f, int k), const void* f) {
  call_ = call;
  f_ = f;
  for (int k = 0; k < count_; ++k) fibers_[static_cast<std::size_t>(k)].done = false;
  for (int left = count_; left > 0;) {
    for (current_ = 0; current_ < count_; ++current_) {
      Fiber& fiber = fibers_[static_cast<std::size_t>(current_)];
      if (fiber.done) continue;
      ::swapcontext(&runner_->context, &fiber.context);
      if (fiber.done) --left;
    }
  }
}

void Fibers::wait() { ::swapcontext(&fibers_[static_cast<std::size_t>(current_)].context, &runner_->context); }

// After a function's end the fiber stands here until there is another one to run.
void Fibers::begin(unsigned high, unsigned low) {
  Fibers& self = *reinterpret_cast<Fibers*>(std::uintptr_t{high} << 32 | low);
  for (;;) {
    const int k = self.current_;
    self.call_(self.f_, k);
    self.fibers_[static_cast<std::size_t>(k)].done = true;
    self.wait();
  }
}

}  // namespace catenary::os
