#pragma once
// The interface of backends whose work happens in streams (Backend::streams). Programs use device/stream.h. In a
// backend without it, everything happens at once, in order.

#include <cstddef>

#include "catenary/core/export.h"

namespace catenary {

/// Streams and events of a backend's devices. Null is a device's own stream, which threads use by default.
class CT_API DeviceStreams {
 public:
  virtual ~DeviceStreams();

  /// Creates a stream. A blocking stream and the null stream wait for each other's earlier work, like CUDA's default
  /// streams.
  virtual void* create_stream(int device, bool blocking) = 0;
  /// Destroys a stream, whose work must be finished.
  virtual void destroy_stream(int device, void* stream) noexcept = 0;
  /// Makes the calling thread submit its later work for the device to this stream.
  virtual void use_stream(int device, void* stream) = 0;
  /// Returns the stream that the calling thread uses.
  virtual void* stream(int device) const = 0;
  /// Returns the vendor's handle of that stream: a CUstream, a hipStream_t, a cl_command_queue.
  virtual void* handle(int device) = 0;
  virtual void synchronize_stream(int device, void* stream) = 0;

  /// Creates an event, which `record` places in the calling thread's stream. It is done when all work submitted to the
  /// stream before is done. Only timed events can measure times.
  virtual void* create_event(int device, bool timed) = 0;
  virtual void destroy_event(int device, void* event) noexcept = 0;
  virtual void record(int device, void* event) = 0;
  /// Makes later work of the calling thread's stream wait for the event, which may be on another device.
  virtual void wait(int device, int event_device, void* event) = 0;
  virtual void synchronize_event(int device, void* event) = 0;
  virtual bool done(int device, void* event) = 0;
  /// Returns the milliseconds between two events, which must both be done.
  virtual float elapsed(int device, void* from, void* to) = 0;
};

/// Makes the calling thread use another stream for the lifetime of this object.
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
