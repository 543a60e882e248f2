#pragma once
// What a backend whose work happens in streams can do, as Backend::streams gives it; device/stream.h is what programs
// use. Where a backend has none of this, everything happens in order at once.

#include <cstddef>

#include "catenary/core/export.h"

namespace catenary {

/// Streams and events of a backend's devices. Null is a device's own stream, to which all goes unless a thread uses
/// another one.
class CT_API DeviceStreams {
 public:
  virtual ~DeviceStreams();

  /// A blocking one waits for what the null stream was told before, and the null stream for what it was told, as CUDA's
  /// streams do that are not made non-blocking.
  virtual void* create_stream(int device, bool blocking) = 0;
  /// Nothing of it may be running any more.
  virtual void destroy_stream(int device, void* stream) noexcept = 0;
  /// What the calling thread submits to the device from now on goes to this stream.
  virtual void use_stream(int device, void* stream) = 0;
  /// The stream that the calling thread uses.
  virtual void* stream(int device) const = 0;
  /// The vendor's handle of it, or of the device's own stream: a CUstream, a hipStream_t, a cl_command_queue.
  virtual void* handle(int device) = 0;
  virtual void synchronize_stream(int device, void* stream) = 0;

  /// A mark in the calling thread's stream: it is done when all that was submitted to the stream before has happened.
  /// Only a timed one can be asked for its time.
  virtual void* create_event(int device, bool timed) = 0;
  virtual void destroy_event(int device, void* event) noexcept = 0;
  virtual void record(int device, void* event) = 0;
  /// What the calling thread's stream is told from now on happens after the event, also of another device.
  virtual void wait(int device, int event_device, void* event) = 0;
  virtual void synchronize_event(int device, void* event) = 0;
  virtual bool done(int device, void* event) = 0;
  /// Milliseconds from one event to another; both are done.
  virtual float elapsed(int device, void* from, void* to) = 0;
};

/// The calling thread uses another stream for a moment.
class SwitchedStream {
 public:
  SwitchedStream(DeviceStreams& streams, int device, void* stream)
      : streams_(streams), device_(device), before_(streams.stream(device)) {
    streams_.use_stream(device_, stream);
  }
  ~SwitchedStream() { streams_.use_stream(device_, before_); }
  SwitchedStream(const SwitchedStream&) = delete;
  SwitchedStream& operator=(const SwitchedStream&) = delete;

 private:
  DeviceStreams& streams_;
  const int device_;
  void* const before_;
};

}  // namespace catenary
