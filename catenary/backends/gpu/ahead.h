#pragma once
// Limits how far the host runs ahead of a stream. Submitting is cheap for the host and may be expensive for the device:
// without a limit, one second of the host could queue a minute of work with its memory, and Ctrl-C would wait for all
// of it.
//
// Every few submissions, a mark is put into the stream, and the next submission waits for the mark kMarks earlier. That
// mark has usually been reached unless the device is slower than the host. The number of submissions between marks
// adapts to their duration: kMostBetween if they are short, so that fast devices lose no time, and one if each takes
// long, so that the queue stays within a fraction of a second.

#include <chrono>
#include <mutex>

namespace catenary::gpu {

class Driver;

class Ahead {
 public:
  static constexpr int kMarks = 16, kMostBetween = 64;
  /// Maximum number of unfinished submissions when another is made.
  static constexpr int kMost = (kMarks + 1) * kMostBetween;

  /// Must be called before each submission to the calling thread's stream, and may wait. Throws DeviceError if an
  /// earlier submission failed.
  void submitting(Driver& driver, int device);
  /// Must be called before the stream is destroyed.
  void end(Driver& driver, int device) noexcept;

 private:
  using Time = std::chrono::steady_clock::time_point;
  /// Target time between two marks.
  static constexpr std::chrono::milliseconds kWanted{20};
  struct Mark {
    void* event = nullptr;
    int submissions = 0;  ///< since the previous mark (0: the mark is not in the stream)
  };
  void await(Driver& driver, int device, Mark& mark);

  std::mutex mutex_;  // held while the host waits, because all threads that submit to the stream must wait
  Mark marks_[kMarks];
  unsigned next_ = 0;
  int between_ = 1, since_ = 0;
  Time came_{};  // time at which the host saw that the mark before the oldest one was reached
};

}  // namespace catenary::gpu
