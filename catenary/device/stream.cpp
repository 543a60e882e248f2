#include "catenary/device/stream.h"

#include <algorithm>
#include <chrono>
#include <vector>

#include "catenary/core/format.h"
#include "catenary/device/backend.h"
#include "catenary/device/deferred.h"
#include "catenary/device/device_streams.h"

namespace catenary {

DeviceStreams::~DeviceStreams() = default;

namespace {
DeviceStreams* streams_of(const Device& device) { return device.backend().streams(); }
/// Returns the streams for destructors. Null if they are not available any more, as in a child process after fork.
DeviceStreams* streams_left(const Device& device) noexcept {
  try {
    return streams_of(device);
  } catch (const Error&) {
    return nullptr;
  }
}
}  // namespace

struct Event::Mark {
  explicit Mark(const Device& d, void* e = nullptr) : device(d), event(e) {}
  ~Mark() {
    if (!event) return;
    if (DeviceStreams* const streams = streams_left(device)) streams->destroy_event(device.index(), event);
  }
  Mark(const Mark&) = delete;
  Mark& operator=(const Mark&) = delete;

  const Device device;
  void* const event;  // null if all submitted work is done
  const std::chrono::steady_clock::time_point time = std::chrono::steady_clock::now();
};

struct Stream::State {
  explicit State(const Device& d, void* s = nullptr) : device(d), stream(s) {}
  ~State() {
    DeviceStreams* const streams = stream ? streams_left(device) : nullptr;
    if (!streams) return;
    try {
      streams->synchronize_stream(device.index(), stream);
      device.backend().raise_errors(device.index(), stream);
    } catch (...) {  // a lost device, or an error that nobody waited for
    }
    memory_pool(device).end_stream(stream);
    streams->destroy_stream(device.index(), stream);
  }
  State(const State&) = delete;
  State& operator=(const State&) = delete;

  const Device device;
  void* const stream;  // null: the device's own stream
};

namespace {
/// The streams that the calling thread uses instead of the devices' own.
thread_local std::vector<std::pair<Device, Stream>> used;

void use(const Stream& stream) {
  std::erase_if(used, [&](const auto& entry) { return entry.first == stream.device(); });
  if (!stream.is_null()) used.emplace_back(stream.device(), stream);
}
}  // namespace

const Device& Event::device() const { return mark_->device; }
bool Event::done() const {
  return !mark_->event || streams_of(mark_->device)->done(mark_->device.index(), mark_->event);
}
void Event::synchronize() const {
  if (mark_->event) streams_of(mark_->device)->synchronize_event(mark_->device.index(), mark_->event);
}

float elapsed_time(const Event& from, const Event& to) {
  if (!(from.device() == to.device()))
    fail<DeviceError>("elapsed_time: the events are of two devices, {} and {}", from.device().name(),
                      to.device().name());
  from.synchronize();
  to.synchronize();
  if (from.mark_->event && to.mark_->event)
    return streams_of(from.device())->elapsed(from.device().index(), from.mark_->event, to.mark_->event);
  return std::chrono::duration<float, std::milli>(to.mark_->time - from.mark_->time).count();
}

Stream::Stream(const Device& device, bool blocking) {
  DeviceStreams* streams = streams_of(device);
  state_ = std::make_shared<const State>(device, streams ? streams->create_stream(device.index(), blocking) : nullptr);
}
Stream Stream::null(const Device& device) { return Stream(std::make_shared<const State>(device)); }

const Device& Stream::device() const { return state_->device; }
bool Stream::is_null() const { return !state_->stream; }
bool operator==(const Stream& a, const Stream& b) {
  return a.state_ == b.state_ || (a.device() == b.device() && a.is_null() && b.is_null());
}

void Stream::synchronize() const {
  evaluate();
  DeviceStreams* streams = streams_of(device());
  if (!streams) return;
  streams->synchronize_stream(device().index(), state_->stream);
  device().backend().raise_errors(device().index(), state_->stream);
}

Event Stream::record() const {
  evaluate();
  DeviceStreams* streams = streams_of(device());
  if (!streams) return Event(std::make_shared<const Event::Mark>(device()));
  const int index = device().index();
  const SwitchedStream switched(*streams, index, state_->stream);
  const auto mark = std::make_shared<const Event::Mark>(device(), streams->create_event(index, true));
  streams->record(index, mark->event);
  return Event(mark);
}

void Stream::wait(const Event& event) const {
  evaluate();
  if (!event.mark_->event) return;
  DeviceStreams* streams = streams_of(device());
  if (!streams || streams != streams_of(event.device())) return event.synchronize();
  const SwitchedStream switched(*streams, device().index(), state_->stream);
  streams->wait(device().index(), event.device().index(), event.mark_->event);
}

Stream current_stream(const Device& device) {
  for (const auto& [known, stream] : used)
    if (known == device) return stream;
  return Stream::null(device);
}

Stream::Use::Use(const Stream& stream) : stream_(stream), before_(current_stream(stream.device())) {
  evaluate();  // pending work belongs to the previous stream
  if (DeviceStreams* streams = streams_of(stream_.device())) {
    streams->use_stream(stream_.device().index(), stream_.state_->stream);
    use(stream_);
  }
}

Stream::Use::~Use() {
  try {
    evaluate();
  } catch (...) {  // affected arrays report the error when they are read
  }
  if (DeviceStreams* streams = streams_left(stream_.device())) {
    streams->use_stream(stream_.device().index(), before_.state_->stream);
    use(before_);
  }
}

}  // namespace catenary
