#pragma once
// How far the host may be ahead of a stream. What is submitted is cheap for the host and may be dear for the device:
// unbounded, a second of the host queues a minute of work, with its memory, and Ctrl-C waits for all of it. So every
// few submissions a mark is left in the stream, and the next one waits for the mark of kMarks before, which has come
// long ago unless the device is the slower one. How many lie between two marks follows what they take: kMostBetween
// where they are short, so that it costs a fast device nothing, and one where each takes long, so that what is ahead is
// a fraction of a second.

#include <chrono>
#include <mutex>

namespace catenary::gpu {

class Driver;

class Ahead {
 public:
  static constexpr int kMarks = 16, kMostBetween = 64;
  /// No more than so many submissions have not happened when one more is made.
  static constexpr int kMost = (kMarks + 1) * kMostBetween;

  /// Before something is submitted to the stream, which is the calling thread's; may wait. Throws DeviceError where
  /// what was submitted before failed.
  void submitting(Driver& driver, int device);
  /// Before the stream ends.
  void end(Driver& driver, int device) noexcept;

 private:
  using Time = std::chrono::steady_clock::time_point;
  /// What should lie between two marks.
  static constexpr std::chrono::milliseconds kWanted{20};
  struct Mark {
    void* event = nullptr;
    int submissions = 0;  ///< since the mark before; 0: it is not in the stream
  };
  void await(Driver& driver, int device, Mark& mark);

  std::mutex mutex_;  // held while the host waits: all that submit to the stream have to
  Mark marks_[kMarks];
  unsigned next_ = 0;
  int between_ = 1, since_ = 0;
  Time came_{};  // when the host saw that the mark before the oldest one had come
};

}  // namespace catenary::gpu
