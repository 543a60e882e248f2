#include "catenary/backends/gpu/autotune.h"

#include <algorithm>
#include <atomic>
#include <limits>

#include "catenary/core/format.h"
#include "catenary/core/sha256.h"
#include "catenary/device/kernel_cache.h"

namespace catenary::gpu {

namespace {

constexpr int kRounds = 3, kRuns = 5;

/// Two marks in the calling thread's stream.
class Stopwatch {
 public:
  explicit Stopwatch(Context& context)
      : driver_(context.driver),
        device_(context.index),
        from_(driver_.create_event(device_, true)),
        to_(driver_.create_event(device_, true)) {}
  ~Stopwatch() {
    driver_.destroy_event(device_, from_);
    driver_.destroy_event(device_, to_);
  }
  Stopwatch(const Stopwatch&) = delete;
  Stopwatch& operator=(const Stopwatch&) = delete;

  /// Returns the milliseconds of the work that `work` submits.
  template <class Work>
  float time(const Work& work) {
    driver_.record(device_, from_);
    work();
    driver_.record(device_, to_);
    driver_.synchronize_event(device_, to_);
    return driver_.elapsed(device_, from_, to_);
  }

 private:
  Driver& driver_;
  const int device_;
  void *const from_, *const to_;
};

}  // namespace

std::string choice_name(const Context& context, const std::string& library, const std::string& what) {
  const DeviceInfo& info = context.info;
  return sha256(fmt::format("choice\n{}\n{}\n{}\n{}\n{}", library, info.name, info.arch, info.driver, what));
}

std::optional<Binary> load_choice(const std::string& name, std::size_t bytes) {
  auto kept = load_kernel(name);
  if (!kept || kept->size() == bytes) return kept;
  say_no_use(name);
  return std::nullopt;
}

void say_no_use(const std::string& name) {
  static std::atomic<bool> said{false};
  if (!said.exchange(true))
    fmt::print(stderr, "catenary: a cached algorithm cannot be used and is chosen again: {}\n", name);
}

void save_choice(const std::string& name, const void* choice, std::size_t bytes) {
  const auto* const begin = static_cast<const std::byte*>(choice);
  save_kernel(name, Binary(begin, begin + bytes));
}

std::optional<int> fastest(Context& context, int count, const std::function<bool(int)>& submit) {
  Stopwatch stopwatch(context);
  std::optional<int> best;
  float least = std::numeric_limits<float>::max();
  for (int i = 0; i < count; ++i) {
    if (!submit(i)) continue;  // warm-up, which may load a kernel
    float mine = std::numeric_limits<float>::max();
    for (int round = 0; round < kRounds; ++round)
      mine = std::min(mine, stopwatch.time([&] {
        for (int run = 0; run < kRuns; ++run) submit(i);
      }));
    if (mine < least) {
      least = mine;
      best = i;
    }
  }
  return best;
}

}  // namespace catenary::gpu
