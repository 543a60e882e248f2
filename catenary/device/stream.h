#pragma once
// Streams and events, as in CuPy. Work submitted to one stream happens in order, but two streams may overlap.
//
// ```cpp
// Stream s(device);
// {
//   Stream::Use guard(s);       // this thread's later computations on the device go to s
//   y = matmul(a, b);
// }
// current_stream(device).wait(s.record());  // later work on the current stream can use y
// ```
//
// Every thread starts with each device's own stream, the null stream. To read on one stream data that another one
// writes, make the reader wait by events, or use a blocking stream, which is ordered with the null stream. Reading back
// to the host waits only for the current stream.
//
// Memory belongs to the stream in which it was allocated, and is reused there in order. Do not free an array while
// another stream still works on it. (If that stream is the current one when the array is freed, the pool keeps the
// order.) On the CPU everything happens at once, in order, and all of this is trivial.

#include <memory>

#include "catenary/core/export.h"
#include "catenary/device/device.h"

namespace catenary {

class Stream;

/// A mark in a stream. (cupy.cuda.Event)
class CT_API Event {
 public:
  const Device& device() const;
  /// Returns whether all work submitted to the stream before the mark is done.
  bool done() const;
  /// Waits until all work before the mark is done.
  void synchronize() const;

 private:
  friend class Stream;
  friend CT_API float elapsed_time(const Event& from, const Event& to);
  struct Mark;
  explicit Event(std::shared_ptr<const Mark> mark) : mark_(std::move(mark)) {}
  std::shared_ptr<const Mark> mark_;
};

/// Returns the milliseconds between two events of one device, after waiting for both. Throws DeviceError for events of
/// two devices. (cupy.cuda.get_elapsed_time)
CT_API float elapsed_time(const Event& from, const Event& to);

/// An ordered queue of work on a device. Copies refer to the same stream. (cupy.cuda.Stream)
class CT_API Stream {
 public:
  /// Creates a stream. The destructor of its last copy waits for its work. A blocking stream and the null stream wait
  /// for each other's earlier work, as CUDA's streams do by default. Background work should use a non-blocking stream.
  explicit Stream(const Device& device = current_device(), bool blocking = false);
  /// Returns the device's own stream. (cupy.cuda.Stream.null)
  static Stream null(const Device& device = current_device());

  const Device& device() const;
  bool is_null() const;
  /// Waits until all submitted work of the stream is done. Throws DeviceError for errors in that work.
  void synchronize() const;
  /// Returns a mark after all work submitted so far.
  Event record() const;
  /// Makes later work wait for the event, which may be on another device.
  void wait(const Event& event) const;

  friend CT_API bool operator==(const Stream& a, const Stream& b);

  class Use;

 private:
  friend CT_API Stream current_stream(const Device& device);
  struct State;
  explicit Stream(std::shared_ptr<const State> state) : state_(std::move(state)) {}
  std::shared_ptr<const State> state_;
};

/// Returns the stream of a device that the calling thread uses. (cupy.cuda.get_current_stream)
CT_API Stream current_stream(const Device& device = current_device());

/// Uses a stream for the calling thread's work on its device until the end of the scope. (`with stream:` in CuPy.) Does
/// not change the current device.
class CT_API Stream::Use {
 public:
  explicit Use(const Stream& stream);
  ~Use();
  Use(const Use&) = delete;
  Use& operator=(const Use&) = delete;

 private:
  Stream stream_, before_;
};

}  // namespace catenary
