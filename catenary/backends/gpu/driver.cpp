#include "catenary/backends/gpu/driver.h"

#include <utility>

#include "catenary/core/error.h"
#include "catenary/core/format.h"

namespace catenary::gpu {

namespace {

// The thread's streams, by driver and device. A plain array, because destructors of longer-lived objects may use it.
constexpr int kMostDrivers = 4, kMostDevices = 64;
thread_local void* used_streams[kMostDrivers][kMostDevices];

/// The thread is submitting an event or a wait, which need no further ordering.
thread_local bool keeps_order;

class KeepsOrder {
 public:
  KeepsOrder() : before_(std::exchange(keeps_order, true)) {}
  ~KeepsOrder() { keeps_order = before_; }
  KeepsOrder(const KeepsOrder&) = delete;
  KeepsOrder& operator=(const KeepsOrder&) = delete;

 private:
  const bool before_;
};

}  // namespace

std::pair<void*, std::size_t> Driver::variable(int, void*, const std::string& name) {
  fail<DeviceError>("{}: modules of this interface have no variables", name);
}

int Args::check(int i, int most) {
  if (i >= most) fail<DeviceError>("a kernel with more than {} arguments, or {} words of them", kMost, kMostWords);
  return i;
}

Driver::Driver()
    : number_([] {
        static std::atomic<int> number{0};
        return number.fetch_add(1) % kMostDrivers;
      }()) {}

void Driver::use_stream(int device, void* stream) {
  if (device >= kMostDevices) fail<DeviceError>("streams: {}:{} is beyond {} devices", name(), device, kMostDevices);
  used_streams[number_][device] = stream;
}
void* Driver::stream(int device) const { return device < kMostDevices ? used_streams[number_][device] : nullptr; }

void* Driver::queue(int device) {
  void* const stream = this->stream(device);
  keep_order(device, stream);
  if (!keeps_order) {
    const KeepsOrder inside;
    ahead_of(device, stream).submitting(*this, device);
  }
  return handle_of(device, stream);
}

Ahead& Driver::ahead_of(int device, void* stream) {
  std::lock_guard lock(ahead_mutex_);
  std::unique_ptr<Ahead>& ahead = ahead_[{device, stream}];
  if (!ahead) ahead = std::make_unique<Ahead>();
  return *ahead;
}

void* Driver::create_stream(int device, bool blocking) {
  void* const stream = new_stream(device);
  if (blocking) {
    std::lock_guard lock(blocking_mutex_);
    blocking_.push_back({device, stream});
    ++blocking_count_;
  }
  return stream;
}

void Driver::destroy_stream(int device, void* stream) noexcept {
  {
    std::lock_guard lock(blocking_mutex_);
    blocking_count_ -=
        static_cast<int>(std::erase_if(blocking_, [&](const Blocking& b) { return b.stream == stream; }));
  }
  std::unique_ptr<Ahead> ahead;
  {
    std::lock_guard lock(ahead_mutex_);
    if (const auto found = ahead_.find({device, stream}); found != ahead_.end()) {
      ahead = std::move(found->second);
      ahead_.erase(found);
    }
  }
  if (ahead) ahead->end(*this, device);
  end_stream(device, stream);
}

void Driver::synchronize_stream(int device, void* stream) {
  if (!stream) keep_order(device, stream);
  finish(device, stream);
}

void Driver::keep_order(int device, void* stream) {
  if (keeps_order || blocking_count_.load(std::memory_order_relaxed) == 0) return;
  std::lock_guard lock(blocking_mutex_);
  for (Blocking& other : blocking_) {
    if (other.device != device) continue;
    if (!stream) {
      other.is_behind = true;
      if (std::exchange(other.has_work, false)) follow(device, nullptr, other.stream);
    } else if (other.stream == stream) {
      other.has_work = true;
      if (std::exchange(other.is_behind, false)) follow(device, stream, nullptr);
    }
  }
}

void Driver::follow(int device, void* waiting, void* first) {
  const KeepsOrder inside;
  void* event = nullptr;
  try {
    event = create_event(device, false);
    {
      const SwitchedStream switched(*this, device, first);
      record(device, event);
    }
    const SwitchedStream switched(*this, device, waiting);
    wait(device, device, event);
  } catch (...) {
    if (event) destroy_event(device, event);
    throw;
  }
  destroy_event(device, event);
}

}  // namespace catenary::gpu
