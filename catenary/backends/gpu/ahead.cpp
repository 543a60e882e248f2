#include "catenary/backends/gpu/ahead.h"

#include <algorithm>
#include <utility>

#include "catenary/backends/gpu/driver.h"

namespace catenary::gpu {

void Ahead::submitting(Driver& driver, int device) {
  std::lock_guard lock(mutex_);
  if (since_ >= between_) {
    Mark& mark = marks_[next_++ % kMarks];
    if (!mark.event) mark.event = driver.create_event(device, false);
    if (mark.submissions) await(driver, device, mark);
    driver.record(device, mark.event);
    mark.submissions = std::exchange(since_, 0);
  }
  ++since_;
}

void Ahead::await(Driver& driver, int device, Mark& mark) {
  int submissions = std::exchange(mark.submissions, 0);
  const bool waits = !driver.done(device, mark.event);
  if (waits) {
    driver.synchronize_event(device, mark.event);
    // Intel's OpenCL returns only after all submitted work is done. Marks reached meanwhile do not prove that the
    // device keeps up.
    for (int k = 1; k < kMarks; ++k) {
      Mark& later = marks_[(&mark - marks_ + k) % kMarks];
      if (!later.submissions || !driver.done(device, later.event)) break;
      submissions += std::exchange(later.submissions, 0);
    }
  }
  const Time now = std::chrono::steady_clock::now();
  const std::chrono::duration<double> taken = now - std::exchange(came_, now);
  const double wanted = waits ? submissions * (std::chrono::duration<double>(kWanted) / taken) : kMostBetween;
  // Increase slowly: a short kernel among long ones is not representative.
  between_ = static_cast<int>(std::clamp<double>(wanted, 1, std::min(2 * between_, kMostBetween)));
}

void Ahead::end(Driver& driver, int device) noexcept {
  for (Mark& mark : marks_)
    if (mark.event) driver.destroy_event(device, std::exchange(mark.event, nullptr));
}

}  // namespace catenary::gpu
