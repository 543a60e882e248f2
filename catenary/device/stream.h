#pragma once
// Streams and events, as CuPy has them: work submitted to one stream happens in order, two streams may overlap.
//
//   Stream s(device);
//   {
//     Stream::Use guard(s);       // what this thread computes on the device from here on goes to s
//     y = matmul(a, b);
//   }
//   current_stream(device).wait(s.record());  // y is there for what follows
//
// Every thread starts with each device's own stream, the null stream. Whoever reads on one stream what another one
// writes has them wait for each other by events, or makes the stream a blocking one, which is in order with the null
// stream; reading back to the host waits for the current stream only. Memory
// belongs to the stream in which it was allocated and is reused there in order: an array that another stream still
// works on must not be freed before that stream has been waited for. (Freed while that stream is in use, the order is
// kept by the pool.) On the CPU everything happens in order and at once, and all of this works trivially.

#include <memory>

#include "catenary/core/export.h"
#include "catenary/device/device.h"

namespace catenary {

class Stream;

/// A mark in a stream. (cupy.cuda.Event)
class CT_API Event {
 public:
  const Device& device() const;
  /// Has all that was submitted to the stream before the mark happened?
  bool done() const;
  /// Waits until it has.
  void synchronize() const;

 private:
  friend class Stream;
  friend CT_API float elapsed_time(const Event& from, const Event& to);
  struct Mark;
  explicit Event(std::shared_ptr<const Mark> mark) : mark_(std::move(mark)) {}
  std::shared_ptr<const Mark> mark_;
};

/// Milliseconds from one event to another of the same device; waits for both. Throws DeviceError when they are of two
/// devices. (cupy.cuda.get_elapsed_time)
CT_API float elapsed_time(const Event& from, const Event& to);

/// An order of work on a device; copies name the same one. (cupy.cuda.Stream)
class CT_API Stream {
 public:
  /// A new stream. When its last copy goes, it is waited for. A blocking one and the null stream wait for each other's
  /// earlier work, as CUDA's streams do; what computes in the background of a program wants none of that.
  explicit Stream(const Device& device = current_device(), bool blocking = false);
  /// The device's own stream. (cupy.cuda.Stream.null)
  static Stream null(const Device& device = current_device());

  const Device& device() const;
  bool is_null() const;
  /// Waits until all that was submitted to it has happened. Throws DeviceError for what went wrong meanwhile.
  void synchronize() const;
  /// A mark after all that was submitted so far.
  Event record() const;
  /// What is submitted from now on happens after the event, which may be another device's.
  void wait(const Event& event) const;

  friend CT_API bool operator==(const Stream& a, const Stream& b);

  class Use;

 private:
  friend CT_API Stream current_stream(const Device& device);
  struct State;
  explicit Stream(std::shared_ptr<const State> state) : state_(std::move(state)) {}
  std::shared_ptr<const State> state_;
};

/// The stream of a device that the calling thread uses. (cupy.cuda.get_current_stream)
CT_API Stream current_stream(const Device& device = current_device());

/// Uses a stream for its device's work of the calling thread until the end of the scope. (`with stream:` in CuPy.) It
/// does not change the current device.
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
